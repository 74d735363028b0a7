"""SARIF, JUnit, annotations and baselines: what a build server reads."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from pathlib import Path
from xml.etree import ElementTree as Xml

import pytest
from sarif_pydantic import Sarif

from diagnoses import CLIP, HEALTHY, INCONCLUSIVE, SICK, SOFTMAX
from paramedic import baseline
from paramedic.findings import Diagnosis, Where
from paramedic.reports import annotations, junit, sarif


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    """A folder below the top of a repository, where the script was started."""
    (tmp_path / ".git").mkdir()
    (tmp_path / "experiments").mkdir()
    return tmp_path / "experiments"


def known(diagnosis: Diagnosis, base: Path, folder: Path) -> Diagnosis:
    (folder / "known.json").write_text(baseline.text_of(diagnosis, base))
    return baseline.marked(diagnosis, baseline.read(folder / "known.json"), base)


@pytest.mark.parametrize("diagnosis", [SICK, HEALTHY, INCONCLUSIVE])
def test_sarif_is_valid(diagnosis: Diagnosis, repository: Path) -> None:
    text = sarif.render(diagnosis, repository)
    Sarif.model_validate_json(text)
    (run,) = json.loads(text)["runs"]
    assert len(run["results"]) == len(diagnosis.findings)
    rules = run["tool"]["driver"]["rules"]
    for result in run["results"]:
        assert rules[result["ruleIndex"]]["id"] == result["ruleId"] and result["message"]["text"]
        assert result["level"] in ("error", "warning", "note")


def test_sarif_places_are_seen_from_the_top_of_the_repository(repository: Path) -> None:
    (run,) = json.loads(sarif.render(SICK, repository))["runs"]
    place = run["results"][0]["locations"][0]["physicalLocation"]
    assert place == {"artifactLocation": {"uri": "experiments/train.py"}, "region": {"startLine": 41}}


def test_sarif_says_what_was_not_looked_at(repository: Path) -> None:
    (run,) = json.loads(sarif.render(INCONCLUSIVE, repository))["runs"]
    said = [notice["message"]["text"] for notice in run["invocations"][0]["toolExecutionNotifications"]]
    assert said == ["inconclusive: no optimizer step was seen"]


def test_sarif_tells_known_findings_from_new_ones(repository: Path, tmp_path: Path) -> None:
    old = known(replace(SICK, findings=(SOFTMAX,)), repository, tmp_path)
    both = baseline.marked(SICK, baseline.read(tmp_path / "known.json"), repository)
    states = [r.get("baselineState") for r in json.loads(sarif.render(both, repository))["runs"][0]["results"]]
    assert states == ["unchanged", "new", "new", None]  # a note is neither
    assert not old.new_alarms and [finding.code for finding in both.new_alarms] == ["PM207", "PM604"]


def test_a_fingerprint_survives_lines_that_move() -> None:
    moved = replace(SOFTMAX, where=replace(SOFTMAX.where, line=48))
    run = replace(SICK.run, source={"train.py:48": SICK.run.source["train.py:41"]})
    old, new = (
        json.loads(sarif.render(replace(SICK, findings=(f,), run=r)))["runs"][0]["results"][0]["partialFingerprints"]
        for f, r in ((SOFTMAX, SICK.run), (moved, run))
    )
    assert old == new


def test_junit_has_a_test_for_every_rule(repository: Path) -> None:
    (suite,) = Xml.fromstring(junit.render(SICK, repository))
    assert (suite.get("tests"), suite.get("failures"), suite.get("errors"), suite.get("skipped")) == (
        "11",
        "3",
        "1",
        "3",
    )
    case = suite[0]
    assert (case.get("file"), case.get("line")) == ("experiments/train.py", "41")
    failure = case.find("failure")
    assert failure is not None and failure.get("message") == SOFTMAX.what and SOFTMAX.remedy in (failure.text or "")


def test_junit_does_not_fail_on_what_is_known_or_unknown(repository: Path, tmp_path: Path) -> None:
    for diagnosis in (known(SICK, repository, tmp_path), HEALTHY, INCONCLUSIVE):
        (suite,) = Xml.fromstring(junit.render(diagnosis, repository))
        assert suite.get("failures") == "0"


def test_junit_survives_what_xml_cannot_hold() -> None:
    odd = replace(SOFTMAX, what="a\x00b\x1b[31m <&> \udc80")
    (suite,) = Xml.fromstring(junit.render(replace(SICK, findings=(odd,))).encode())
    failure = suite[0].find("failure")
    assert failure is not None and (failure.get("message") or "").startswith("a�b�[31m <&>")


def test_github_lines_are_commands(repository: Path) -> None:
    text = annotations.github(SICK, repository)
    first, *_, last = text.splitlines()
    assert first.startswith("::error file=experiments/train.py,line=41,title=PM502 softmax-before-cross-entropy::")
    assert "%0ATry%3A" not in first and "%0ATry: " in first and last.startswith("::notice ")
    assert len(text.splitlines()) == len(SICK.findings)


def test_github_cannot_be_given_commands_by_a_name(repository: Path) -> None:
    odd = replace(SOFTMAX, what="50%\n::set-env name=A::B", where=Where(file="a,b:c.py", line=3))
    (line,) = annotations.github(replace(SICK, findings=(odd,)), repository).splitlines()
    assert "file=experiments/a%2Cb%3Ac.py,line=3," in line and "50%25%0A::set-env" in line


def test_gitlab_gets_a_code_quality_report(repository: Path) -> None:
    found = json.loads(annotations.gitlab(SICK, repository))
    assert found[0]["location"] == {"path": "experiments/train.py", "lines": {"begin": 41}}
    assert {entry["severity"] for entry in found} <= {"info", "minor", "major", "critical", "blocker"}
    assert len({entry["fingerprint"] for entry in found}) == len(found)
    assert all(entry["description"] and entry["check_name"] for entry in found)


def test_lines_are_those_of_a_compiler(repository: Path) -> None:
    gcc = re.compile(r"^(.*?):(\d+):(\d+): (error|warning|note): (.+)$")
    text = annotations.lines(SICK, repository).splitlines()
    assert len(text) == len(SICK.findings) and all(gcc.match(line) for line in text)
    assert text[0].startswith("train.py:41:1: error: PM502 ")  # an editor opens it from here


def test_the_service_is_recognised(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("GITHUB_ACTIONS", "GITLAB_CI"):
        monkeypatch.delenv(name, raising=False)
    assert annotations.service() == "lines"
    monkeypatch.setenv("GITLAB_CI", "true")
    assert annotations.service() == "gitlab"
    monkeypatch.setenv("GITHUB_ACTIONS", "true")
    assert annotations.service() == "github"


def test_a_second_finding_like_a_known_one_is_new(repository: Path, tmp_path: Path) -> None:
    once = replace(SICK, findings=(CLIP,))
    known(once, repository, tmp_path)
    twice = baseline.marked(replace(SICK, findings=(CLIP, CLIP)), baseline.read(tmp_path / "known.json"), repository)
    assert [finding.known for finding in twice.findings] == [True, False]
