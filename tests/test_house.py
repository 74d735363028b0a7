"""The rules of the house: small files, torch in its place, a quick and helpful command line."""

from __future__ import annotations

import ast
import functools
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import pytest
import typer.main

from paramedic.capture.probe import all_probes
from paramedic.cli.app import app
from workshop import ROOT, Workshop

SOURCE = ROOT / "src" / "paramedic"
FILES = sorted(SOURCE.rglob("*.py"))
COMMANDS = tuple(typer.main.get_command(app).commands)
MAY_IMPORT_TORCH = {
    *("bundle", "capture", "examples", "integrations", "interventions", "lab", "parity", "patching.py", "postmortem"),
    *("program", "shapes", "synth", "testing"),
}

MAY_IMPORT = {  # package -> packages, lazy imports and those for types included
    "assistants": {"rules"},
    "audit": {"findings"},
    "auditing": {"audit", "findings", "record", "reports", "rules"},
    "bundle": {"reports"},
    "capture": {"bundle", "contracts", "postmortem", "program", "record"},
    "cli": {
        *(
            "assistants",
            "audit",
            "auditing",
            "bundle",
            "capture",
            "cure",
            "findings",
            "journal",
            "lab",
            "parity",
            "postmortem",
        ),
        *("record", "reports", "rules", "serve", "shapes", "static", "synth", "testing"),
    },
    "cure": {"findings", "lab", "record", "reports", "rules", "static"},
    "integrations": {"findings"},
    "interventions": {"program", "record", "synth"},
    "journal": {"findings", "record"},
    "lab": {"auditing", "capture", "findings", "program", "record", "reports", "rules"},
    "parity": {"lab", "record", "reports", "synth"},
    "postmortem": {"findings", "program", "reports", "rules"},
    "program": {"record"},
    "record": {"findings"},
    "reports": {"findings", "record", "rules"},
    "rules": {"audit", "findings", "record", "static"},
    "serve": {"journal", "findings", "record", "reports", "rules"},
    "shapes": {"contracts", "program", "synth", "testing"},
    "static": {"findings", "record"},
    "testing": {"auditing", "capture", "contracts", "findings", "lab", "program", "rules", "synth"},
}


@dataclass(frozen=True, slots=True)
class Outline:
    """What the tests want to know of a file: each is parsed once for all of them."""

    documented: bool
    functions: dict[str, int] = field(default_factory=dict)  # lines, without the docstring
    classes: dict[str, int] = field(default_factory=dict)  # methods
    imports: list[tuple[int, str]] = field(default_factory=list)  # line and module


@functools.cache
def outline(path: Path) -> Outline:
    tree = ast.parse(path.read_text())
    found = Outline(ast.get_docstring(tree) is not None)
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            written = len((ast.get_docstring(node, clean=False) or "").splitlines())
            lines = (node.end_lineno or 0) - node.lineno + 1 - written
            found.functions[node.name] = max(lines, found.functions.get(node.name, 0))
        elif isinstance(node, ast.ClassDef):
            found.classes[node.name] = sum(isinstance(item, ast.FunctionDef) for item in node.body)
        elif isinstance(node, ast.Import):
            found.imports.extend((node.lineno, alias.name) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            bare = node.module == "paramedic"
            names = [f"paramedic.{alias.name}" for alias in node.names] if bare else [node.module or ""]
            found.imports.extend((node.lineno, name) for name in names)
    return found


def test_no_file_is_longer_than_400_lines() -> None:
    checked = [*FILES, *(ROOT / "tests").glob("*.py")]
    assert {path.name: n for path in checked if (n := len(path.read_text().splitlines())) > 400} == {}


def test_no_function_is_longer_than_60_lines() -> None:
    """Without its docstring. How complex one may be, ruff says; kernels of Triton are one function each."""
    found = {
        f"{path.relative_to(SOURCE)}: {name}": lines
        for path in FILES
        for name, lines in outline(path).functions.items()
        if path.name != "kernels.py"
    }
    assert {name: lines for name, lines in found.items() if lines > 60} == {}


MOST_METHODS = {"Source": 44, "Alarm": 26, "Lab": 25}  # of one class: those that know more than one thing


def test_no_class_knows_everything() -> None:
    """A class with many methods mostly knows several things, and others would rather ask one of them."""
    found = {name: methods for path in FILES for name, methods in outline(path).classes.items()}
    assert {name: count for name, count in found.items() if count > MOST_METHODS.get(name, 21)} == {}


def test_types_say_something() -> None:
    """Where nothing is assumed it is `object`; shapes that recur have a name in paramedic.aliases."""
    words = sum(len(re.findall(r"\bAny\b", path.read_text())) for path in FILES)
    assert words <= 1200


def test_the_folders_that_the_project_file_names_exist() -> None:
    named = re.findall(r'"((?:src|tests|benchmarks|cases|docs|examples)/[^"*]*)', (ROOT / "pyproject.toml").read_text())
    assert named and [name for name in named if not (ROOT / name).exists()] == []


def test_torch_is_imported_in_capture_only() -> None:
    found = [
        f"{path.relative_to(SOURCE)}:{line}"
        for path in FILES
        if path.relative_to(SOURCE).parts[0] not in MAY_IMPORT_TORCH
        for line, name in outline(path).imports
        if name.partition(".")[0] == "torch"
    ]
    assert found == []


def test_packages_import_only_what_the_table_allows() -> None:
    """Data flows one way: what the rules and reports may see is the record, and nobody below knows the command line."""
    packages = {path.parent.name for path in SOURCE.glob("*/__init__.py")}
    found = {own: names & packages for own, names in house_imports().items() if own in packages}
    assert {own: more for own, names in found.items() if (more := names - MAY_IMPORT.get(own, set()))} == {}
    assert {own: less for own, names in MAY_IMPORT.items() if (less := names - found.get(own, set()))} == {}


def test_nothing_imports_itself_by_a_detour() -> None:
    """Packages and the modules beside them have an order: each is done with by whoever has read those before it."""
    waiting = house_imports()
    while free := [own for own, names in waiting.items() if not names & waiting.keys()]:
        for own in free:
            del waiting[own]
    assert sorted(waiting) == []


def house_imports() -> dict[str, set[str]]:
    """For each package, and each module beside them, the others that it imports anywhere in its code."""
    found: dict[str, set[str]] = {}
    for path in FILES:
        own = path.relative_to(SOURCE).parts[0].removesuffix(".py")
        names = {name.split(".")[1] for _, name in outline(path).imports if name.startswith("paramedic.")}
        found.setdefault(own, set()).update(name for name in names if name != own)
    # The public names are lent out by the package itself; whoever imports `paramedic` imports no other part by that.
    return {own: names for own, names in found.items() if not own.startswith("__")}


MAY_SET_ATTRIBUTES = {  # by name, of objects that are not torch's or Python's
    "patching.py",  # the desk itself
    "capture/bus.py", "capture/sources/workers.py",  # marks on functions and exceptions
    "capture/inquest/rerun.py",  # puts back what the statements of a step have set, in a process that only computes
    "parity/changes.py", "testing/script/loops.py", "testing/script/training.py",  # parts of models and of a script
}  # fmt: skip
# What a program is started with is no function of Python's, and neither is the type of our own module.
NO_PATCHES = {"sys.argv", "sys.path[:]", "sys.stdin", "sys.stdout", "sys.stderr", "sys.dont_write_bytecode"}
NO_PATCHES |= {"sys.modules[__name__].__class__", "sys.excepthook"}


def test_torch_and_python_are_replaced_at_the_patch_desk_only() -> None:
    """So that all of it can be listed, and is put back unless somebody else has replaced it in turn."""
    found = []
    for path in FILES:
        name = path.relative_to(SOURCE).as_posix()
        tree = ast.parse(path.read_text())
        foreign = set(foreign_names(tree))
        for node in ast.walk(tree) if not name.startswith("examples/") else ():
            assigned = getattr(node, "targets", None) or [getattr(node, "target", None)]
            for target in [part for one in assigned for part in (one.elts if isinstance(one, ast.Tuple) else [one])]:
                if isinstance(target, ast.Attribute) and root_of(target) in foreign:
                    found += [f"{name}: {words}"] if (words := ast.unparse(target)) not in NO_PATCHES else []
            if isinstance(node, ast.Call) and ast.unparse(node.func) in ("setattr", "delattr"):
                found += [f"{name}: {ast.unparse(node)}"] if name not in MAY_SET_ATTRIBUTES else []
    assert found == []


def foreign_names(tree: ast.Module) -> Iterator[str]:
    """What a file knows of other packages: modules, classes and functions."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import | ast.ImportFrom):
            own = isinstance(node, ast.ImportFrom) and (node.module or "").startswith("paramedic")
            yield from () if own else (alias.asname or alias.name.split(".")[0] for alias in node.names)


def root_of(node: ast.expr) -> str:
    while isinstance(node, ast.Attribute | ast.Subscript):
        node = node.value
    return node.id if isinstance(node, ast.Name) else ""


def test_nothing_is_left_to_do_or_printed_by_rules() -> None:
    for path in FILES:
        text = path.read_text()
        assert not re.search(r"\b(TODO|FIXME|XXX|HACK)\b", text), path
        if "rules" in path.relative_to(SOURCE).parts[:1]:
            assert "print(" not in text, path


def test_no_probe_reaches_into_another_one() -> None:
    """What two of them need is a function of neither."""
    homes = {kind.build.__module__ for kind in all_probes()}
    reaching = []
    for name in sorted(homes):
        tree = ast.parse((SOURCE.parent / f"{name.replace('.', '/')}.py").read_text())
        imported = {node.module for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)}
        reaching += [f"{name} imports {other}" for other in sorted(imported & homes)]
    assert reaching == []


def test_every_probe_has_a_test_of_its_own() -> None:
    """Beside the others of its family, and about the facts that it states."""
    wanting = []
    for kind in all_probes():
        *_, family, module = kind.build.__module__.split(".")
        test = ROOT / "tests" / "capture" / "probes" / family / f"test_{module}.py"
        text = test.read_text() if test.exists() else ""
        stated = [fact.__name__ for fact in kind.states]
        if not text or (stated and not any(re.search(rf"\b{name}\b", text) for name in stated)):
            wanting.append(f"{family}/{module}")
    assert wanting == []


def test_every_file_says_what_it_is_for() -> None:
    assert [str(path.relative_to(SOURCE)) for path in FILES if not outline(path).documented] == []


@pytest.mark.parametrize("words", ["--help", "rules", "explain PM502", "run --help", "report --help", "run missing.py"])
def test_torch_is_not_imported_to_answer_a_question(shop: Workshop, words: str) -> None:
    program = f"""
import sys
sys.argv = ["paramedic", *{words.split()!r}]
from paramedic.__main__ import main
try:
    main()
finally:
    heavy = [name for name in ("torch", "numpy", "starlette", "sklearn") if name in sys.modules]
    print("heavy:", heavy, file=sys.stderr)
"""
    done = shop.python("-c", program)
    assert "heavy: []" in done.stderr


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_explains_itself_with_an_example(warm_shop: Workshop, command: str) -> None:
    done = warm_shop.paramedic(command, "--help")
    assert done.code == 0 and done.stderr == ""
    assert re.search(rf"Examples?:\s+paramedic {command}\b", done.stdout)
    assert warm_shop.paramedic(command, "-h").stdout == done.stdout


def test_the_commands_are_all_listed(warm_shop: Workshop) -> None:
    text = warm_shop.paramedic("--help").stdout
    assert all(re.search(rf"\b{command}\b", text) for command in COMMANDS)
    assert warm_shop.paramedic("no-such-command").code == 2


def test_the_readme_is_short_and_its_links_lead_somewhere() -> None:
    text = (ROOT / "README.md").read_text()
    assert len(text.splitlines()) <= 120
    links = [link for link in re.findall(r"\]\(([^)#]+)\)", text) if "://" not in link]
    assert links and [link for link in links if not (ROOT / link).exists()] == []


def test_what_the_readme_shows_is_a_rule_of_ours() -> None:
    from paramedic.rules.catalogue import all_rules

    known = {rule.code: rule.name for rule in all_rules()}
    text = (ROOT / "README.md").read_text()
    assert set(re.findall(r"\bPM\d{3}\b", text)) <= set(known)
    for code, name in re.findall(r"[✗▲•] (PM\d{3}) ([a-z-]+)", text):
        assert known[code] == name


def test_the_makefile_has_the_promised_targets_and_one_torch() -> None:
    makefile = (ROOT / "Makefile").read_text()
    for target in ("demo", "test", "check", "bench", "docs"):
        assert re.search(rf"^{target}:", makefile, flags=re.MULTILINE), target
    assert "torch==2.13.0" in (ROOT / "constraints.txt").read_text()
    assert (ROOT / "CONTRIBUTING.md").exists() and (ROOT / "CHANGELOG.md").exists()
    assert (ROOT / ".ci" / "run").stat().st_mode & 0o100


def test_what_the_programs_import_gets_installed() -> None:
    """`make demo` and `make test` work on a fresh clone."""
    project, makefile = (ROOT / "pyproject.toml").read_text(), (ROOT / "Makefile").read_text()
    runtime = project.partition("dependencies = [")[2].partition("]")[0]
    assert "scikit-learn" in runtime or "scikit-learn" in makefile, "examples/ and cases/ import sklearn"
