"""The contract for machines, key by key."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy
import pytest

from diagnoses import HEALTHY, INCONCLUSIVE, RUN, SICK, SOFTMAX
from paramedic.findings import Evidence
from paramedic.reports.json import render


def refuse(constant: str) -> None:
    raise AssertionError(f"{constant} is not JSON")


def load(text: str) -> dict[str, Any]:
    return json.loads(text, parse_constant=refuse)  # Python's parser alone would accept a bare NaN


def evidence(value: object) -> Any:
    finding = replace(SOFTMAX, evidence=(Evidence(name="x", value=value),))
    return load(render(replace(SICK, findings=(finding,))))["findings"][0]["evidence"][0]["value"]


def test_top_level() -> None:
    report = load(render(SICK))
    assert list(report)[:5] == ["schema_version", "verdict", "findings", "rules", "run"]
    assert report["schema_version"] == 1 and report["verdict"] == "sick"


def test_the_root_cause_is_first_and_complete() -> None:
    assert load(render(SICK))["findings"][0] == {
        "code": "PM502",
        "name": "softmax-before-cross-entropy",
        "severity": "error",
        "confidence": 0.99,
        "what": SOFTMAX.what,
        "why": SOFTMAX.why,
        "try": SOFTMAX.remedy,
        "evidence": [
            {"name": "row_sum", "value": 1.0, "limit": "1 ± 0.001"},
            {"name": "rows", "value": 32, "limit": ""},
            {"name": "smallest_value", "value": 1.2345678e-05, "limit": "≥ 0"},
        ],
        "where": {
            "file": "train.py",
            "line": 41,
            "function": "train",
            "module": "net.head (Softmax)",
            "step": 0,
            "rank": 0,
        },
        "consequence_of": None,
        "split": None,
        "samples": [],
        "columns": [],
        "files": [],
        "also": [],
        "known": None,
    }


def test_consequences_and_order_are_kept() -> None:
    findings = load(render(SICK))["findings"]
    assert [(f["code"], f["consequence_of"]) for f in findings] == [
        ("PM502", None),
        ("PM207", "PM502"),
        ("PM604", None),
        ("PM706", None),
    ]
    assert findings[3]["where"] == {
        "file": "train.py", "line": 7, "function": None, "module": None, "step": None, "rank": 0
    }  # fmt: skip


def test_rules() -> None:
    assert load(render(SICK))["rules"] == {
        "clear": ["PM101", "PM402", "PM601"],
        "abstained": [
            {"code": "PM306", "reason": "no DataLoader is used", "blind": False, "try": ""},
            {"code": "PM307", "reason": "only 3 steps; 20 are needed", "blind": False, "try": "run it for 20 steps"},
            {"code": "PM701", "reason": "no DataLoader is used", "blind": False, "try": ""},
        ],
        "crashed": [{"code": "PM999", "error": "KeyError: 'shape'"}],
    }


def test_run() -> None:
    run = load(render(SICK))["run"]
    assert list(run)[:6] == ["id", "steps", "seconds", "exit_code", "overhead", "record"]
    assert [run[key] for key in list(run)[:6]] == ["train-7", 120, 9.1, 0, 0.009, ".paramedic/runs/train-7"]


def test_unknown_is_null() -> None:
    run = load(render(replace(SICK, run=replace(RUN, exit_code=None, overhead=None))))["run"]
    assert run["exit_code"] is None and run["overhead"] is None


def test_the_other_verdicts() -> None:
    assert load(render(HEALTHY))["verdict"] == "healthy" and load(render(HEALTHY))["findings"] == []
    report = load(render(INCONCLUSIVE))
    assert (report["verdict"], report["reason"]) == ("inconclusive", "no optimizer step was seen")


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (float("nan"), "NaN"),
        (float("inf"), "Infinity"),
        (float("-inf"), "-Infinity"),
        ([1.0, float("nan"), (2, None)], [1.0, "NaN", [2, None]]),
        ({"a": float("inf"), 3: True}, {"a": "Infinity", "3": True}),
        (numpy.float32("nan"), "NaN"),
        (numpy.int64(7), 7),
        (Path("a"), "a"),
        ("\udc80", "\udc80"),
    ],
)
def test_any_evidence_survives(value: object, expected: object) -> None:
    assert evidence(value) == expected


def test_the_file_can_be_written_in_any_encoding() -> None:
    assert render(SICK).isascii() and render(SICK).endswith("}\n")
