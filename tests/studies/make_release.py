"""Make the study file of a release, kept for ever: python tests/studies/make_release.py (never for an old release)."""

import json
import sys
from pathlib import Path

from sondage import Pool, Study
from sondage.version import __version__


def pool() -> Pool:
    """Return a pool from whole numbers only, the same on every machine."""
    size = 400
    p = [((number * 37) % 401) / 401 for number in range(size)]
    return Pool(probabilities=p, ids=[f"item-{number}" for number in range(size)], fields={"number": list(range(size))})


def main() -> None:
    """Write release-<version>.db and the numbers that it must give."""
    path = Path(__file__).parent / f"release-{__version__}.db"
    if path.exists():
        sys.exit(f"{path} is there: a released file is never made again")
    with Study.create(path, pool(), "f1", 60, seed=7) as study:
        ids = study.ask(45)
        study.tell(ids[:40], [int(name.partition("-")[2]) * 7919 % 11 % 2 for name in ids[:40]], who="release")
        estimate = study.estimate()
        numbers = {
            "next": study.ask(3),
            "estimate": {name: getattr(estimate, name) for name in ("value", "std_error")},
            "fingerprint": study.facts["fingerprint"],
        }
    path.with_suffix(".json").write_text(json.dumps(numbers, indent=2) + "\n")


if __name__ == "__main__":
    main()
