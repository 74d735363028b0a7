"""Every rule is complete: code, name, documentation, options, a pair of programs, a row in the catalogue, a page."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from paramedic.findings import SEVERITY_ORDER, Finding
from paramedic.record.facts import all_kinds
from paramedic.rules.catalogue import FAMILIES, all_rules
from paramedic.rules.rule import CODE, HEADINGS, NAME, Rule, rule
from workshop import ROOT

RULES = [each for each in all_rules() if each.code.startswith("PM")]
each_rule = pytest.mark.parametrize("rule", RULES, ids=[each.code for each in RULES])

# The rules that the first part of the work promised, with their names. They are a contract: never renumbered or reused.
CONTRACT = {
    "PM105": "non-finite-input",
    "PM207": "loss-not-decreasing",
    "PM209": "constant-prediction",
    "PM304": "label-out-of-range",
    "PM305": "class-imbalance",
    "PM306": "unshuffled-training-data",
    "PM401": "unregistered-module",
    "PM402": "parameter-without-optimizer",
    "PM403": "parameter-without-gradient",
    "PM404": "ineffective-freeze",
    "PM405": "unchanged-parameter",
    "PM406": "shared-by-accident",
    "PM407": "stale-optimizer",
    "PM409": "checkpoint-not-loaded",
    "PM412": "unused-module",
    "PM414": "softmax-over-wrong-dim",
    "PM416": "batchnorm-batch-of-one",
    "PM501": "loss-broadcast",
    "PM502": "softmax-before-cross-entropy",
    "PM503": "sigmoid-before-bce-with-logits",
    "PM504": "wrong-loss-input",
    "PM505": "single-class-loss",
    "PM506": "constant-loss-term",
    "PM508": "all-targets-ignored",
    "PM509": "ignore-index-mismatch",
    "PM512": "output-range-mismatch",
    "PM601": "gradients-not-cleared",
    "PM602": "gradients-discarded",
    "PM604": "ineffective-clipping",
    "PM605": "clipped-scaled-gradients",
    "PM606": "scaler-misuse",
    "PM607": "scheduler-before-optimizer",
    "PM610": "step-without-gradient",
    "PM611": "eval-mode-in-training",
    "PM612": "train-mode-in-evaluation",
    "PM613": "always-on-dropout",
}


def test_every_promised_rule_is_there_under_its_name() -> None:
    assert {code: name for code, name in names().items() if code in CONTRACT} == CONTRACT


def names() -> dict[str, str]:
    return {each.code: each.name for each in RULES}


def test_codes_and_names_are_unique_and_ordered() -> None:
    codes = [each.code for each in all_rules()]
    assert codes == sorted(set(codes))
    assert len({each.name for each in all_rules()}) == len(codes)


def test_no_file_holds_two_rules() -> None:
    files = [each.file for each in RULES]
    assert sorted(set(files)) == sorted(files)


@each_rule
def test_code_name_and_family(rule: Rule) -> None:
    assert CODE.fullmatch(rule.code) and NAME.fullmatch(rule.name)
    assert rule.code[:3] in FAMILIES
    assert rule.severity in SEVERITY_ORDER
    assert set(rule.needs) <= set(all_kinds())
    assert Path(rule.file).stem == rule.name.replace("-", "_")


@each_rule
def test_causes_are_codes_of_the_catalogue(rule: Rule) -> None:
    for cause in rule.causes:
        assert re.fullmatch(r"PM\d{1,3}", cause)
        assert rule.code != cause


@each_rule
def test_documentation(rule: Rule) -> None:
    text = rule.documentation
    assert rule.summary.endswith(".") and len(rule.summary) <= 120, "the first line says what is wrong, in one sentence"
    headings = re.findall(r"^## (.+)$", text, flags=re.MULTILINE)
    wanted = [*HEADINGS, *(["Options"] if rule.options else [])]
    assert headings == wanted
    for heading, section in zip(headings, re.split(r"^## .+$", text, flags=re.MULTILINE)[1:], strict=True):
        assert section.strip(), f"{heading} is empty"


@each_rule
def test_every_option_is_documented_and_has_a_default(rule: Rule) -> None:
    _, _, section = rule.documentation.partition("## Options")
    for option, default in rule.options.items():
        assert f"`{option}`" in section, f"{option} is not explained"
        assert isinstance(default, bool | int | float | str | tuple), "a settings file must be able to set it"


@each_rule
def test_a_sick_and_a_healthy_program(rule: Rule) -> None:
    folder = ROOT / "cases" / f"{rule.code}-{rule.name}"
    for name in ("sick.py", "healthy.py"):
        source = (folder / name).read_text()
        assert ast.get_docstring(ast.parse(source)), "a real program says what it does"
        assert "paramedic" not in source, "they are other people's scripts"


def test_every_case_folder_belongs_to_a_rule() -> None:
    folders = [
        path.name for path in (ROOT / "cases").iterdir() if path.is_dir() and not path.name.startswith((".", "_"))
    ]
    assert sorted(folders) == sorted(f"{each.code}-{each.name}" for each in RULES)


def test_the_pages_in_docs_are_the_generated_ones() -> None:
    program = (
        "import runpy\n"
        "pages = runpy.run_path('docs/generate.py')['pages']()\n"
        "print([str(p) for p, text in pages.items() if not p.exists() or p.read_text(encoding='utf-8') != text])\n"
        "rules = next(iter(pages)).parent\n"
        "print([p.name for p in rules.iterdir() if p not in pages])\n"
    )
    done = subprocess.run([sys.executable, "-c", program], cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.stdout.splitlines() == ["[]", "[]"], f"run make docs: {done.stdout}{done.stderr}"


@pytest.mark.parametrize(
    ("code", "name", "needs", "said"),
    [
        ("pm502", "fine", (), "rule code"),
        ("PM50", "fine", (), "rule code"),
        ("XX100", "Not-Kebab", (), "rule name"),
        ("XX100", "with space", (), "rule name"),
        ("XX100", "fine", ("nonsense",), "nonsense"),
    ],
)
def test_a_badly_declared_rule_is_refused(code: str, name: str, needs: Any, said: str) -> None:
    def check(run: object) -> Iterator[Finding]:
        yield from ()

    with pytest.raises(ValueError, match=said):
        rule(code, name, severity="error", needs=needs)(check)
