"""The parts of the lab: batches taken apart, twins that can be learnt, copies of folders, simple models."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from paramedic.errors import ParamedicError
from paramedic.interventions.roles import Batch
from paramedic.interventions.twins import Twin
from paramedic.lab import scratch
from paramedic.lab.classical import contradictions, examine
from paramedic.lab.meanings import fit
from paramedic.lab.on_ray import _connected
from paramedic.lab.printed import metrics
from paramedic.lab.series import interleaved


def test_roles_in_a_batch() -> None:
    x, y = torch.randn(4, 3), torch.tensor([0, 1, 0, 2])
    for value in ([x, y], (y, x), {"input_ids": x, "labels": y}):
        batch = Batch(value)
        assert len(batch.inputs) == 1 and batch.inputs[0] is x and batch.targets[0] is y
        assert batch.rebuilt() is value
        batch.targets = [y + 1]
        rebuilt = batch.rebuilt()
        assert type(rebuilt) is type(value)
        assert torch.equal(Batch(rebuilt).targets[0], y + 1)


def test_masks_are_no_inputs_and_lone_tensors_have_no_target() -> None:
    ids, mask = torch.randint(0, 50, (4, 8)), torch.ones(4, 8, dtype=torch.long)
    batch = Batch({"input_ids": ids, "attention_mask": mask, "labels": torch.zeros(4, dtype=torch.long)})
    assert len(batch.inputs) == 1 and batch.inputs[0] is ids
    assert Batch([ids]).targets == []
    assert Batch(["words", 3]).inputs == []


@pytest.mark.parametrize(
    ("x", "y"),
    [
        (torch.randn(64, 5) * 100 + 7, torch.randint(0, 3, (64,))),
        (torch.rand(64, 1, 8, 8), torch.randint(0, 4, (64,))),
        (torch.randint(1, 90, (64, 12)), torch.randint(0, 2, (64,)).float()),
        (torch.randn(64, 6), torch.randn(64, 1) * 5 + 20),
    ],
)
def test_a_twin_has_the_shapes_and_ranges_of_the_data_and_can_be_learnt(x: torch.Tensor, y: torch.Tensor) -> None:
    from sklearn.ensemble import RandomForestClassifier, RandomForestRegressor

    twin = Twin()
    assert twin.inputs([x])[0] is x and twin.target(y) is y  # type: ignore[index]
    xs, ys = [], []
    for _ in range(8):
        made = twin.inputs([x])
        assert made is not None
        xs.append(made[0])
        ys.append(twin.target(y))
    assert xs[0].shape == x.shape and xs[0].dtype == x.dtype and ys[0].shape == y.shape and ys[0].dtype == y.dtype
    assert xs[0].min() >= x.min() and xs[0].max() <= x.max()
    everything, target = torch.cat(xs).reshape(512, -1).numpy(), torch.cat(ys).reshape(-1).numpy()
    is_value = y.is_floating_point() and len(y.unique()) > 2
    model = RandomForestRegressor(50, random_state=0) if is_value else RandomForestClassifier(50, random_state=0)
    assert model.fit(everything[:400], target[:400]).score(everything[400:], target[400:]) > 0.75


def test_a_copy_of_a_folder(tmp_path: Path) -> None:
    mine, copied = tmp_path / "mine", tmp_path / "copy"
    (mine / "data").mkdir(parents=True)
    (mine / ".git").mkdir()
    (mine / "train.py").write_text("x")
    (mine / "data" / "large.npy").write_bytes(b"0" * 2_000_000)
    scratch.copy(mine, copied)
    assert (copied / "train.py").read_text() == "x" and not (copied / "train.py").is_symlink()
    assert (copied / "data" / "large.npy").is_symlink() and not (copied / ".git").exists()


def test_folders_that_are_links_are_there_in_the_copy(tmp_path: Path) -> None:
    mine, copied, data = tmp_path / "mine", tmp_path / "copy", tmp_path / "disk" / "data"
    (mine / "src").mkdir(parents=True)
    data.mkdir(parents=True)
    (data / "x.txt").write_text("numbers")
    (mine / "src" / "train.py").write_text("old")
    (mine / "data").symlink_to(data)
    (mine / "examples").symlink_to("src")
    scratch.copy(mine, copied)
    assert (copied / "data" / "x.txt").read_text() == "numbers"
    scratch.exchange(copied, {"src/train.py": b"new"})
    assert (copied / "examples" / "train.py").read_text() == "new"
    assert (mine / "examples" / "train.py").read_text() == "old"


def save(folder: Path, x: np.ndarray, y: np.ndarray) -> Path:
    np.savez(folder / "captured.npz", x=x, y=y)
    return folder / "captured.npz"


def test_simple_models_find_a_signal_where_there_is_one(tmp_path: Path) -> None:
    dice = np.random.default_rng(0)
    x = dice.normal(size=(500, 6)).astype(np.float32)
    y = (x[:, 0] * x[:, 1] > 0).astype(np.int64)  # nothing for a linear model
    found = examine(save(tmp_path, x, y))
    assert found["z"] > 6 and found["best"] != "linear model"
    nothing = examine(save(tmp_path, x, dice.permutation(y)))
    assert nothing["z"] < 3.5 and abs(nothing["score"] - nothing["chance"]) < 0.1
    weak = examine(save(tmp_path, x, (x[:, :1] * 0.15 + dice.normal(size=(500, 1))).astype(np.float32)))
    assert weak["task"] == "values" and weak["score"] < 0.1


def test_a_sample_seen_twice_is_no_signal(tmp_path: Path) -> None:
    dice = np.random.default_rng(0)
    x, y = dice.normal(size=(300, 6)).astype(np.float32), dice.integers(0, 2, 300)
    assert examine(save(tmp_path, np.tile(x, (4, 1)), np.tile(y, 4)))["z"] < 3.5


def test_a_target_among_the_inputs_is_found(tmp_path: Path) -> None:
    dice = np.random.default_rng(0)
    x, y = dice.normal(size=(300, 6)).astype(np.float32), dice.integers(0, 3, 300)
    assert examine(save(tmp_path, x, y))["copy"] is None
    x[:, 4] = 2 * y - 1
    assert examine(save(tmp_path, x, y))["copy"] == 4


def test_equal_inputs_with_different_targets_are_seen_without_a_model(tmp_path: Path) -> None:
    dice = np.random.default_rng(0)
    unknown = examine(save(tmp_path, np.ones((300, 9), dtype=np.int64), dice.integers(0, 2, 300)))
    assert unknown["different_inputs"] == 1 and abs(unknown["told"]) < 0.01
    corners = dice.integers(0, 2, (300, 2))  # XOR: few inputs, which tell everything
    found = examine(save(tmp_path, corners.astype(np.float32), corners.sum(1) % 2))
    assert found["different_inputs"] == 4 and found["told"] == 1.0


def test_texts_of_one_unknown_word_are_recognised(tmp_path: Path) -> None:
    dice = np.random.default_rng(0)
    lengths = dice.integers(2, 9, 300)
    unknown = (np.arange(9) < lengths[:, None]).astype(np.int64)
    assert examine(save(tmp_path, unknown, dice.integers(0, 3, 300)))["one_token"] == 1
    bits = dice.integers(0, 2, (300, 9))  # sequences of two symbols are something else
    assert examine(save(tmp_path, bits, bits.sum(1) % 2))["one_token"] is None


def test_labels_dealt_at_random_are_told_from_a_hard_task(tmp_path: Path) -> None:
    dice = np.random.default_rng(0)
    centres, y = 3 * dice.normal(size=(6, 8)), dice.integers(0, 6, 900)
    x = (centres[y] + dice.normal(size=(900, 8))).astype(np.float32)
    dealt = np.where(dice.random(900) < 0.5, dice.integers(0, 6, 900), y)
    found = examine(save(tmp_path, x, dealt))["dealt"]
    assert found is not None and 0.4 < found["share"] < 0.65
    assert examine(save(tmp_path, x, y))["dealt"] is None
    hard = (centres[y] + 9 * dice.normal(size=(900, 8))).astype(np.float32)
    assert examine(save(tmp_path, hard, y))["dealt"] is None


def test_a_target_per_place_makes_every_place_a_sample(tmp_path: Path) -> None:
    x = np.random.default_rng(0).normal(size=(40, 12, 5)).astype(np.float32)
    found = examine(save(tmp_path, x, (x[..., 0] > 0).astype(np.int64)))
    assert found["samples"] == 480 and found["score"] > 0.9


def test_printed_metrics_are_read_with_their_names(tmp_path: Path) -> None:
    (tmp_path / "output.txt").write_text(
        "step 100 | loss 0.16 recall@1 0.097\nepoch 4: val C-index 0.61, loss +0.2\n[9] modes=7/8 acc: 85 %\n"
    )
    found = metrics(tmp_path / "output.txt")
    assert {name: told["values"] for name, told in found.items()} == {
        "recall@1": [0.097], "val c index": [0.61], "modes": [7.0], "acc": [0.85],
    }  # fmt: skip
    assert all(told["higher"] for told in found.values())


@pytest.mark.parametrize("line", [
    "{'eval_loss': 0.69, 'eval_accuracy': 0.52, 'epoch': 1.0}",
    "{'eval_loss': '0.69', 'eval_accuracy': '0.52', 'epoch': '1'}",
    "│       eval_loss           │          0.69             │\n│       eval_accuracy       │     0.52     │",
])  # fmt: skip
def test_metrics_of_dictionaries_and_tables(tmp_path: Path, line: str) -> None:
    (tmp_path / "output.txt").write_text(line)
    found = metrics(tmp_path / "output.txt")
    assert found["eval accuracy"] == {"values": [0.52], "higher": True, "unseen": True}
    assert found["eval loss"] == {"values": [0.69], "higher": False, "unseen": True}


@pytest.mark.parametrize(("lines", "read"), [
    ("step 1 train 0.65 test 0.49\nstep 2 train 0.98 test 0.52\n", {"train": [0.65, 0.98], "test": [0.49, 0.52]}),
    ("step 1 train 0.98 val 0.97\nstep 2 train 0.35 val 0.52\n", {}),  # losses
])  # fmt: skip
def test_numbers_called_after_their_data_are_metrics_if_they_rise(
    tmp_path: Path, lines: str, read: dict[str, list[float]]
) -> None:
    (tmp_path / "output.txt").write_text(lines)
    assert {name: told["values"] for name, told in metrics(tmp_path / "output.txt").items()} == read


def test_a_metric_named_twice_in_a_line_is_that_of_the_data_named_last(tmp_path: Path) -> None:
    (tmp_path / "output.txt").write_text("epoch 0 | loss 0.1 acc 0.99 | val loss 2.1 acc 0.17\n")
    found = metrics(tmp_path / "output.txt")
    assert found["acc"] == {"values": [0.99], "higher": True, "unseen": False}
    assert found["val acc"] == {"values": [0.17], "higher": True, "unseen": True}


def answers(tmp_path: Path, x: Any, y: Any) -> dict[str, Any]:
    np.savez(tmp_path / "kept.npz", x=x.astype(np.float32), y=y)
    return examine(tmp_path / "kept.npz")


def test_a_plain_rule_is_fitted(tmp_path: Path) -> None:
    x = np.random.default_rng(0).normal(size=(600, 4))
    found = answers(tmp_path, x, (x[:, 0] > 0).astype(int))
    assert found["score"] > 0.9 and fit(found["score"], found["own"], found["chance"]) == "; it fits"


def test_few_samples_of_many_features_are_overfitted(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    x = rng.normal(size=(160, 120))
    found = answers(tmp_path, x, (x[:, :3].sum(1) + rng.normal(size=160) > 0).astype(int))
    assert "overfits" in fit(found["score"], found["own"], found["chance"])


@pytest.mark.parametrize(("own", "word"), [(0.40, "underfits"), (0.95, "overfits"), (0.75, "fits")])
def test_the_words(own: float, word: str) -> None:
    assert word in fit(0.39 if own < 0.5 else 0.7, own, 0.1 if own > 0.5 else 0.33)


def test_exchanged_files_are_never_written_through_a_link(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    original, copied = tmp_path / "original", tmp_path / "copied"
    (original / "many").mkdir(parents=True)
    copied.mkdir()
    for name in ("train.py", "large.py", "many/helper.py", "many/other.py"):
        (original / name).write_text("old\n")
    monkeypatch.setattr(scratch, "MOST_IN_A_FOLDER", 1)
    monkeypatch.setattr(scratch, "SMALL", 3)
    scratch.copy(original, copied)
    assert (copied / "large.py").is_symlink() and (copied / "many").is_symlink()
    scratch.exchange(copied, {"train.py": b"new\n", "large.py": b"new\n"})
    assert (copied / "train.py").read_text() == (copied / "large.py").read_text() == "new\n"
    with pytest.raises(ParamedicError, match="too many files"):
        scratch.exchange(copied, {"many/helper.py": b"new\n"})
    assert {path.read_text() for path in original.rglob("*.py")} == {"old\n"}


def test_a_cluster_that_does_not_answer_is_a_clear_error(monkeypatch: pytest.MonkeyPatch) -> None:
    ray = pytest.importorskip("ray")

    def refuses(**_: object) -> None:
        raise ConnectionError("ray client connection timeout")

    monkeypatch.setattr(ray, "init", refuses)
    with pytest.raises(ParamedicError, match="no Ray cluster answers: ray client connection timeout"):
        _connected("ray://127.0.0.1:1")


def windows(series: Any) -> tuple[Any, Any]:
    rows = np.lib.stride_tricks.sliding_window_view(series.astype(np.float32), 13)
    return rows[:, :-1].copy(), rows[:, -1:].copy()


def test_rows_of_several_series_that_lie_between_each_other() -> None:
    rng = np.random.default_rng(0)
    hours, levels, phases = np.arange(300)[:, None], rng.normal(size=8), rng.uniform(0, 6, 8)
    stations = levels + np.sin(hours / 20 + phases)
    mixed = np.concatenate([rng.permutation(hour) for hour in stations])
    found = interleaved(*windows(mixed))
    assert found is not None and found["neighbour"] < found["near"]


@pytest.mark.parametrize("kind", ["noise", "walk", "weekly", "volatile"])
def test_one_series_is_one(kind: str) -> None:
    rng = np.random.default_rng(0)
    noise = rng.normal(size=3000)
    volatility = np.exp(np.convolve(rng.normal(size=3019), np.ones(20) / 4.5, "valid"))
    series = {"noise": noise, "walk": noise.cumsum(), "weekly": np.sin(np.arange(3000) * 0.9) + noise,
              "volatile": noise * volatility}[kind]  # fmt: skip
    assert interleaved(*windows(series)) is None


def test_equal_texts_that_contradict_each_other() -> None:
    rng = np.random.default_rng(0)
    x, y = rng.integers(2, 5, (800, 4)), rng.integers(0, 2, (800, 1))
    found = contradictions(x, y)
    assert found is not None and found["differ"] > 0.9
    settled = contradictions(x, x[:, :1] % 2)
    assert settled is not None and settled["differ"] == 0
