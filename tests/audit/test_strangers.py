"""`paramedic audit` on faults as strangers make them: each is an alarm that names rows, columns and files."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from benchmarks.audit.unseen import clean, fourth, pictures, scripts, tables, texts, third, third_pictures
from benchmarks.audit.unseen.__main__ import judged
from benchmarks.audit.unseen.case import Case, Plant
from PIL import Image

import paramedic
from paramedic.audit.models.spelling import slips
from paramedic.reports.json import render

FAST = (
    tables.conflicting_duplicates, tables.unit_in_some_rows, tables.sentinel_in_a_column, tables.negative_radius,
    tables.target_in_another_unit, tables.logarithm_of_the_target, tables.class_as_a_number, tables.label_typos,
    tables.category_unknown_to_train, tables.validation_scaled_by_itself, tables.text_in_a_number_column,
    tables.label_255, pictures.grey_among_colours, pictures.black_pictures, pictures.one_picture_in_two_classes,
    pictures.files_that_are_not_there, pictures.smeared_masks, pictures.empty_masks, pictures.corners_for_sizes,
    pictures.category_that_is_none, texts.near_copies_with_other_labels, texts.empty_texts,
)  # fmt: skip
AS_WRITTEN = tuple(
    third.stored(name)
    for name in (
        "clinic_heights", "trial_registry", "shop_orders", "export_eu_us", "grapes_val", "reviews_split",
        "reviews_import", "token_cache", "ner_tokens",
    )
)  # fmt: skip
HEALTHY = (
    *(third.stored(name) for name in ("patients_ok", "orders_ok", "reviews_ok", "tokens_ok", "wine_ok")),
    third_pictures.yard_ok,
    fourth.written("clean_pcb"),
    clean.shop,
    clean.prices,
    clean.small_shapes,
    clean.template_sentences,
    clean.good_masks,
    clean.good_boxes,
)


def audited(case: Case, folder: Path, codes: tuple[str, ...]) -> list[dict[str, Any]]:
    """The findings as a machine reads them; only these codes, so that no model is fitted for nothing."""
    words = dict(zip(case.args[1::2], case.args[2::2], strict=True))
    train, val = folder / case.args[0], words.get("--val")
    if (train / "train").is_dir():
        train, val = train / "train", str(train / "val")
    report = paramedic.audit(train, None if val is None else folder / val, label=words.get("--label"), select=codes)
    assert report.diagnosis.crashed == ()
    found: list[dict[str, Any]] = json.loads(render(report.diagnosis))["findings"]
    return found


@pytest.mark.parametrize(
    "plant",
    (*FAST, *AS_WRITTEN, third_pictures.lane_boxes, fourth.written("masks_bad")),
    ids=lambda plant: plant.__name__,
)
def test_a_strangers_fault_is_an_alarm_that_names_it(plant: Plant, tmp_path: Path) -> None:
    case = plant(tmp_path, np.random.default_rng(5))
    assert judged(case, audited(case, tmp_path, case.codes)) == "right"


@pytest.mark.parametrize("plant", HEALTHY, ids=lambda plant: plant.__name__)
def test_healthy_data_that_looks_odd_raises_no_alarm(plant: Plant, tmp_path: Path) -> None:
    case = plant(tmp_path, np.random.default_rng(5))
    codes = ("PM105", "PM30", "PM312", "PM314", "PM318", "PM32")
    assert [finding for finding in audited(case, tmp_path, codes) if finding["severity"] != "note"] == []


def test_boxes_of_a_loader_are_named_by_their_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    case = scripts.boxes_of_a_loader(tmp_path, np.random.default_rng(5))
    monkeypatch.chdir(tmp_path)
    program: dict[str, Any] = {}
    exec((tmp_path / "train.py").read_text().partition("net =")[0], program)
    report = paramedic.audit(program["loader"], select=["PM312"])
    assert {file for finding in report.findings for file in finding.files} == set(case.files)
    assert {row for finding in report.findings for row in finding.samples} == set(case.rows)


def test_classes_with_numbers_in_their_names_are_no_slips() -> None:
    assert slips({"class_1": 400, "class_2": 1, "class_10": 2}) == {}
    assert slips({"cat": 400, "bat": 1, "horse": 300, "Horse ": 2}) == {"Horse ": "horse"}
    assert slips({"setosa": 50, "setsoa": 1}) == {}, "two letters changed: it may be a word of its own"


def test_a_picture_stays_as_dark_as_it_is(tmp_path: Path) -> None:
    """A set that was divided by 255 twice looks black on the page, and says so."""
    random = np.random.default_rng(0)
    x = random.random((40, 1, 16, 16), dtype=np.float32) / 255
    page = paramedic.audit((x, np.arange(40) % 2)).rendered("html")
    assert "values 0.0000" in page or "e-0" in page
    assert "0 is black and 1 is white" in page
    assert page.index("Ordinary samples") < page.index("Distributions")


def test_advice_on_scaling_names_column_transform_and_part(tmp_path: Path) -> None:
    random = np.random.default_rng(0)
    income, year = np.exp(random.normal(10, 1.2, 300)), random.integers(1900, 2000, 300)
    balance, z = 1e4 * random.standard_t(0.8, 300), random.normal(size=300)
    rows = zip(income, year, balance, z, strict=True)
    lines = [f"{a:.2f},{b},{c:.2f},{d:.3f},{d > 0:d}" for a, b, c, d in rows]
    (tmp_path / "t.csv").write_text("\n".join(["income,year,balance,z,bought", *lines]))
    (finding,) = paramedic.audit(tmp_path / "t.csv", label="bought", select=["PM301"]).findings
    assert "log1p of 'income'" in finding.remedy and "fit(x_train)" in finding.remedy
    assert "standardise 'balance', whose tails are long on both sides, then tanh" in finding.remedy
    assert {"income", "balance"} <= set(finding.columns)


def test_a_class_of_empty_pictures_is_meant(tmp_path: Path) -> None:
    random = np.random.default_rng(0)
    for name in ("something", "nothing"):
        (tmp_path / name).mkdir()
        for number in range(30):
            pixels = random.integers(0, 255, (16, 16)) * (name == "something")
            Image.fromarray(pixels.astype(np.uint8)).save(tmp_path / name / f"{number}.png")
    assert paramedic.audit(tmp_path, select=["PM303"]).diagnosis.alarms == ()


def test_an_option_of_a_rule_holds_for_audits_too(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    x, y = np.random.default_rng(0).normal(size=(120, 4)), np.asarray([0] * 96 + [1] * 24)
    monkeypatch.chdir(tmp_path)
    assert paramedic.audit((x, y), select=["PM305"]).findings == ()
    (tmp_path / "pyproject.toml").write_text("[tool.paramedic.rules.PM305]\nratio = 3.0\n")
    assert [finding.code for finding in paramedic.audit((x, y), select=["PM305"]).findings] == ["PM305"]


def test_pixels_that_end_at_other_values_in_val_were_scaled_otherwise() -> None:
    random = np.random.default_rng(0)
    x = random.integers(0, 17, (400, 1, 8, 8)).astype(np.float32) / 16
    y = np.arange(400) % 2
    apart = paramedic.audit(((x[:300] - 0.5) / 0.3, y[:300]), val=(x[300:], y[300:]), select=["PM318"])
    assert [finding.severity for finding in apart.findings] == ["warning"], apart.findings
    assert paramedic.audit((x[:300], y[:300]), val=(x[300:], y[300:]), select=["PM318"]).findings == ()
