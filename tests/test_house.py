"""The rules of the house: small files, torch in its place, a quick and helpful command line."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
import typer.main

from paramedic.cli.app import app
from workshop import Workshop

ROOT = Path(__file__).parents[1]
SOURCE = ROOT / "src" / "paramedic"
FILES = sorted(SOURCE.rglob("*.py"))
COMMANDS = tuple(typer.main.get_command(app).commands)
MAY_IMPORT_TORCH = ("capture", "lab", "postmortem", "integrations", "examples", "synth", "testing", "shapes", "parity")

MAY_IMPORT = {  # package -> packages, lazy imports and those for types included; modules beside them are free
    "assistants": {"rules"},
    "audit": {"record", "reports", "rules"},
    "capture": {"postmortem", "record", "shapes"},
    "cli": {
        "assistants",
        "audit",
        "capture",
        "cure",
        "journal",
        "lab",
        "parity",
        "postmortem",
        "record",
        "reports",
        "rules",
        "serve",
        "shapes",
        "synth",
        "testing",
    },
    "cure": {"lab", "rules"},
    "journal": {"record", "reports"},
    "lab": {"audit", "capture", "record", "reports", "rules", "synth"},
    "parity": {"lab", "record", "reports", "synth"},
    "postmortem": {"capture", "reports", "rules"},
    "reports": {"cure", "lab", "record", "rules"},
    "rules": {"audit", "record", "static"},
    "serve": {"record", "reports", "rules"},
    "shapes": {"capture", "synth", "testing"},
    "static": {"record"},
    "testing": {"audit", "capture", "lab", "rules", "shapes", "synth"},
}


def test_no_file_is_longer_than_400_lines() -> None:
    checked = [*FILES, *(ROOT / "tests").glob("*.py")]
    assert {path.name: n for path in checked if (n := len(path.read_text().splitlines())) > 400} == {}


def test_torch_is_imported_in_capture_only() -> None:
    found = [
        f"{path.relative_to(SOURCE)}:{node.lineno}"
        for path in FILES
        if path.relative_to(SOURCE).parts[0] not in MAY_IMPORT_TORCH
        for node in imports(path, "torch")
    ]
    assert found == []


def test_packages_import_only_what_the_table_allows() -> None:
    """Data flows one way: what the rules and reports may see is the record, and nobody below knows the command line."""
    found: dict[str, set[str]] = {}
    for path in FILES:
        own, *inside = path.relative_to(SOURCE).parts
        for name in imported(path) if inside else ():
            package = name.split(".")[1] if name.startswith("paramedic.") else ""
            if package != own and (SOURCE / package / "__init__.py").exists() and package:
                found.setdefault(own, set()).add(package)
    assert {own: known for own, names in found.items() if (known := names - MAY_IMPORT.get(own, set()))} == {}


def imported(path: Path) -> Iterator[str]:
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            bare = node.module == "paramedic"
            yield from (f"paramedic.{alias.name}" for alias in node.names) if bare else (node.module or "",)


def imports(path: Path, package: str) -> Iterator[ast.stmt]:
    for node in ast.walk(ast.parse(path.read_text())):
        names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
        if isinstance(node, ast.ImportFrom):
            names = [node.module or ""]
        if any(name == package or name.startswith(package + ".") for name in names):
            yield node  # type: ignore[misc]


def test_nothing_is_left_to_do_or_printed_by_rules() -> None:
    for path in FILES:
        text = path.read_text()
        assert not re.search(r"\b(TODO|FIXME|XXX|HACK)\b", text), path
        if "rules" in path.relative_to(SOURCE).parts[:1]:
            assert "print(" not in text, path


def test_every_file_says_what_it_is_for() -> None:
    assert [str(path.relative_to(SOURCE)) for path in FILES if not ast.get_docstring(ast.parse(path.read_text()))] == []


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
def test_every_command_explains_itself_with_an_example(shop: Workshop, command: str) -> None:
    done = shop.paramedic(command, "--help")
    assert done.code == 0 and done.stderr == ""
    assert re.search(rf"Examples?:\s+paramedic {command}\b", done.stdout)
    assert shop.paramedic(command, "-h").stdout == done.stdout


def test_the_commands_are_all_listed(shop: Workshop) -> None:
    text = shop.paramedic("--help").stdout
    assert all(re.search(rf"\b{command}\b", text) for command in COMMANDS)
    assert shop.paramedic("no-such-command").code == 2


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
