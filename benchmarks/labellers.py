"""Labellers at one study, each a process of its own, some killed at work: nothing is lost, nothing is done twice.

    python benchmarks/labellers.py study.db
    python benchmarks/labellers.py postgresql://user:password@127.0.0.1/empty

Each labeller claims items and tells their labels until there are none left, and writes down what was acknowledged.
Killed ones (SIGKILL) are started again under the same name. Prints labels per second and what was found.
"""

from __future__ import annotations

import argparse
import os
import random
import subprocess
import sys
import time
import warnings
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np

from sondage import Pool, Study
from sondage.errors import WaitingWarning


@dataclass(frozen=True)
class Outcome:
    """What came of it: seconds, acknowledged labels that are missing, items labelled twice, held by two, unlabelled."""

    seconds: float
    labels: int
    acknowledged: int
    lost: int
    twice: int
    shared: int
    unlabelled: int
    kills: int
    errors: tuple[str, ...]

    @property
    def sound(self) -> bool:
        """Whether nothing went wrong."""
        return not (self.lost or self.twice or self.shared or self.unlabelled or self.errors)


def work(place: str, who: str, notes: str) -> None:
    """Label until there is nothing left; write down each acknowledged label."""
    warnings.simplefilter("ignore", WaitingWarning)  # many write at once: to wait is no error
    chance = random.Random(who)
    with Study.open(place) as study, open(notes, "a", encoding="utf-8") as acknowledged:
        while claims := study.claim(who, chance.randint(1, 3)):
            for claim in claims:
                label = len(str(claim.id)) % 2
                study.tell([claim.id], [label], who=who, request=f"{who} {claim.id}")
                acknowledged.write(f"{claim.id} {label}\n")
                acknowledged.flush()


def start(place: str, who: str, notes: Path) -> subprocess.Popen[str]:
    command = [sys.executable, __file__, place, "--work", who, "--notes", str(notes / who)]
    return subprocess.Popen(command, stderr=subprocess.PIPE, text=True)


def errors_of(process: subprocess.Popen[str]) -> list[str]:
    """Return what a labeller who has ended says of errors."""
    return [line for line in process.communicate()[1].splitlines() if line.strip()]


def run(place: str, items: int, labellers: int, kills: int, *, seed: int = 0) -> Outcome:
    """Make a study at this place, let labellers work at it, kill some at random, and look at what is there."""
    chance = random.Random(seed)
    pool = Pool(np.random.default_rng(seed).random(2 * items), ids=np.arange(2 * items))
    study = Study.create(place, pool, budget=items, seed=seed, stages=1)
    names = [f"labeller {n}" for n in range(labellers)]
    due = sorted(chance.randrange(items // 10, items * 9 // 10) for _ in range(kills))
    with TemporaryDirectory() as folder:
        began = time.perf_counter()
        killed, errors = labour(study, place, names, due, chance, Path(folder))
        seconds = time.perf_counter() - began
        notes = [
            line.split() for who in names for line in (Path(folder) / who).read_text(encoding="utf-8").splitlines()
        ]
    told = [(str(row["id"]), row["label"]) for row in study.history()]
    labels, counted = dict(told), Counter(name for name, _ in told)
    return Outcome(
        seconds=seconds,
        labels=len(labels),
        acknowledged=len(notes),
        lost=sum(labels.get(name) != int(label) for name, label in notes),
        twice=sum(count > 1 for count in counted.values()),
        shared=held_by_two(study),
        unlabelled=items - len(labels),
        kills=killed,
        errors=tuple(errors),
    )


def labour(
    study: Study, place: str, names: list[str], due: list[int], chance: random.Random, notes: Path
) -> tuple[int, list[str]]:
    """Let labellers work until all have ended, one killed as each number of labels due is there; kills and errors."""
    killed, errors = 0, []
    processes = {who: start(place, who, notes) for who in names}
    while processes:
        time.sleep(0.02)
        for who in [who for who, process in processes.items() if process.poll() is not None]:
            errors += errors_of(processes.pop(who))
        if killed < len(due) and processes and study.status.labelled >= due[killed]:
            who = chance.choice(sorted(processes))
            processes[who].kill()
            errors += errors_of(processes[who])
            processes[who], killed = start(place, who, notes), killed + 1
    return killed, errors


def held_by_two(study: Study) -> int:
    """Return how many items were claimed by one person while another held them."""
    holders: dict[object, str] = {}
    found = 0
    for event in study.audit():
        if event["kind"] in ("released", "expired"):
            holders.pop(event["id"], None)
        elif event["kind"] == "claimed":
            found += holders.get(event["id"], event["who"]) != event["who"]
            holders[event["id"]] = event["who"]
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("place", help="a file that is not there, or the URL of an empty PostgreSQL database")
    parser.add_argument("--items", type=int, default=2000)
    parser.add_argument("--labellers", type=int, default=4)
    parser.add_argument("--kills", type=int, default=8)
    parser.add_argument("--work", help=argparse.SUPPRESS)
    parser.add_argument("--notes", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.work:
        return work(options.place, options.work, options.notes)
    found = run(options.place, options.items, options.labellers, options.kills)
    print(
        f"{options.labellers} labellers, {found.labels:,} labels in {found.seconds:.1f} s "
        f"({found.labels / found.seconds:.0f} a second, processes started {found.kills + options.labellers} times)"
    )
    print(
        f"acknowledged {found.acknowledged:,}: {found.lost} lost; {found.twice} items labelled twice, "
        f"{found.shared} held by two at once, {found.unlabelled} left over; {len(found.errors)} lines of errors"
    )
    for line in found.errors[:20]:
        print(line, file=sys.stderr)
    sys.exit(0 if found.sound else 1)


if __name__ == "__main__":
    os.environ["OMP_NUM_THREADS"] = "1"
    main()
