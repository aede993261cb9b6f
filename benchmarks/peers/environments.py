"""Virtual environments of the peers, made on first use under the cache folder, one for each.

Configurations, all from the packages' own documentation:

ppi            ppi-python, PPI++ with power tuning (the default) on a uniform sample without replacement; its helper
               prediction is the believed loss. F1 by Newton's step on the tuned mean of its residual.
ssepy-neyman   ssepy, 10 strata by k-means on the believed term, Neyman allocation from believed variances, stratified
               simple random sampling, Horvitz-Thompson estimator and its variance.
ssepy-df       ssepy, the same strata with proportional allocation and the power-tuned difference estimator.
oasis          OASIS, F-measures only and no interval; 30 strata by cumulative sqrt(F) of the probabilities with 100 or
               more bins, given explicitly because its automatic choice calls what SciPy has removed. It draws with
               replacement until enough distinct items are labelled, at most 20 draws for each label of the budget.
glide          glide-py, active statistical inference (Zrnic and Candes 2024): labels are drawn independently with
               probabilities in proportion to the believed standard deviation of the loss, a tenth of its mean at the
               least, and the tuned estimate weighs them by these; F1 by Newton's step. It needs Python 3.12: a
               `python3.12` is looked for where the benchmark runs on less.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from data import cache_folder

__all__ = ["PEERS", "Peer", "PeerError", "run_peer"]

HERE = Path(__file__).resolve().parent


class PeerError(RuntimeError):
    """A peer could not be installed or run."""


@dataclass(frozen=True)
class Peer:
    """One package's environment, and what it can do.

    Attributes
    ----------
    environment : str
        Name of the virtual environment; two methods of one package share it.
    requirements : tuple of str
        What pip installs.
    module : str
        Module of this folder that runs inside.
    measures : tuple of str
        Measures it can estimate.
    least : tuple of int
        First version of Python that it runs on.
    """

    environment: str
    requirements: tuple[str, ...]
    module: str
    measures: tuple[str, ...] = ("f1", "error_rate", "mse")
    least: tuple[int, int] = (3, 11)


_SSEPY = ("ssepy==0.1.1", "numpy<2", "scikit-learn")

PEERS: dict[str, Peer] = {
    "ppi": Peer("ppi", ("ppi-python==0.2.3",), "peers.run_ppi"),
    "ssepy-neyman": Peer("ssepy", _SSEPY, "peers.run_ssepy"),
    "ssepy-df": Peer("ssepy", _SSEPY, "peers.run_ssepy"),
    "glide": Peer("glide", ("glide-py==0.11.0",), "peers.run_glide", least=(3, 12)),
    "oasis": Peer("oasis", ("oasis==0.1.3", "numpy<2", "scikit-learn", "setuptools"), "peers.run_oasis", ("f1",)),
}


def run_peer(
    method: str, problem: str, jobs: Sequence[tuple[int, int]], module: str = "problems"
) -> Iterator[tuple[int, int, float, float, float, int]]:
    """Yield (seed, budget, estimate, low, high, labels) of each (seed, budget), from the peer's own interpreter.

    The problem is what `load` of the module gives for this name.
    """
    peer = PEERS[method]
    command = [str(_python(peer)), "-m", peer.module]
    environment = os.environ | {
        "OMP_NUM_THREADS": "1",
        "PYTHONPATH": "",
        "SONDAGE_CACHE": str(cache_folder().resolve()),
    }
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, cwd=HERE.parent, env=environment
    ) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        json.dump({"method": method, "module": module, "problem": problem, "jobs": list(jobs)}, process.stdin)
        process.stdin.close()
        yield from _rows(process.stdout)
    if process.returncode:
        raise PeerError(f"{method} stopped on {problem} with code {process.returncode}")


def _rows(lines: Iterable[str]) -> Iterator[tuple[int, int, float, float, float, int]]:
    for line in lines:
        if line.startswith("row "):
            seed, budget, estimate, low, high, labels = line.split()[1:]
            yield int(seed), int(budget), float(estimate), float(low), float(high), int(labels)


def _python(peer: Peer) -> Path:
    """Return the peer's interpreter, its environment made if need be."""
    folder = cache_folder() / "venvs" / peer.environment
    python, ready = folder / "bin" / "python", folder / "ready"
    if ready.exists() and ready.read_text() == "\n".join(peer.requirements):
        return python.absolute()
    allow = {"SKLEARN_ALLOW_DEPRECATED_SKLEARN_PACKAGE_INSTALL": "True"}
    for command in (
        [_interpreter(peer), "-m", "venv", str(folder)],
        [str(python), "-m", "pip", "install", "--quiet", "--disable-pip-version-check", *peer.requirements],
    ):
        done = subprocess.run(command, env=os.environ | allow, capture_output=True, text=True, check=False)
        if done.returncode:
            last = (done.stderr.strip().splitlines() or ["no message"])[-1]
            raise PeerError(f"{peer.environment} does not install: {last}")
    ready.write_text("\n".join(peer.requirements))
    return python.absolute()


def _interpreter(peer: Peer) -> str:
    """Return a Python that is new enough: this one, or the first that is."""
    if sys.version_info >= peer.least:
        return sys.executable
    name = "python{}.{}".format(*peer.least)
    found = shutil.which(name)
    if found is None:
        raise PeerError(f"{peer.environment} needs {name}, which is not on the path")
    return found
