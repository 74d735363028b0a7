"""An edit is confirmed by what its run shows, and by nothing else."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from paramedic.cure.edit import Edit
from paramedic.cure.proof import Trial, prove
from paramedic.cure.report import curves
from paramedic.cure.scores import comparable, got_worse, printed
from paramedic.findings import Abstention, Diagnosis, Finding, LossCurve, RunFacts
from paramedic.lab.experiment import Result

EDIT = Edit(title="an edit", file="train.py", splices=())


def finding(code: str) -> Finding:
    return Finding(what="what", why="why", remedy="try", code=code, name="name", severity="error")


def trial(*codes: str, last: float = 1.0, **fields: Any) -> Trial:
    """A run that found these codes."""
    metrics = fields.pop("metrics", {})
    abstained = fields.pop("abstained", ())
    curve = LossCurve(label="train.py:1", steps=(0, 1), values=(2.0, fields.pop("ends", last)))
    known = {"name": "edit-1", "changed": "", "status": "ended", "run": "", "steps": 100, "first": 2.0, "last": last}
    diagnosis = Diagnosis(
        verdict="sick", findings=tuple(map(finding, codes)), clear=(), abstained=abstained, crashed=(),
        run=RunFacts(id="", record="", losses=(curve,)),
    )  # fmt: skip
    return Trial(result=Result(**(known | fields)), diagnosis=diagnosis, metrics=metrics)


BEFORE = trial("PM601", last=1.0, metrics={"valid accuracy": 0.6})


@pytest.mark.parametrize(
    ("after", "said"),
    [
        (trial("PM601"), "still there"),
        (trial("PM205"), "another alarm: PM205"),
        (trial(status="crashed", reason="TypeError at train.py:3"), "TypeError at train.py:3"),
        (trial(steps=40), "stopped after 40 of 100 steps"),
        (trial(last=1.5), "loss ends higher"),
        (trial(last=0.5, metrics={"valid accuracy": 0.4}), "valid accuracy got worse: 0.6 → 0.4"),
        (trial(last=0.5, ends=float("nan")), "not finite"),
        (
            trial("PM205", "PM101", steps=22, status="crashed", reason="exit code 3", ends=float("nan")),
            "not finite at step 22 · PM205 name",
        ),
        (trial(abstained=(Abstention(code="PM601", reason="could not look", blind=True),)), "could not be checked"),
        (Trial(result=BEFORE.result, diagnosis=None), "the edited program"),
    ],
)
def test_what_speaks_against_an_edit(after: Trial, said: str) -> None:
    proof = prove(EDIT, "", finding("PM601"), BEFORE, after)
    assert not proof.confirmed
    assert said in proof.because


def test_what_speaks_for_it() -> None:
    proof = prove(EDIT, "", finding("PM601"), BEFORE, trial(last=0.5, metrics={"valid accuracy": 0.9}))
    assert proof.confirmed
    assert proof.because == "finding gone; no new alarm; valid accuracy 0.6 → 0.9"


def test_another_finding_of_the_same_rule_may_remain() -> None:
    assert prove(EDIT, "", finding("PM601"), trial("PM601", "PM601"), trial("PM601")).confirmed


def test_a_loss_with_another_meaning_is_not_compared() -> None:
    after = trial(last=5.0)
    assert not prove(EDIT, "", finding("PM601"), BEFORE, after).confirmed
    other = replace(EDIT, compare="metrics")
    assert prove(other, "", finding("PM601"), BEFORE, after).confirmed
    flattered = trial(metrics={"valid accuracy": 0.4})
    assert not prove(other, "", finding("PM601"), BEFORE, flattered).confirmed
    assert prove(replace(EDIT, compare="nothing"), "", finding("PM601"), BEFORE, flattered).confirmed


def test_a_split_that_leaves_less_to_train_on_may_take_fewer_steps() -> None:
    split = replace(EDIT, compare="nothing")
    assert prove(split, "", finding("PM307"), trial("PM307"), trial(steps=80)).confirmed
    assert not prove(split, "", finding("PM307"), trial("PM307"), trial(steps=80, status="stopped")).confirmed
    assert not prove(EDIT, "", finding("PM307"), trial("PM307"), trial(steps=80)).confirmed


def test_after_a_nan_any_finite_loss_is_better() -> None:
    assert prove(EDIT, "", finding("PM101"), trial("PM101", last=0.1, ends=float("nan")), trial(last=3.0)).confirmed


def test_metrics_as_scripts_print_them(tmp_path: Path) -> None:
    output = tmp_path / "output.txt"
    output.write_text(
        "epoch 0: loss 2.198  validation accuracy 0.525\n"
        "epoch 1: loss 1.498  validation accuracy 0.981\n"
        "Test Acc: 81.5%  (n=200)\nval_rmse=3.2e-1, lr 0.1\n"
    )
    found = printed(output)
    assert found == {"loss": 1.498, "validation accuracy": 0.981, "test acc": 0.815, "val rmse": 0.32}
    assert comparable(found, found | {"loss": 9.0}).keys() == {"validation accuracy", "test acc", "val rmse"}
    assert got_worse("validation accuracy", 0.9, 0.8) and not got_worse("validation accuracy", 0.9, 0.87)
    assert got_worse("val rmse", 3.0, 4.0) and not got_worse("val rmse", 3.0, 2.0)
    assert printed(tmp_path / "missing.txt") == {}


def test_curves_share_a_scale_unless_the_loss_means_something_else_now() -> None:
    before, after = trial(values=(8.0, 8.0), first=8.0, last=8.0), trial(values=(8.0, 1.0), first=8.0, last=1.0)
    for compare, flat in (("loss", "██"), ("metrics", "▁▁")):
        proof = prove(replace(EDIT, compare=compare), "", finding("PM601"), before, after)  # type: ignore[arg-type]
        assert curves(proof) == [("before", f"loss 8 → 8 {flat}"), ("after", "loss 8 → 1 █▁")]
