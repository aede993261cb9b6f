"""What the documentation says stands in the package, and the other way round."""

import ast
import importlib
import json
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import click
import pytest

import sondage
from sondage.cli import main
from sondage.core import measures
from sondage.core.catalogue.beliefs import BELIEFS
from sondage.core.catalogue.designs import DESIGNS
from sondage.core.catalogue.estimators import ESTIMATORS
from sondage.core.catalogue.intervals import INTERVALS
from sondage.core.catalogue.significance import TESTS
from sondage.core.measures import NAMES
from sondage.studies.drawing import DRAWS
from sondage.studies.method import METHODS

ROOT = Path(__file__).resolve().parents[2]
PAGES = sorted([*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")])
HEAVY = (
    *("duckdb", "sqlalchemy", "alembic", "matplotlib", "sklearn", "pandas", "polars", "pyarrow", "rich", "click"),
    *("scipy.optimize", "scipy.stats", "scipy.linalg", "scipy.sparse"),
)


def commands(command: click.Command, path: tuple[str, ...]) -> Iterator[tuple[str, click.Command]]:
    """Yield every command below this one with its full name."""
    if not isinstance(command, click.Group):
        yield " ".join(path), command
        return
    context = click.Context(command)
    for name in command.list_commands(context):
        yield from commands(command.get_command(context, name), (*path, name))


COMMANDS = dict(commands(main, ("sondage",)))


@pytest.mark.parametrize("name", COMMANDS)
def test_command_has_help(name):
    command = COMMANDS[name]
    assert command.help
    assert all(option.help for option in command.params if isinstance(option, click.Option) and option.name != "help")


@pytest.mark.parametrize("name", COMMANDS)
def test_command_stands_in_the_manual(name):
    manual = (ROOT / "docs" / "cli.md").read_text()
    section = re.search(rf"^## `{name}`$(.*?)(?=^## |\Z)", manual, re.MULTILINE | re.DOTALL)
    assert section, f"docs/cli.md has no section ## `{name}`"
    options = [text for option in COMMANDS[name].params if isinstance(option, click.Option) for text in option.opts]
    assert [option for option in options if f"`{option}`" not in section[1]] == []


def test_manual_has_no_other_commands():
    manual = (ROOT / "docs" / "cli.md").read_text()
    assert set(re.findall(r"^## `(.*?)`$", manual, re.MULTILINE)) == set(COMMANDS)


def test_public_names_are_exact():
    names = {name for name, value in vars(sondage).items() if not name.startswith("_")}
    inner = {name for name in names if isinstance(getattr(sondage, name), ModuleType)} - {"measures"}
    assert names - inner == set(sondage.__all__)
    assert sondage.__all__ == sorted(sondage.__all__)


def test_measures_are_imported_by_their_public_name():
    public = importlib.import_module("sondage.measures")
    assert public is sondage.measures
    assert {name: getattr(public, name) for name in public.__all__} == {
        name: getattr(measures, name) for name in measures.__all__
    }


def names_in_all(tree: ast.Module) -> list[str] | None:
    """Return the names in a module's `__all__`; None without one."""
    given = (
        node.value for node in tree.body if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "__all__"
    )
    return next(map(ast.literal_eval, given), None)


def test_modules_offer_what_others_take():
    paths = {path: path.with_suffix("") for path in (ROOT / "src" / "sondage").rglob("*.py")}
    trees = {".".join(at.relative_to(ROOT / "src").parts): ast.parse(path.read_text()) for path, at in paths.items()}
    offered = {module.removesuffix(".__init__"): names_in_all(tree) for module, tree in trees.items()}
    imports = (node for tree in trees.values() for node in ast.walk(tree) if isinstance(node, ast.ImportFrom))
    taken = {(str(node.module), one.name) for node in imports for one in node.names}
    taken -= {("sondage.core.measures", "*"), ("sondage.core.measures", "__all__")}  # takes what is offered
    hidden = {(module, name) for module, name in taken if name not in (offered.get(module) or [name])}
    assert sorted((module, name) for module, name in hidden if f"{module}.{name}" not in offered) == []


def test_functions_that_nobody_else_takes_are_not_offered():
    folders = ("src", "tests", "benchmarks", "experiments", "docs")
    paths = [path for folder in folders for path in (ROOT / folder).rglob("*.py")]
    words = {path: set(re.findall(r"\w+", path.read_text())) for path in paths}
    pages = "".join(page.read_text() for page in (ROOT / "docs" / "reference").glob("*.md"))
    idle = []
    for path in (ROOT / "src").rglob("*.py"):
        tree, module = ast.parse(path.read_text()), ".".join(path.relative_to(ROOT / "src").with_suffix("").parts)
        offered = [] if f"::: {module}\n" in pages else names_in_all(tree) or []
        functions = {node.name for node in tree.body if isinstance(node, ast.FunctionDef)} & set(offered)
        idle += [
            (module, name) for name in functions if not any(name in words[other] for other in paths if other != path)
        ]
    assert sorted(idle) == []


def test_import_is_light():
    code = "import sondage, sys, json; print(json.dumps(sorted(sys.modules)))"
    # -I leaves out what the environment adds; the path is given by hand.
    code = f"import sys; sys.path.insert(0, {str(ROOT / 'src')!r}); {code}"
    loaded = json.loads(subprocess.run([sys.executable, "-I", "-c", code], capture_output=True, check=True).stdout)
    assert sorted(set(HEAVY) & set(loaded)) == []


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_links_lead_somewhere(page):
    links = re.findall(r"\]\(([^)#\s]+)(?:#[^)]*)?\)", page.read_text())
    local = [link for link in links if not re.match(r"[a-z]+:", link)]
    assert [link for link in local if not (page.parent / link).exists()] == []


def test_every_target_of_make_is_told_and_explained():
    makefile, page = (ROOT / "Makefile").read_text(), (ROOT / "CONTRIBUTING.md").read_text()
    (targets,) = re.findall(r"^\.PHONY: (.*)$", makefile, re.MULTILINE)
    assert targets.split() == re.findall(r"^([a-z-]+):.*## \w", makefile, re.MULTILINE)
    assert sorted(targets.split()) == sorted(re.findall(r"^\| `make ([a-z-]+)` \|", page, re.MULTILINE))


def test_architecture_names_what_is_there():
    text = (ROOT / "docs" / "architecture.md").read_text()
    tree = re.search(r"```text\nsrc/sondage/\n(.*?)```", text, re.DOTALL)
    assert tree
    folders, found = [ROOT / "src" / "sondage"], set()
    for line in tree[1].splitlines():
        depth = (len(line) - len(line.lstrip())) // 2
        name = line.split()[0]
        path = folders[depth - 1] / name
        found.add(path)
        folders[depth:] = [path]
    assert sorted(str(path) for path in found if not path.exists()) == []
    modules = {path for path in (ROOT / "src" / "sondage").rglob("*.py") if path.name != "__init__.py"}
    packages = {path.parent for path in modules}
    # A folder may stand for its modules; a module of a folder whose modules are listed may not be left out.
    listed = {path.parent for path in found if path.suffix == ".py"}
    assert sorted(str(path) for path in packages - found - listed) == []
    assert sorted(str(path) for path in modules if path.parent in listed and path not in found) == []


@pytest.mark.parametrize(
    "catalogue", [BELIEFS, DESIGNS, DRAWS, ESTIMATORS, INTERVALS, METHODS, TESTS], ids=lambda names: next(iter(names))
)
def test_every_name_has_its_formula(catalogue):
    text = (ROOT / "docs" / "statistics.md").read_text()
    assert [name for name in catalogue if f'"{name}"' not in text] == []


def test_every_measure_is_named():
    text = (ROOT / "docs" / "statistics.md").read_text()
    assert [name for name in NAMES if not re.search(rf"`{name}[`:]", text)] == []


@pytest.mark.slow
def test_quoted_output_is_what_the_script_prints():
    page = (ROOT / "docs" / "choosing.md").read_text()
    found = re.findall(r"<!-- output: (\S+) -->\n```text\n(.*?)```", page, re.DOTALL)
    environment = {"PYTHONPATH": str(ROOT / "src")}
    for script, quoted in found:
        command = [sys.executable, str(ROOT / script)]
        printed = subprocess.run(command, capture_output=True, check=True, text=True, env=environment)
        assert printed.stdout == quoted
