"""What the page draws of a record: nothing that stands out may be lost on the way to a pixel."""

from __future__ import annotations

import base64
import math
from pathlib import Path

import pytest

from page import Page
from paramedic.diagnosis import diagnose
from paramedic.findings import Evidence, LossCurve
from paramedic.record.facts import Attention, AttentionHead, Confusion
from paramedic.record.reader import open_runs
from paramedic.record.writer import Site
from paramedic.reports import attention, chart, heat, overlay, pictures
from paramedic.reports.evidence import measured
from paramedic.reports.html import render
from paramedic.rules.catalogue import all_rules
from recording import Recording


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    recording = Recording(tmp_path / "run")
    recording.steps(60, bad=(41,))
    recording.writer.point("accuracy", 59, 0.5)
    table = Confusion(labels=[[0, 30, 0, 28], [1, 30, 1, 30]], rows=[(0, [(0, 28), (1, 2)]), (1, [(1, 30)])])
    recording.writer.state(table, step=59, phase="eval", site=Site("train.py", 21, "main"))
    return recording.end()


def test_the_page_shows_everything_that_the_record_holds(folder: Path) -> None:
    page = Page(render(diagnose(folder, all_rules()), pictures=pictures.of_record(folder)))
    for words in (
        "training, train.py:12", "evaluation, train.py:20", "Learning rate", "Gradient norm", "Update ratio",
        "Memory (MB)", "accuracy", "Gradients", "Activations", "Zeros among the activations", "Weights",
        "58 of 60 right (97 %)", "0.001, often about right",
    ):  # fmt: skip
        assert words in page.text, words
    ids = page.all("id")
    assert len(ids) == len(set(ids))
    assert {word for words in page.all("aria-labelledby") for word in words.split()} <= set(ids)


def test_a_long_run_is_a_small_page_with_its_spikes_and_gaps(tmp_path: Path) -> None:
    recording = Recording(tmp_path / "run")
    recording.steps(20)
    odd = {100_001: 77.25, 150_001: math.nan}
    for step in range(20, 300_000):
        loss = math.nan if step >= 250_000 else odd.get(step, 1.0 + step % 7 / 10)
        recording.writer.point("loss:train.py:12", step, loss)
    recording.step = 300_000
    text = render(diagnose(recording.end(), ()), pictures=pictures.of_record(recording.folder))
    assert len(text) < 500_000
    for words in ("77.25", "NaN at step 150,001", "NaN at step 250,000", "NaN at step 299,999"):
        assert words in text, words
    assert "is NaN at the end" in text and "more steps" not in text


def test_the_batches_of_an_evaluation_are_averaged(folder: Path) -> None:
    (curve,) = diagnose(folder, ()).run.evaluations
    assert curve.steps == (9, 19, 29, 39, 49, 59)
    assert curve.values[-1] == pytest.approx(2 / (1 + 59 / 20) + 0.2)


def test_a_gradient_that_is_not_finite_is_hatched_at_its_place(folder: Path) -> None:
    gradients = next(m for m in pictures.of(open_runs(folder)[0]).maps if m.key == "gradients")
    assert gradients.names == ("body.weight", "body.bias", "head.weight")
    ((x, width, y),) = gradients.hatched
    assert (x, y) == (pytest.approx(1000 * 41 / 60, abs=0.1), 0) and width == pytest.approx(1000 / 60, abs=0.1)
    assert gradients.rows[0].summary[-1] == "1 of 60" and gradients.rows[1].summary[-1] == "none"
    assert "1 value not finite" in gradients.sentence


def test_a_weight_of_zero_has_no_update_ratio_and_shows_as_zero(folder: Path) -> None:
    found = {m.key: m for m in pictures.of(open_runs(folder)[0]).maps}
    assert [row.name for row in found["updates"].rows] == ["body.weight", "head.weight"]
    assert found["updates"].rows[0].summary[0] == "0.001"
    assert found["weights"].has_zero and not found["gradients"].has_zero


def test_magnitudes_are_those_of_the_last_step(folder: Path) -> None:
    found = {m.key: m for m in pictures.of(open_runs(folder)[0]).maps}["magnitudes-output"]
    assert found.steps[0] == "exactly 0" and found.steps[-1] == "0.06" and "step 59" in found.caption
    assert [row.summary for row in found.rows][:2] == [
        ("0", "0.2", "0.2", "0.2"),
        ("50 %", "exactly 0", "exactly 0", "0.2"),
    ]
    body, act, _ = levels(found)
    assert body[-1] == heat.LAST and act[0] == act[-1] == body[-1] - (heat.LAST - heat.FIRST) // 2


def levels(found: heat.Heat) -> list[bytes]:
    raw, width = base64.b64decode(found.levels), len(found.steps)
    return [raw[i : i + width] for i in range(0, len(raw), width)]


def test_a_spike_survives_when_thousands_of_cells_share_pixels() -> None:
    cells = {f"layer{n}": dict.fromkeys(range(1000), 1.0) for n in range(500)}
    cells["layer333"][777] = 1000.0
    cells["layer10"][5] = math.inf
    found = heat.draw(cells, key="k", title="t", caption="c")
    assert found is not None and len(found.names) <= heat.MOST_ROWS and len(found.steps) <= heat.MOST_COLUMNS
    rows = levels(found)
    assert sum(row.count(heat.LAST) for row in rows) == 1 and sum(row.count(heat.BAD) for row in rows) == 1
    row = next(i for i, row in enumerate(rows) if heat.LAST in row)
    assert found.names[row].startswith("layer333") and len(found.rows) == 500


def test_a_map_without_a_finite_value_is_not_drawn() -> None:
    assert heat.draw({"a": {0: math.nan}}, key="k", title="t", caption="c") is None
    assert heat.draw({}, key="k", title="t", caption="c") is None


def test_equal_values_far_apart_values_and_zeros_have_colours() -> None:
    same = heat.draw({"a": {0: 2.0, 1: 2.0}}, key="k", title="t", caption="c")
    far = heat.draw({"a": {0: 1e-30, 1: 1e30, 2: 0.0}}, key="k", title="t", caption="c")
    assert same is not None and far is not None
    assert levels(far)[0] == bytes([heat.FIRST, heat.LAST, heat.ZERO]) and levels(same)[0][0] == levels(same)[0][1]


def test_the_guessing_level_is_inside_the_chart() -> None:
    curve = LossCurve(label="a", steps=(0, 1), values=(0.2, 0.1))
    drawn = chart.draw([curve], levels=[chart.Level(value=2.3, label="guessing")])
    assert drawn is not None and drawn.top <= drawn.levels[0].at <= drawn.bottom


def test_several_runs_share_a_chart(folder: Path, tmp_path: Path) -> None:
    other = Recording(tmp_path / "other")
    other.steps(30)
    other.end()
    runs = {name: open_runs(tmp_path / name)[0] for name in ("run", "other")}
    drawn = {one.key: one for one in overlay.charts(runs)}
    assert [line.label for line in drawn["loss"].lines] == ["run", "other"]
    assert {"loss", "evaluation", "norm", "rate"} <= set(drawn)


def test_a_record_that_cannot_be_drawn_costs_the_charts_only(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    run = open_runs(folder)[0]
    monkeypatch.setattr(run, "samples", lambda role: [][0])
    found = pictures.of(run)
    assert "IndexError" in found.problem and found.charts == ()
    assert found.problem in Page(render(diagnose(folder, ()), pictures=found)).text


def test_evidence_is_words_and_small_tables() -> None:
    plain = measured(Evidence(name="row_sum", value=1.0, limit="1"))
    assert (plain.name, plain.value, plain.table) == ("row sum", "1", ())
    pairs = measured(Evidence(name="pairs", value=[[n, n + 1] for n in range(20)]))
    assert pairs.value == "" and len(pairs.table) == 8 and pairs.table[0] == ("0", "1") and pairs.more == "12 more rows"
    assert measured(Evidence(name="few", value=[1, 2])).value == "1, 2"
    assert measured(Evidence(name="rows", value=list(range(20)))).value == "0, 1, 2, 3, 4, 5, 6, 7 and 12 more"
    told = [{"sample": 7, "labelled": "cat", "looks like": "dog"}]
    assert measured(Evidence(name="suggested", value=told)).table == (("sample 7", "labelled cat", "looks like dog"),)
    assert measured(Evidence(name="counts", value={"a": 1})).table == (("a", "1"),)


def test_the_page_of_a_large_model_stays_below_two_megabytes(folder: Path) -> None:
    names = [f"model.encoder.layers.{n // 6}.attention.projection{n % 6}.weight" for n in range(400)]
    cells = {name: {step: 1.0 + (step * 7 + n) % 97 for step in range(256)} for n, name in enumerate(names)}
    maps = [heat.draw(cells, key=f"map{n}", title=f"map {n}", caption="") for n in range(5)]
    drawn, noise = tuple(found for found in maps if found is not None), base64.b64encode(bytes(range(256)) * 4).decode()
    head = AttentionHead(entropy=0.5, diagonality=-0.001, map=noise)
    one = Attention(kind="MultiheadAttention", heads=[head] * 8, of=16, queries=64, keys=64, rows=32)
    many = pictures.Pictures(maps=drawn, attention=tuple(attention.drawn(one) for _ in range(32)))
    page = render(diagnose(folder, ()), pictures=many)
    assert len(page) < 2_000_000 and "8 of 16 heads" in page and "diagonality 0.00" in page
