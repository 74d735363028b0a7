"""A verdict is read from all outcomes together: records of experiments are written, and the verdict is asked for."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path
from typing import Any

import pytest

from paramedic.diagnosis import diagnose
from paramedic.lab import plan, verdict
from paramedic.lab.experiment import Experiment, Result
from paramedic.lab.outcome import measure
from paramedic.lab.reasoning import readings
from paramedic.record.facts import Asked, Backward, Batch, Loader, LogProb, LossCall, Mixing, Tensor, Trial
from paramedic.record.reader import Run, open_runs
from paramedic.record.writer import Site, Writer, append
from paramedic.rules.catalogue import select
from paramedic.rules.experiments import Lab, Tried
from paramedic.rules.own_metrics import repaired
from paramedic.settings import Settings

Make = Callable[..., Run]
STRONG = {
    "task": "classes", "samples": 900, "best": "random forest", "score": 0.97, "chance": 0.1, "own": 0.99,
    "structure": 2.0, "copy": None,
    "models": {"random forest": {"z": 40.0, "strength": 0.95, "error": 0.02, "skill": 0.9}},
}  # fmt: skip
NOTHING = STRONG | {
    "score": 0.1, "models": {"linear model": {"z": 0.3, "strength": 0.01, "error": 0.04, "skill": -0.02}},
}  # fmt: skip
OTHER_SETTINGS = dict.fromkeys(("lr-up", "lr-down", "steady-rate", "plain-optimizer", "no-regularisation"), 2.3)


@pytest.fixture
def made(tmp_path: Path) -> Make:
    def make(*, simple: dict[str, Any] | None = None, exam: float | None = None, noted: Any = None, **last: Any) -> Run:
        writer = Writer(tmp_path / "run" / "main.db", meta={"exit_code": 0})
        writer.start()
        backward = Backward(scalar=True, leaf=False, function="cross_entropy", parameters=4)
        writer.state(backward, step=0, phase="train", site=Site("train.py", 9, None))
        for fact in last.pop("facts", ()):
            writer.state(fact, step=0, phase="train", site=Site("train.py", 9, None))
        for step in range(40):
            writer.point("loss:train.py:9", step, 2.3 + (last["baseline"] - 2.3) * step / 39)
        writer.close()
        for name, end in last.items():
            told = result(name.replace("_", "-"), end, exam=exam if name == "held_out" else None)
            keep(tmp_path, told, noted=noted if name == "baseline" else None)
        if simple is not None:
            keep(tmp_path, Result(name="simple-models", changed="", status="ended", run="", answer=simple))
        return open_runs(tmp_path / "run")[0]

    return make


def result(name: str, end: float, exam: float | None) -> Result:
    return Result(name=name, changed="", status="ended", run="", steps=200, first=2.3, last=end, lowest=end,
                  noise=0.001, values=(2.3, end), exam=exam)  # fmt: skip


def keep(folder: Path, told: Result, **more: Any) -> None:
    append(folder / "run" / "main.db", Trial(**(asdict(told) | more)))


def concluded(run: Run, tmp_path: Path) -> tuple[str, float | None, str]:
    return verdict.conclude(diagnose(tmp_path / "run", select(), {}), run)


def test_a_model_far_behind_a_forest_is_not_healthy_however_its_loss_falls(made: Make, tmp_path: Path) -> None:
    run = made(baseline=1.8, permuted_labels=2.301, held_out=1.9, one_batch=0.01, twin=0.4, simple=STRONG, exam=1.9)
    assert Lab(run).trouble == "lags"
    assert concluded(run, tmp_path)[0] == "unknown"  # no setting was tried yet
    wanted = plan.stage(run, {"baseline": result("baseline", 1.8, None)} | done(run), named=False, found=False)
    assert [experiment.name for experiment in wanted] == ["lr-down", "lr-up", "steady-rate"]


def done(run: Run) -> dict[str, Any]:
    return {name: result(name, tried.last, None) for name, tried in Lab(run).tried.items()}


def test_what_is_left_when_data_and_settings_are_ruled_out_is_the_code(made: Make, tmp_path: Path) -> None:
    others = {name.replace("-", "_"): end for name, end in OTHER_SETTINGS.items()} | {"one_batch_range": 0.1}
    run = made(baseline=2.3, permuted_labels=2.301, held_out=2.3, one_batch=0.01, twin=0.4, simple=STRONG, exam=2.3,
               **others)  # fmt: skip
    cause, sure, because = concluded(run, tmp_path)
    assert cause == "model" and sure is not None and sure < 0.8
    assert "neither the data nor a setting" in because
    assert {row.rules_out for row in readings(Lab(run))} >= {"data", "settings"}


def test_a_schedule_that_is_in_the_way_is_a_setting(made: Make, tmp_path: Path) -> None:
    run = made(baseline=2.3, permuted_labels=2.301, held_out=2.3, one_batch=0.5, twin=0.4, simple=STRONG, exam=2.3,
               steady_rate=0.3)  # fmt: skip
    cause, _, because = concluded(run, tmp_path)
    assert cause == "settings" and "first value" in because


def test_data_without_a_signal(made: Make, tmp_path: Path) -> None:
    run = made(baseline=2.3, permuted_labels=2.301, held_out=2.3, one_batch=0.01, twin=0.4, simple=NOTHING, exam=2.3)
    assert concluded(run, tmp_path)[0] == "data"
    assert any(row.points_to == "data" for row in readings(Lab(run)))


def test_samples_learnt_by_heart_for_which_there_is_no_rule(made: Make, tmp_path: Path) -> None:
    """The loss falls a little, and further than with permuted labels; on unseen samples it is worse than guessing."""
    others = {"one_batch": 0.01, "twin": 0.02, "linear_model": 2.22}
    run = made(baseline=2.14, permuted_labels=2.33, held_out=2.1, simple=NOTHING, exam=2.46, **others)
    assert concluded(run, tmp_path)[0] == "data"


def test_a_test_metric_that_never_moves_is_no_success(made: Make, tmp_path: Path) -> None:
    printed = {"printed": {"test": {"values": [0.49, 0.52, 0.51], "higher": True}}}
    run = made(baseline=0.01, permuted_labels=2.31, one_batch=0.001, noted=printed)
    cause, sure, because = concluded(run, tmp_path)
    assert (cause, sure) == ("unknown", None) and "test stays at 0.51" in because


def test_inputs_that_are_all_the_same_are_blamed_before_the_code(made: Make, tmp_path: Path) -> None:
    same = {"task": None, "reason": "only 1 different sample was seen", "kept": 900, "different_inputs": 1,
            "different_targets": 10, "told": 0.0}  # fmt: skip
    others = {name.replace("-", "_"): end for name, end in OTHER_SETTINGS.items()} | {"one_batch_range": 2.29}
    run = made(baseline=2.3, permuted_labels=2.301, held_out=2.3, one_batch=2.29, twin=0.4, simple=same, **others)
    cause, _, because = concluded(run, tmp_path)
    assert cause == "data" and "the same input" in because


def test_healthy_needs_experiments_that_could_have_shown_the_opposite(made: Make, tmp_path: Path) -> None:
    run = made(baseline=0.2)
    cause, sure, _ = concluded(run, tmp_path)
    assert (cause, sure) == ("unknown", None)


def test_a_healthy_script_is_called_healthy(made: Make, tmp_path: Path) -> None:
    run = made(baseline=0.2, permuted_labels=2.301, held_out=0.3, one_batch=0.01, twin=0.1, simple=STRONG, exam=0.3)
    cause, sure, _ = concluded(run, tmp_path)
    assert cause == "none" and sure == verdict.SHOWN


def test_healthy_is_less_certain_beside_a_much_better_simple_model(made: Make, tmp_path: Path) -> None:
    run = made(baseline=0.5, permuted_labels=2.301, held_out=0.6, one_batch=0.01, twin=0.1, simple=STRONG, exam=1.5)
    cause, sure, because = concluded(run, tmp_path)
    assert (cause, sure) == ("none", verdict.HALF_AS_GOOD) and "simple models do better" in because


def test_where_there_is_little_to_know_a_model_that_knows_it_is_healthy(made: Make, tmp_path: Path) -> None:
    weak = STRONG | {
        "score": 0.15,
        "models": {"linear model": {"z": 9.0, "strength": 0.2, "error": 0.02, "skill": 0.05}},
    }
    run = made(baseline=2.21, permuted_labels=2.301, held_out=2.21, one_batch=0.01, twin=0.4, simple=weak, exam=2.2)
    assert concluded(run, tmp_path)[0] == "none"
    run = made(baseline=2.29, permuted_labels=2.301, held_out=2.3, one_batch=0.01, twin=0.4, simple=weak, exam=2.3)
    assert concluded(run, tmp_path)[0] == "unknown"


def test_triplets_that_learn_nothing_are_compared_with_empty_inputs(made: Make, tmp_path: Path) -> None:
    noted = {"targets": 0, "drawn_again": False}
    run = made(baseline=0.5, zeroed_inputs=0.501, held_out=0.5, one_batch=0.001, exam=0.5, noted=noted)
    assert Lab(run).trouble == "flat"
    drawn = made(baseline=0.5, zeroed_inputs=0.501, noted=noted | {"drawn_again": True})
    assert Lab(drawn).control is None


def test_a_crash_before_the_first_step_is_shown_with_its_reason(tmp_path: Path) -> None:
    (tmp_path / "output.txt").write_text("Traceback (most recent call last):\n  File x\nKeyError: 'labels'\n")
    experiment = Experiment(name="twin", changed="", order="twin", asks="")
    found = measure(experiment, tmp_path, "crashed", reason="exit code 1", seconds=1.0, wanted=Settings())
    assert found.reason == "KeyError: 'labels'"


def test_a_falling_loss_alone_is_no_proof(made: Make, tmp_path: Path) -> None:
    """No simple model to compare with: what may be in the way is tried, and what more than doubles the gain is it."""
    start: dict[str, Any] = {
        "baseline": 1.8,
        "permuted_labels": 2.301,
        "held_out": 1.85,
        "one_batch": 0.01,
        "twin": 0.4,
    }
    run = made(**start, exam=1.85)
    results = {"baseline": result("baseline", 1.8, None)} | done(run) | {"simple-models": result("", 0.0, None)}
    wanted = plan.stage(run, results, named=False, found=False)
    assert [experiment.name for experiment in wanted] == ["linear-model", "fresh-start", "plain-optimizer"]


@pytest.mark.parametrize(("fresh", "cause"), [(0.2, "model"), (1.75, "none")])
def test_an_initialisation_in_the_way(made: Make, tmp_path: Path, fresh: float, cause: str) -> None:
    run = made(baseline=1.8, permuted_labels=2.301, held_out=1.85, one_batch=0.01, twin=0.4, exam=1.85,
               fresh_start=fresh)  # fmt: skip
    found, sure, _ = concluded(run, tmp_path)
    assert found == cause and (cause != "none" or sure == verdict.NOT_SHOWN)


def test_little_is_learnt_and_a_linear_model_learns_no_more(made: Make, tmp_path: Path) -> None:
    run = made(baseline=2.22, permuted_labels=2.301, held_out=2.22, one_batch=1.0, twin=0.4, exam=2.22,
               linear_model=2.23)  # fmt: skip
    assert Lab(run).trouble == "unclear"
    assert concluded(run, tmp_path)[:2] == ("none", verdict.LITTLE_LEARNT)


def test_more_steps_that_only_memorise_are_no_proof(made: Make, tmp_path: Path) -> None:
    run = made(baseline=2.3, permuted_labels=2.301, held_out=2.3, one_batch=0.01, twin=0.4, simple=NOTHING, exam=2.3)
    keep(tmp_path, result("longer", 1.2, exam=2.4))
    assert concluded(open_runs(tmp_path / "run")[0], tmp_path)[0] == "data"
    assert run is not None


@pytest.mark.parametrize(("values", "cause"), [([0.1, 0.4, 0.7], "none"), ([0.3, 0.3, 0.28], "unknown")])
def test_losses_against_each_other_are_judged_by_what_the_script_prints(
    made: Make, tmp_path: Path, values: list[float], cause: str
) -> None:
    noted = {"printed": {"mean return": {"values": values, "higher": True}}}
    run = made(baseline=1.9)
    keep(tmp_path, result("baseline", 1.9, None), noted=noted, losses=2)
    run = open_runs(tmp_path / "run")[0]
    found, sure, because = concluded(run, tmp_path)
    assert found == cause and (sure == verdict.OWN_METRIC if cause == "none" else sure is None)
    assert "against each other" in because


def test_runs_on_the_same_batches_are_compared_step_by_step() -> None:
    """What batches differ by is the same in both; unpaired, the difference would drown in it."""
    luck = [0.2 * math.sin(7 * step) for step in range(200)]
    ours, theirs = (
        Tried(Trial(**(asdict(result(name, end, None)) | {"values": tuple(end + one for one in luck), "noise": 0.03})))
        for name, end in (("baseline", 0.32), ("permuted-labels", 0.36))
    )
    assert ours.better_than(theirs)
    shorter = Tried(Trial(**(asdict(result("again", 0.36, None)) | {"noise": 0.03})))
    assert not ours.better_than(shorter)


def test_a_term_that_outweighs_the_others_is_named(made: Make, tmp_path: Path) -> None:
    def terms(first: float, second: float) -> dict[str, Any]:
        ends = (("nll", 2.2, first), ("penalty", 0.1, second))
        return {"terms": [{"name": n, "sign": 1, "first": a, "last": b} for n, a, b in ends], "summed_at": "train.py:7"}

    run = made(baseline=2.3, permuted_labels=2.301, one_batch=0.5, twin=0.4, simple=STRONG, noted=terms(2.15, 0.0))
    assert [e.name for e in plan.stage(run, done(run), named=False, found=False)] == ["held-out"]
    keep(tmp_path, result("held-out", 2.3, exam=2.3))
    keep(tmp_path, result("term-2-off", 2.3, exam=None), noted=terms(0.3, 4.0))
    run = open_runs(tmp_path / "run")[0]
    cause, _, because = concluded(run, tmp_path)
    assert cause == "model" and "without penalty in the loss, nll falls from 2.2 to 0.3" in because


def test_a_hand_written_loss_is_blamed_where_a_plain_one_is_learnt(made: Make, tmp_path: Path) -> None:
    run = made(baseline=2.3, permuted_labels=2.301, held_out=2.3, one_batch=0.5, twin=0.4, simple=STRONG, exam=2.3)
    assert concluded(run, tmp_path)[0] == "unknown"
    keep(tmp_path, result("simple-loss", 2.3, exam=None), noted={"plain": {"last": 0.2, "guessing": 2.3}})
    cause, _, because = concluded(open_runs(tmp_path / "run")[0], tmp_path)
    assert cause == "model" and "the loss written by hand" in because


def test_a_policy_gradient_is_judged_by_its_own_metric_alone(made: Make, tmp_path: Path) -> None:
    alike = {"task": None, "reason": "only 13 different samples were seen", "kept": 900, "different_inputs": 13,
             "different_targets": 3, "told": 0.0}  # fmt: skip
    printed = {"printed": {"val return": {"values": [3.0, 4.0, 6.0, 7.2], "higher": True}}}
    pushed = LogProb(slope=1, both_ways=True, class_="Categorical")
    run = made(baseline=2.3, permuted_labels=1.9, twin=1.0, simple=alike, noted=printed, facts=[pushed])
    cause, _, because = concluded(run, tmp_path)
    assert cause == "none" and "val return" in because


@pytest.mark.parametrize(("targets", "cause"), [(64, "model"), (20, "unknown")])
def test_rows_of_which_only_some_have_a_target_may_affect_each_other(
    made: Make, tmp_path: Path, targets: int, cause: str
) -> None:
    given = Tensor(shape=(targets,), dtype="int64", device="cpu", requires_grad=False)
    call = LossCall(function="cross_entropy", input=given, target=given, reduction="mean", log_target=False,
                    smoothing=0.0, weighted=False)  # fmt: skip
    asked = Asked(mixing=Mixing(gap=0.05), size=64)
    run = made(baseline=2.3, permuted_labels=2.301, facts=[call, asked])
    assert concluded(run, tmp_path)[0] == cause


@pytest.mark.parametrize(("samples", "helps"), [(2000, True), (210, False)])
def test_a_linear_model_with_a_weight_for_each_sample_may_only_have_memorised_them(
    made: Make, samples: int, helps: bool
) -> None:
    loader = Loader(number=0, dataset="Fields", sampler="RandomSampler", own_batch_sampler=False, drop_last=False,
                    workers=0, iterable=False, size=samples)  # fmt: skip
    picture = Tensor(shape=(16, 1, 24, 24), dtype="float32", device="cpu", requires_grad=False)
    batch = Batch(loader=0, position=0, tensors=(picture,))
    run = made(baseline=2.3, permuted_labels=2.301, one_batch=0.01, twin=0.1, linear_model=0.4, facts=[loader, batch])
    assert Lab(run).helps("linear-model") is helps


def told(name: str, values: list[float], *, higher: bool = True) -> dict[str, Any]:
    return {"printed": {name: {"values": values, "higher": higher, "unseen": True}}}


@pytest.mark.parametrize(
    ("change", "after", "cause"),
    [
        ("lr-up", [0.5, 0.9, 0.93], "settings"),
        ("turned-edges", [0.6, 0.85, 0.86], "model"),
        ("lr-up", [0.5, 0.55, 0.6], "unknown"),  # that may be luck
    ],
)
def test_a_change_that_repairs_the_metric_is_the_cause(
    made: Make, tmp_path: Path, change: str, after: list[float], cause: str
) -> None:
    made(baseline=0.01, permuted_labels=2.31, one_batch=0.001, noted=told("test acc", [0.5, 0.52, 0.51]))
    keep(tmp_path, result(change, 0.01, None), noted=told("test acc", after))
    found, _, because = concluded(open_runs(tmp_path / "run")[0], tmp_path)
    assert found == cause and ("test acc is" in because) == (cause != "unknown")


def test_an_error_that_is_halved_from_a_low_value_is_no_repair() -> None:
    ends = ([0.9, 0.2, 0.1], [0.9, 0.05, 0.02])
    old, new = (
        Tried(Trial(**(asdict(result("x", 1.0, None)) | {"noted": told("val mse", e, higher=False)}))) for e in ends
    )
    assert repaired(old, new) is None


def test_the_sign_of_a_policy_gradient_that_only_learns_uphill(made: Make, tmp_path: Path) -> None:
    pushed = LogProb(slope=1, both_ways=True, class_="Categorical")
    falling, rising = [0.1, 0.0, -0.1, -0.2, -0.2, -0.2], [0.1, 0.3, 0.6, 0.9, 0.9, 0.9]
    run = made(baseline=0.1, noted={"printed": {"return": {"values": falling, "higher": True}}}, facts=[pushed])
    wanted = plan.stage(run, {"baseline": result("baseline", 0.1, None)}, named=False, found=False)
    assert "uphill" in [experiment.name for experiment in wanted]
    keep(tmp_path, result("uphill", 0.1, None), noted={"printed": {"return": {"values": rising, "higher": True}}})
    assert concluded(open_runs(tmp_path / "run")[0], tmp_path)[0] == "model"


def test_equal_texts_with_any_target_are_a_fault_of_the_data(made: Make, tmp_path: Path) -> None:
    weak = NOTHING | {"models": {"linear model": {"z": 5.0, "strength": 0.1, "error": 0.02, "skill": 0.01}}}
    weak |= {"contradictions": {"pairs": 900.0, "differ": 0.97, "texts": 1500.0}}
    run = made(baseline=2.25, permuted_labels=2.301, held_out=2.3, one_batch=0.01, twin=0.1, simple=weak, exam=2.32)
    cause, _, because = concluded(run, tmp_path)
    assert cause == "data" and "the same text" in because


def test_samples_learnt_by_heart_that_simple_models_have_a_rule_for(made: Make, tmp_path: Path) -> None:
    others = {name.replace("-", "_"): 0.3 for name in OTHER_SETTINGS} | {"one_batch_range": 0.1}
    run = made(baseline=0.3, permuted_labels=2.301, held_out=0.3, one_batch=0.01, twin=0.4, simple=STRONG, exam=2.5,
               **others)  # fmt: skip
    assert Lab(run).trouble == "memorises"
    assert concluded(run, tmp_path)[0] == "model"
