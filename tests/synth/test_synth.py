"""Synthetic tasks: their optima are the true ones, seeds reproduce them, splits hold, files read back equal."""

from __future__ import annotations

import json
import pickle
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.stats import norm
from torch.utils.data import DataLoader

from paramedic import ParamedicError, synth
from paramedic.synth.catalogue import TASKS
from paramedic.synth.goals import blind_error
from paramedic.synth.ladder import classes_of
from paramedic.synth.sampling import Source
from paramedic.synth.task import Draw
from paramedic.synth.tasks.gaussians import centres
from paramedic.synth.tasks.multilabel import directions
from workshop import Workshop

RUNGS = [(task.name, level) for task in TASKS.values() for level in range(1, len(task.rungs) + 1)]
GAPS = [name for name, task in TASKS.items() if task.gap]


def fresh(task: str, level: int, n: int = 4096, **settings: Any) -> Draw:
    return Source(TASKS[task], level, settings, seed=5, split="random", part="test").arrays(n)


def wave(x: Any, frequency: float = 8.0) -> Any:
    return np.sin(frequency * (x - 1.2))


# The best answer to each task, written down from its formula.
BEST_VALUES: dict[tuple[str, int], Callable[[Any], Any]] = {
    ("sine", 2): lambda x: wave(x[:, 0], 3.0),
    ("sine", 3): lambda x: wave(x[:, 0]),
    ("sine", 4): lambda x: wave(x[:, 0]),
    ("friedman", 2): lambda x: friedman((x + 1) / 2),
    ("friedman", 3): lambda x: friedman((x + 1) / 2),
    ("series", 1): lambda x: 0.95 * x[:, -1, 0],
    ("series", 2): lambda x: 1.6 * x[:, -1, 0] - 0.95 * x[:, -2, 0],
    ("series", 3): lambda x: 0.95 * x[:, -5, 0],
    ("series", 4): lambda x: np.sin(3 * x[:, -5, 0]),
}
BEST_CLASSES: dict[tuple[str, int], Callable[[Any], Any]] = {
    ("gaussians", 1): lambda x: nearest(x, 3, 8.0) % 3,
    ("gaussians", 2): lambda x: nearest(x, 3, 2.0) % 3,
    ("gaussians", 4): lambda x: nearest(x, 6, 4.0) % 3,
    ("link", 1): lambda x: x[:, 0] > 0,
    ("link", 3): lambda x: wave(x[:, 0]) > 0,
    ("link", 4): lambda x: wave(x[:, 0]) > 0,
    ("multilabel", 2): lambda x: x @ directions(8, 4) > 0,
    ("ranking", 2): lambda x: x[:, 1].sum(axis=1) > x[:, 0].sum(axis=1),
    ("ranking", 3): lambda x: wave(x[:, 1, 0], 3.0) > wave(x[:, 0, 0], 3.0),
    ("shapes", 1): lambda x: np.round(5 * (x.max(axis=(1, 2, 3)) - 0.04)).astype(int) - 1,
    ("segments", 1): lambda x: np.digitize(x[:, 0], [0.2, 0.6]),
    ("copy", 2): lambda x: np.pad(x[:, :-1], ((0, 0), (1, 0))),
    ("reverse", 1): lambda x: x,
    ("reverse", 3): lambda x: x[:, ::-1],
    ("sort", 3): lambda x: np.sort(x, axis=1),
    ("parity", 2): lambda x: x[:, 0] ^ x[:, 1],
    ("parity", 3): lambda x: x[:, 0] ^ x[:, 1],
    ("brackets", 1): lambda x: np.array([balanced(word) for word in x]),
    ("brackets", 2): lambda x: np.array([balanced(word) for word in x]),
    ("brackets", 3): lambda x: np.array([balanced(word) for word in x]),
}


def friedman(x: Any) -> Any:
    y = 10 * np.sin(np.pi * x[:, 0] * x[:, 1]) + 20 * (x[:, 2] - 0.5) ** 2 + 10 * x[:, 3] + 5 * x[:, 4]
    return (y - 14.4) / 4.9


def nearest(x: Any, clouds: int, separation: float) -> Any:
    return ((x[:, None] - centres(clouds, separation)) ** 2).sum(axis=2).argmin(axis=1)


def balanced(word: Any) -> bool:
    stack: list[int] = []
    for bracket in word:
        if bracket % 2:
            stack.append(bracket)
        elif not stack or stack.pop() != bracket - 1:
            return False
    return not stack


@pytest.mark.parametrize(("task", "level"), BEST_VALUES)
def test_the_true_function_reaches_the_noise_floor(task: str, level: int) -> None:
    draw = fresh(task, level)
    error = np.mean((BEST_VALUES[task, level](draw.inputs) - draw.target[:, 0]) ** 2)
    assert error == pytest.approx(synth.optimum(task, level=level), rel=0.06)


@pytest.mark.parametrize(("task", "level"), BEST_CLASSES)
def test_the_bayes_classifier_reaches_the_bayes_error(task: str, level: int) -> None:
    draw = fresh(task, level)
    error = np.mean(BEST_CLASSES[task, level](draw.inputs) != draw.target)
    assert error == pytest.approx(synth.optimum(task, level=level), abs=0.012)


@pytest.mark.parametrize("separation", [1.0, 3.0])
def test_two_gaussians_have_the_error_of_the_textbook(separation: float) -> None:
    stated = synth.optimum("gaussians", classes=2, separation=separation)
    assert stated == pytest.approx(norm.cdf(-separation / 2), abs=0.004)


def test_wrong_labels_set_the_optimum() -> None:
    assert synth.optimum("shapes", level=4) == pytest.approx(0.1)
    draw = fresh("segments", 1, 512, flip=0.2)
    assert np.mean(BEST_CLASSES["segments", 1](draw.inputs) != draw.target) == pytest.approx(0.2, abs=0.01)


@pytest.mark.parametrize("name", ["boxes", "boxes3d"])
def test_boxes_lie_where_they_are_said_to_lie(name: str) -> None:
    draw = fresh(name, 2, 64)
    size, axes = draw.inputs.shape[-1], draw.inputs.ndim - 2
    for picture, box, label in zip(draw.inputs[:, 0], draw.target["boxes"], draw.target["labels"], strict=True):  # type: ignore[call-overload]
        filled = np.argwhere(picture)[:, ::-1]  # x before y
        assert np.allclose(box[0], np.concatenate([filled.min(axis=0), filled.max(axis=0) + 1]) / size)
        assert picture.max() == pytest.approx((label[0] + 1) / 2.5, abs=1 / 255) and box.shape == (1, 2 * axes)


@pytest.mark.parametrize(("task", "level"), RUNGS)
def test_every_rung_leaves_something_to_learn_and_keeps_the_shapes(task: str, level: int) -> None:
    draw, first = fresh(task, level, 512), fresh(task, 1, 512)
    shapes = [{name: (values.shape, values.dtype) for name, values in d.columns().items()} for d in (draw, first)]
    assert shapes[0] == shapes[1]
    from paramedic.synth.dataset import tensors

    target = tensors(draw)[1]
    assert blind_error(TASKS[task], target, classes_of(TASKS[task], {}, 0)) > draw.risk.mean() + 0.05
    assert np.isfinite(draw.inputs).all()


@pytest.mark.parametrize("task", TASKS)
def test_a_sample_depends_on_seed_and_index_only(task: str) -> None:
    few, many, other = (synth.datasets(task, n=n, seed=seed)[0] for n, seed in ((400, 0), (900, 0), (400, 1)))
    same = [np.array_equal(few[i][0], many[i][0]) for i in (0, 255, 256, 319)]  # on both sides of a block's border
    assert all(same)
    assert not all(np.array_equal(few[i][0], other[i][0]) for i in range(5))
    assert len(few) == 320 and np.array_equal(few[-1][0], few[319][0])
    with pytest.raises(IndexError):
        few[320]


def test_datasets_work_with_loaders_and_workers() -> None:
    train, test = synth.datasets("boxes", n=50)
    x, y = next(iter(DataLoader(train, batch_size=8)))
    assert x.shape == (8, 1, 16, 16) and y["boxes"].shape == (8, 1, 4) and y["labels"].shape == (8, 1)
    copy = pickle.loads(pickle.dumps(test))
    assert len(copy) == 10 and np.array_equal(copy[3][0], test[3][0])
    assert synth.datasets("sine", n=50, level=4)[1].risk == pytest.approx(0.09)


@pytest.mark.parametrize("task", GAPS)
def test_the_gap_split_has_a_gap(task: str) -> None:
    places = {}
    for part in ("train", "test"):
        draw = Source(TASKS[task], None, {}, seed=0, split="gap", part=part).arrays(500)
        assert draw.place is not None
        places[part] = np.abs(draw.place)
    assert places["train"].max() <= 0.8 < places["test"].min()


def test_the_gap_of_the_sine_is_in_its_input() -> None:
    train, test = synth.datasets("sine", n=500, split="gap")
    assert max(abs(float(x)) for x, _ in (train[i] for i in range(len(train)))) <= 0.8
    assert min(abs(float(x)) for x, _ in (test[i] for i in range(len(test)))) > 0.8


@pytest.mark.parametrize("task", ["copy", "reverse", "sort", "parity", "brackets"])
def test_no_sequence_is_in_both_parts(task: str) -> None:
    train, test = (
        {row.tobytes() for row in Source(TASKS[task], 1, {}, seed=0, split="random", part=part).arrays(1000).inputs}
        for part in ("train", "test")
    )
    assert train and test and not train & test


WRITABLE = [
    *((task, format) for task in TASKS for format in ("npz", "jsonl", "parquet")),
    *((task, "images") for task in ("shapes", "segments", "boxes")),
]


@pytest.mark.parametrize(("task", "format"), WRITABLE)
def test_files_read_back_equal(task: str, format: str, tmp_path: Path) -> None:
    paths = synth.write(task, tmp_path / "out", format=format, n=40, seed=3)
    assert all(path.exists() for path in paths)
    found = synth.read(tmp_path / "out")
    for part in ("train", "test"):
        wanted = Source(TASKS[task], None, {}, seed=3, split="random", part=part).arrays(32 if part == "train" else 8)
        for name, values in wanted.columns().items():
            assert found[part][name].dtype == values.dtype
            np.testing.assert_array_equal(found[part][name], values)


def test_colour_pictures_and_a_second_write(tmp_path: Path) -> None:
    synth.write("shapes", tmp_path / "out", format="images", n=40, channels=3)
    synth.write("shapes", tmp_path / "out", format="images", n=20, channels=3)
    assert len(list(tmp_path.glob("out/train/*/*.png"))) == 16
    assert synth.read(tmp_path / "out")["train"]["input"].shape == (16, 3, 16, 16)


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: synth.datasets("sinus"), "did you mean sine?"),
        (lambda: synth.datasets("sine", level=9), "no level 9"),
        (lambda: synth.datasets("sine", split="gaps"), "no split"),
        (lambda: synth.datasets("parity", split="gap"), "no gap split"),
        (lambda: synth.datasets("sine", depth=2), "no setting 'depth'"),
        (lambda: synth.datasets("sine", dims="two"), "dims=two is not understood"),
        (lambda: synth.datasets("gaussians", dims=1)[0][0], "at least 2 dimensions"),
        (lambda: synth.datasets("sine", n=3), "too few"),
    ],
)
def test_mistakes_are_answered(call: Callable[[], Any], words: str) -> None:
    with pytest.raises(ParamedicError) as raised:
        call()
    assert words in str(raised.value) and raised.value.fix


def test_the_command_writes_and_states_the_optimum(warm_shop: Workshop) -> None:
    done = warm_shop.paramedic(
        "synth", "sine", "--out", "data", "--n", "100", "--split", "gap", "--level", "4", "--set", "noise=0.2"
    )
    assert done.code == 0 and "mean squared error of 0.04" in done.stdout and done.stderr == ""
    card = json.loads((warm_shop.folder / "data" / "task.json").read_text())
    assert card["optimum"]["test"] == pytest.approx(0.04) and card["samples"] == {"train": 80, "test": 20}
    assert np.load(warm_shop.folder / "data" / "train.npz")["input"].shape == (80, 1)
    warm_shop.write("mine/notes.txt", "my own work")
    assert warm_shop.paramedic("synth", "sine", "--out", "mine").code == 2
    listed = warm_shop.paramedic("synth", "list").stdout
    assert all(name in listed for name in TASKS) and max(map(len, listed.splitlines())) <= 80
