// Keys for the buttons of the page. Everything here also works with a mouse, and without this file.
"use strict";

const KEPT = "Your answer is still here. ";
const DOUBLE = 400; // milliseconds in which nobody reads an item: so soon a double click ends on one that just came

const message = () => document.getElementById("message");

// A form is sent once; what comes back is another form. A key thus never answers an item that was not on the screen.
document.addEventListener("submit", (event) => {
  const form = event.target;
  if (form.method !== "post") return;
  if (document.body.dataset.sending) {
    event.preventDefault();
    event.stopImmediatePropagation();
  } else if (form.hasAttribute("hx-post")) {
    document.body.dataset.sending = "yes";
    message().textContent = "";
  }
}, true);

document.addEventListener("htmx:afterRequest", (event) => {
  const { successful, requestConfig } = event.detail;
  delete document.body.dataset.sending;
  if (!successful) message().dataset.verb = requestConfig.verb;
  else if (message().dataset.verb === "get") message().textContent = ""; // what the page could not look up, it has now
});

let came = performance.now(); // when what is on the page came
document.addEventListener("htmx:afterSwap", (event) => {
  if (event.target.id === "main") came = performance.now();
});
document.addEventListener("click", (event) => {
  if (event.detail < 2 || performance.now() - came > DOUBLE || !event.target.closest("main button")) return;
  event.preventDefault();
  event.stopImmediatePropagation();
}, true);

// The next item is read from its top; what has a field to fill in has the focus there already.
document.addEventListener("htmx:afterSwap", (event) => {
  if (event.target.id !== "main" || event.detail.requestConfig.verb !== "post") return;
  scrollTo(0, 0);
  if (!document.querySelector("#main [autofocus]")) document.getElementById("item").focus({ preventScroll: true });
});

const failed = (event, trouble, post) => {
  const looked = event.detail.requestConfig.verb === "get";
  message().textContent = looked ? `${trouble} This page looks again by itself.` : `${KEPT}${trouble} ${post}`;
};
document.addEventListener("htmx:sendError", (event) => {
  failed(event, "The page's server does not answer.", "See that it runs, then send again.");
});
document.addEventListener("htmx:timeout", (event) => {
  failed(event, "The page's server takes long to answer.", "Send again.");
});

// A letter is the same key with Caps Lock, unless there are classes that differ by nothing else.
const isKey = (key, pressed) => key === pressed || (key === pressed.toLowerCase() && !caseTells());

function caseTells() {
  const values = [...document.querySelectorAll("#answer [name=label]")].map((one) => one.value);
  return new Set(values.map((value) => value.toLowerCase())).size < values.length;
}

// Whether a key is text for a field; the letters of the page's own keys are not part of a number.
const typing = (target, key) =>
  target.matches("input:not([type=radio]), textarea, select") && !(target.inputMode === "decimal" && /^[su?]$/i.test(key));

function inRows(event) {
  const rows = [...document.querySelectorAll("[data-row]")];
  if (!rows.length) return false;
  const open = rows.findIndex((row) => !row.querySelector(":checked"));
  const focused = rows.findIndex((row) => row.contains(document.activeElement));
  const at = focused >= 0 ? focused : Math.max(open, 0);
  const choice = [...rows[at].querySelectorAll("[data-row-key]")].find((one) => isKey(one.dataset.rowKey, event.key));
  if (choice) {
    choice.checked = true;
    focusRow(rows[Math.min(at + 1, rows.length - 1)]);
    return true;
  }
  const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
  if (!step) return false;
  focusRow(rows[Math.min(Math.max(at + step, 0), rows.length - 1)]);
  return true;
}

function focusRow(row) {
  (row.querySelector(":checked") || row.querySelector("input")).focus();
}

function press(target) {
  if (target.dataset.opens) {
    document.getElementById(target.dataset.opens).showModal();
  } else {
    target.click();
  }
}

document.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey || document.querySelector("dialog[open]")) return;
  if (event.key === "Escape" && typing(event.target, event.key)) {
    event.target.closest("details")?.removeAttribute("open");
    event.target.blur();
  }
  if (event.repeat || typing(event.target, event.key)) return;
  if (event.key === "Enter" && event.target.matches("a, button, summary")) return;
  if (inRows(event)) {
    event.preventDefault();
    return;
  }
  const target = [...document.querySelectorAll("[data-key]")].find((one) => isKey(one.dataset.key, event.key));
  if (target && !target.disabled) {
    event.preventDefault();
    press(target);
  }
});

// By key or by hand: what is opened has the focus at once, before a next key could answer.
document.addEventListener("click", (event) => {
  const opened = event.target.closest("summary")?.parentElement;
  if (!opened) return;
  event.preventDefault();
  opened.open = !opened.open;
  if (!opened.open) return;
  opened.querySelector("input:not([type=hidden])").focus();
  opened.scrollIntoView({ block: "nearest" });
});

document.addEventListener("click", (event) => {
  const opener = event.target.closest("a[data-opens]");
  if (!opener || event.ctrlKey || event.metaKey || event.shiftKey) return;
  event.preventDefault();
  press(opener);
});
