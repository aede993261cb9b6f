"""Items are lent to labellers and come back; labels are kept as each one's own; nothing is written twice."""

import threading
from datetime import timedelta

import numpy as np
import pytest
from sqlalchemy import event

from sondage import Pool, Study
from sondage.errors import InputError, LabelError
from sondage.studies import assignments, ledger, times


def pool(size=200):
    p = np.random.default_rng(5).random(size)
    names = [f"item {number}" for number in range(size)]
    return Pool(p, ids=names, fields={"text": [f"text of {name}" for name in names]})


def ids(claims):
    return [claim.id for claim in claims]


@pytest.fixture
def lapse(monkeypatch):
    """A function that lets half an hour and a little pass."""
    begun = times.clock

    def lapsed():
        monkeypatch.setattr(times, "clock", lambda: begun() + timedelta(minutes=31))

    return lapsed


def test_whoever_asks_for_more_than_there_is_gets_all(place):
    assert len(Study.create(place, pool(), budget=20, stages=1).claim("anna", 2**70)) == 20


def test_nobody_gets_what_another_holds(place):
    study = Study.create(place, pool(), budget=20, stages=1)
    first, second = study.claim("anna", 3), Study.open(place).claim("bert", 3)
    assert not set(ids(first)) & set(ids(second))
    assert first[0].fields == {"text": f"text of {first[0].id}"}
    assert study.claim("anna", 2) == first[:2]
    assert ids(study.claim("anna", 4))[:3] == ids(first)
    status = study.status
    assert (status.asked, status.claimed, status.wanted, status.pending) == (7, 7, 7, 7)


def test_claims_are_the_items_of_ask_in_its_order(place, tmp_path):
    alone = Study.create(tmp_path / "alone.db", pool(), budget=10, seed=2, stages=1).ask()
    study = Study.create(place, pool(), budget=10, seed=2, stages=1)
    claimed = [name for who in ("anna", "bert", "anna") for name in ids(study.claim(who, 10 if who == "bert" else 2))]
    assert claimed == [*alone[:2], *alone[2:], *alone[:2]]


def test_ask_leaves_out_what_is_claimed(place):
    study = Study.create(place, pool(), budget=5, stages=1)
    held = ids(study.claim("anna", 2))
    asked = study.ask()
    assert len(asked) == 3
    assert not set(asked) & set(held)
    study.tell(asked, [0, 0, 0])
    assert study.ask() == []
    study.release("anna", held[:1])
    assert study.ask() == held[:1]


def test_a_lease_that_is_over_goes_to_another(place, lapse):
    study = Study.create(place, pool(), budget=5, stages=1)
    held = study.claim("anna", 1)
    assert ids(study.claim("bert", 5)) != ids(held)
    study.release("bert")
    lapse()
    assert ids(study.claim("bert", 1)) == ids(held)
    kinds = [(event["kind"], event["who"]) for event in study.audit(held[0].id)]
    assert kinds == [("asked", None), ("claimed", "anna"), ("expired", "anna"), ("claimed", "bert")]
    assert study.tell(ids(held), [1], who="anna") == 1  # late, and first: a label is never lost
    assert study.status.claimed == 0
    with pytest.raises(LabelError, match="already labelled 1 by 'anna', now 0 by 'bert'"):
        study.tell(ids(held), [0], who="bert")


def test_what_a_claim_asks_for_beside_leaves_the_rest_fresh(place):
    study = Study.create(place, pool(), budget=8, stages=1)
    asked = study.ask(3)
    held = ids(study.claim("anna", 1))
    claims = study.claim("anna", 5)
    assert ids(claims)[:3] == asked
    assert [claim.fresh for claim in claims] == [False, True, True, True, True]
    assert [event["kind"] for event in study.audit() if event["id"] in held] == ["asked", "claimed"]


def test_a_person_may_take_up_an_expired_lease(place, lapse):
    study = Study.create(place, pool(), budget=5, stages=1)
    held = study.claim("anna", 2)
    lapse()
    again = study.claim("anna", 2)
    assert ids(again) == ids(held)
    assert again[0].until > held[0].until


def test_no_statement_has_a_parameter_for_each_of_many_items(place, monkeypatch):
    monkeypatch.setattr(assignments, "AT_ONCE", 4)
    study, most = Study.create(place, pool(), budget=50, stages=1), []

    @event.listens_for(study._store._engine, "before_cursor_execute")
    def count(connection, cursor, statement, parameters, context, executemany):
        if not statement.startswith("INSERT"):  # which brings its own rows
            most.append(0 if executemany else len(parameters))

    held = study.claim("anna", 40)
    assert study.tell(ids(held[:20]), [0] * 20, who="anna") == len(study.release("anna")) == 20
    assert max(most) <= 4 + 2  # who, and until when


def test_what_to_release_is_gone_through_once(place):
    class Names(list):
        begun = 0

        def __iter__(self):
            self.begun += 1
            return super().__iter__()

    study = Study.create(place, pool(), budget=8, stages=1)
    names = Names(f'"{claim.id}"' for claim in study.claim("anna", 5))
    with study._store.writing() as found:
        assert found.assignments.release("anna", names) == [*names[:]]
    assert names.begun == 1


def test_released_items_come_first(place):
    study = Study.create(place, pool(), budget=8, stages=1)
    held = ids(study.claim("anna", 3))
    assert study.release("anna", held[1:]) == held[1:]
    assert study.release("anna", held[1:]) == []
    assert ids(study.claim("bert", 2)) == held[1:]
    with pytest.raises(LabelError, match="'nobody' was never asked for"):
        study.release("anna", ["nobody"])


@pytest.mark.parametrize("who", ["", " ", "an\nna", "\x1b[31manna", "x" * 81, 5])
def test_a_name_is_a_line_of_text_wherever_it_enters(place, who):
    study = Study.create(place, pool(), budget=3)
    (name,) = study.ask(1)
    for enters in (
        lambda: study.claim(who),
        lambda: study.tell([name], [0], who=who if isinstance(who, str) else [who]),
        lambda: study.resolve(name, 0, who),
        lambda: study.undo(who),
    ):
        with pytest.raises(InputError, match="must be a name: 1 to 80 printable characters"):
            enters()
    study.tell([name], [0], who="山田\u3000太郎")


@pytest.mark.parametrize(
    ("who", "n", "message"), [("anna", 0, "n=0 must be a whole number from 1"), ("", 1, "must be a name")]
)
def test_claims_that_are_refused(who, n, message, tmp_path):
    study = Study.create(tmp_path / "study.db", pool(), budget=8)
    with pytest.raises(InputError, match=message):
        study.claim(who, n)


def test_a_share_is_labelled_twice_by_different_people(place):
    study = Study.create(place, pool(), budget=40, overlap=0.3, seed=1, stages=1)
    counts = {}
    while claims := [(who, claim) for who in ("anna", "bert", "cora") for claim in study.claim(who, 3)]:
        for who, claim in claims:
            study.tell([claim.id], [0], who=who)
            counts.setdefault(claim.id, []).append(who)
    assert all(len(set(people)) == len(people) for people in counts.values())
    twice = {name for name, people in counts.items() if len(people) == 2}
    assert {len(people) for people in counts.values()} == {1, 2}
    assert study.status.complete
    names = list(counts)
    assert twice == {name for name, raters in zip(names, study.sharing.of(names, 1), strict=True) if raters == 2}


def test_the_share_is_about_as_asked_and_apart_from_the_draw():
    from sondage.core.hashing import hash_ids, uniforms
    from sondage.studies.sharing import make_sharing

    names = [f"item {number}" for number in range(20_000)]
    shared = np.array(make_sharing(3, 0.1, 30).of(names, 7)) == 3
    assert shared.mean() == pytest.approx(0.1, abs=0.01)
    drawn = uniforms(hash_ids(np.array(names)), 7, 0) < 0.1
    assert shared[drawn].mean() == pytest.approx(0.1, abs=0.03)


def test_one_person_alone_cannot_finish_what_two_must_do(place):
    study = Study.create(place, pool(), budget=4, raters=2, stages=1)
    while claims := study.claim("anna", 2):
        study.tell(ids(claims), [0] * len(claims), who="anna")
    status = study.status
    assert (status.labelled, status.wanted, status.remaining, status.complete) == (4, 4, 0, False)
    assert study.ask() == []
    assert len(study.claim("bert", 9)) == 4


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"raters": 0}, "raters=0 must be a whole number from 1"),
        ({"raters": 1, "overlap": 0.5}, "needs raters of 2 or more"),
        ({"overlap": 1.5}, r"overlap=1.5 is not a share"),
        ({"lease": 0}, "lease=0 must be above 0 and at most 527,040 minutes"),
        ({"lease": 1e10}, r"lease=1e\+10 must be above 0"),
    ],
)
def test_sharing_that_cannot_be(options, message, tmp_path):
    with pytest.raises(InputError, match=message):
        Study.create(tmp_path / "study.db", pool(), budget=8, **options)
    assert not (tmp_path / "study.db").exists()


def test_the_same_request_writes_once(place):
    study = Study.create(place, pool(), budget=8)
    asked = study.ask(3)
    assert study.tell(asked, [0, 1, None], who="anna", request="a") == 3
    written = study.history(), study.audit()
    assert Study.open(place).tell(asked, [0, 1, None], who="anna", request="a") == 3
    assert (study.history(), study.audit()) == written
    with pytest.raises(InputError, match="request 'a' wrote something else"):
        study.tell(asked, [1, 1, None], who="anna", request="a")
    assert study.undo("anna", request="b") == study.undo("anna", request="b") == asked[2]
    assert study.status.skipped == 0


def test_a_request_that_was_refused_can_be_made_again(place):
    study = Study.create(place, pool(), budget=8)
    asked = study.ask(2)
    with pytest.raises(LabelError, match="not a class"):
        study.tell(asked, [0, 7], request="a")
    assert study.tell(asked, [0, 1], request="a") == 2


def test_undo_gives_the_last_answer_back(place):
    study = Study.create(place, pool(), budget=8, stages=1)
    first, second = ids(study.claim("anna", 2))
    study.tell([first], [0], who="anna")
    study.skip(second, "anna", "unreadable")
    assert study.undo("anna") == second
    assert ids(study.claim("anna", 1)) == [second]
    assert second not in ids(study.claim("bert", 3))
    study.tell([second], [1], who="anna")
    assert study.undo("anna") == second
    assert study.undo("anna") == first
    assert study.undo("anna") is None
    told = [(row["label"], row["kind"], row["reason"]) for row in study.history(second)]
    assert told == [(None, "label", "unreadable"), (None, "undo", None), (1, "label", None), (None, "undo", None)]
    assert study.status.labelled == 0


@pytest.mark.parametrize("who", [None, 3, ["anna"]])
def test_undo_is_of_a_person_and_leases_no_item_to_nobody(place, who):
    study = Study.create(place, pool(), budget=1, raters=2)
    study.tell(study.ask(), [0])
    with pytest.raises(InputError, match="must be a name"):
        study.undo(who)
    status = study.status
    assert (status.labelled, status.wanted, status.claimed) == (1, 1, 0)
    assert len(study.claim("bert")) == 1


def test_what_nobody_holds_is_not_reopened(place):
    study = Study.create(place, pool(), budget=1, raters=2)
    (name,) = study.ask()
    with study._store.writing() as found:
        found.assignments.reopen(f'"{name}"', None, "2999")
        assert [row["until"] for row in found.assignments.open()] == [None, None]


def test_what_was_undone_can_be_answered_otherwise(place):
    study = Study.create(place, pool(), budget=8)
    (name,) = study.ask(1)
    study.tell([name], [0], who="anna")
    study.undo("anna")
    assert study.tell([name], [1], who="anna") == 1
    assert [row["label"] for row in study.history(name)] == [0, None, 1]


def test_progress_is_told_by_person(place):
    study = Study.create(place, pool(), budget=8, stages=1)
    first = ids(study.claim("anna", 3))
    study.tell(first[:1], [0], who="anna")
    study.skip(first[1], "anna")
    study.claim("bert", 1)
    found = study.progress()
    assert list(found) == ["anna", "bert"]
    assert (found["anna"].labelled, found["anna"].skipped, found["anna"].claimed) == (1, 1, 1)
    assert (found["bert"].labelled, found["bert"].skipped, found["bert"].claimed) == (0, 0, 1)


def test_the_log_tells_everything_in_order(place):
    study = Study.create(place, pool(), budget=6, stages=1)
    (claim,) = study.claim("anna")
    study.tell([claim.id], [0], who="anna")
    study.tell([claim.id], [1], who="bert", correct=True)
    study.extend(7)
    study.resolve(claim.id, 0, "boss", reason="read it twice")
    log = study.audit()
    assert [event["kind"] for event in log] == [
        "created", "planned", "asked", "claimed", "labelled", "corrected", "extended", "resolved",
    ]  # fmt: skip
    assert [event["number"] for event in log] == sorted(event["number"] for event in log)
    assert log[5]["details"] == {"label": 1}
    assert log[6]["details"] == {"from": 6.0, "to": 7.0}
    assert log[7]["details"] == {"label": 0, "reason": "read it twice"}
    assert log[1]["details"]["design"] == study.method.design
    assert study.audit(claim.id) == [event for event in log if event["id"] == claim.id]


def test_stages_are_logged_with_what_they_were_planned_from(place):
    study = Study.create(place, pool(), budget=80)
    while claims := study.claim("anna", 5):
        study.tell(ids(claims), [0] * len(claims), who="anna")
    planned = [event["details"] for event in study.audit() if event["kind"] == "planned"]
    assert [one["stage"] for one in planned] == [0, 1, 2]
    assert planned[0]["labelled"] == 0 < planned[1]["labelled"] < planned[2]["labelled"]


@pytest.mark.parametrize(("kind", "name", "left"), [(ledger.Ledger, "study", 1), (assignments.Assignments, "take", 0)])
def test_a_claim_passes_another_process_that_opens_a_stage(database, monkeypatch, kind, name, left):
    """The other process writes in the middle of the claim, which sees the study as it was, or as it is."""
    study = Study.create(database, pool(), budget=80)
    first = study.ask(70)  # up to the end of the first stage
    told = first[: len(first) - left]
    study.tell(told, [0] * len(told))
    other, whole, opened = Study.open(database, pool()), getattr(kind, name), []

    def meanwhile(self, *args, **options):
        before = whole(self, *args, **options) if left else None
        if not opened:
            opened.append("begun")
            opened.extend(other.ask(30))
        return before if left else whole(self, *args, **options)

    monkeypatch.setattr(kind, name, meanwhile)
    (claim,) = study.claim("anna", 1)
    assert claim.id == (first[-1] if left else opened[1])
    assert claim.fields == {"text": f"text of {claim.id}"}
    assert len(first) < 70
    assert len(opened) > 1


def test_two_windows_of_one_person_get_different_seats_of_an_item_never(database):
    """Both seats of an item are open; the same person claims in two transactions at once."""
    study = Study.create(database, pool(), budget=12, raters=2, stages=1)
    study.ask()
    got, errors = [], []

    def window():
        try:
            with Study.open(database) as mine:
                got.extend(ids(mine.claim("anna", 6)))
        except Exception as error:
            errors.append(error)

    threads = [threading.Thread(target=window) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert errors == []
    assert len(set(got)) == 6


def test_claims_pass_a_transaction_that_holds_another_item(database):
    """A claim under way keeps its items to itself and nobody waiting, as long as the items were asked for."""
    study = Study.create(database, pool(), budget=6, stages=1)
    asked = study.ask()
    with study._store.writing() as slow:
        taken, _ = slow.assignments.take("anna", 2, "2000", "2999")
        assert ids(Study.open(database).claim("bert", 2)) == asked[2:4]  # a claim that waited would wait for ever
    assert [row["id"] for row in taken] == [f'"{name}"' for name in asked[:2]]
