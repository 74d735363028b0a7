"""The page of `paramedic diagnose` says what its terminal says."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

import pytest

from diagnoses import HEALTHY
from page import Page
from paramedic.lab import report as experiments
from paramedic.lab.experiment import Result
from paramedic.lab.reasoning import Reading
from paramedic.lab.verdict import Cause, Conclusion
from recording import Recording


@pytest.fixture
def baseline(tmp_path: Path) -> Path:
    recording = Recording(tmp_path / "baseline")
    recording.steps(20)
    return recording.end()


@pytest.mark.parametrize(
    ("cause", "tone", "word"),
    [
        ("unknown", "inconclusive", "No cause was found"),
        ("data", "sick", "The data is the problem"),
        ("none", "healthy", "Nothing wrong found"),
    ],
)
def test_the_headline_is_the_terminals(
    cause: Cause, tone: str, word: str, baseline: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    result = Result(name="baseline", changed="nothing", status="ended", run="", seconds=1.0, values=(2.0, 1.0, 0.5))
    conclusion = Conclusion(
        cause=cause,
        confidence=0.9,
        because="nothing is learnt from the inputs, and no experiment shows why",
        reasoning=(Reading(question="learns a single batch?", answer="yes", ruled_out="it learns a single batch"),),
        diagnosis=replace(HEALTHY, run=replace(HEALTHY.run, record=str(baseline))),
        results=(result,),
        meanings=("the loss does not fall",),
        seconds=4.0,
    )
    html = experiments.render_html(conclusion)
    experiments.show(conclusion, verbose=0, quiet=False)
    said = " ".join(capsys.readouterr().err.split()).partition("Verdict: ")[2]
    page = Page(html)
    assert f'class="verdict {tone}"' in html and f"{word} {said.partition('. ')[2]}" in page.text
    assert said.lower().startswith(word.lower())
    assert ("Healthy" in page.text) is False and "it learns a single batch" in page.text
    assert "Gradients" in page.text, "the maps of the baseline"
    assert re.search(r"<title>.*" + word.lower(), html)
