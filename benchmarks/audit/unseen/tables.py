"""Tables: csv, jsonl and npz."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
from sklearn import datasets

from benchmarks.audit.unseen.case import Case, picked, write_csv

Random = np.random.Generator


def real(name: str, **options: Any) -> dict[str, Any]:
    """A set of scikit-learn as columns, in random order, the target last."""
    found = getattr(datasets, f"load_{name}")(**options)
    order = np.random.default_rng(7).permutation(len(found.target))
    columns = {str(c): found.data[order, i] for i, c in enumerate(found.feature_names)}
    target = found.target[order]
    return columns | {"target": found.target_names[target] if "target_names" in found else target}


def conflicting_duplicates(here: Path, random: Random) -> Case:
    table = real("wine")
    rows = sorted(picked(random, 178, 12))
    other = {"class_0": "class_1", "class_1": "class_2", "class_2": "class_0"}
    for name, values in table.items():
        more = [other[values[r]] for r in rows] if name == "target" else values[rows]
        table[name] = np.concatenate([values, more])
    write_csv(here / "wine.csv", table)
    return Case(
        args=("wine.csv", "--label", "target"),
        codes=("PM308", "PM310"),
        rows=frozenset(range(178, 190)),
        spare=frozenset(rows),
    )


def unit_in_some_rows(here: Path, random: Random) -> Case:
    """Height in metres, in eight rows in centimetres."""
    n = 600
    height = random.normal(1.72, 0.09, n).round(2)
    weight = (24 * height**2 * random.normal(1, 0.12, n)).round(1)
    age = random.integers(18, 80, n)
    risk = (weight / height**2 + age / 4 + random.normal(0, 3, n) > 36).astype(int)
    rows = picked(random, n, 8)
    height[list(rows)] = (height[list(rows)] * 100).round()
    write_csv(here / "people.csv", {"age": age, "height": height, "weight": weight, "risk": risk})
    return Case(args=("people.csv", "--label", "risk"), codes=("PM321", "PM301"), rows=rows, columns=("height",))


def sentinel_in_a_column(here: Path, random: Random) -> Case:
    table = real("diabetes", scaled=False)
    rows = picked(random, 442, 10)
    table["bp"][list(rows)] = -999
    write_csv(here / "d.csv", table)
    return Case(args=("d.csv", "--label", "target"), codes=("PM321", "PM105"), rows=rows, columns=("bp",))


def sentinel_in_the_target(here: Path, random: Random) -> Case:
    table = real("diabetes", scaled=False)
    rows = picked(random, 442, 5)
    table["target"][list(rows)] = 99999
    write_csv(here / "d.csv", table)
    return Case(args=("d.csv", "--label", "target"), codes=("PM321", "PM302"), rows=rows, columns=("target",))


def target_in_another_unit(here: Path, random: Random) -> Case:
    table = real("diabetes", scaled=False)
    rows = picked(random, 442, 4)
    table["target"][list(rows)] *= 1000
    write_csv(here / "d.csv", table)
    return Case(args=("d.csv", "--label", "target"), codes=("PM321", "PM302"), rows=rows, columns=("target",))


def negative_radius(here: Path, random: Random) -> Case:
    table = real("breast_cancer")
    rows = picked(random, 569, 5)
    table["mean radius"][list(rows)] *= -1
    write_csv(here / "cells.csv", table)
    return Case(args=("cells.csv", "--label", "target"), codes=("PM321",), rows=rows, columns=("mean radius",))


def target_as_a_column(here: Path, random: Random) -> Case:
    table = real("diabetes", scaled=False)
    table = {"progression": table["target"].copy(), **table}
    write_csv(here / "d.csv", table)
    return Case(args=("d.csv", "--label", "target"), codes=("PM324",), columns=("progression",))


def logarithm_of_the_target(here: Path, random: Random) -> Case:
    table = real("diabetes", scaled=False)
    table = {"log_y": np.log(table["target"]).round(3), **table}
    write_csv(here / "d.csv", table)
    return Case(args=("d.csv", "--label", "target"), codes=("PM324",), columns=("log_y",))


def class_as_a_number(here: Path, random: Random) -> Case:
    """A code of the class, left by a merge, in other numbers than the class."""
    table = real("iris")
    code = {"setosa": 30, "versicolor": 10, "virginica": 20}
    table = {"species_code": np.array([code[v] for v in table["target"]]), **table}
    write_csv(here / "iris.csv", table)
    return Case(args=("iris.csv", "--label", "target"), codes=("PM324",), columns=("species_code",))


def label_typos(here: Path, random: Random) -> Case:
    table = real("wine")
    labels = table["target"].astype(object)
    rows = picked(random, 178, 5)
    for row, typo in zip(sorted(rows), ("Class_0", "class_1 ", "clas_2", "class-1", "class_O"), strict=True):
        labels[row] = typo
    table["target"] = labels
    write_csv(here / "wine.csv", table)
    return Case(args=("wine.csv", "--label", "target"), codes=("PM304", "PM310"), rows=rows)


def category_unknown_to_train(here: Path, random: Random) -> Case:
    towns = np.array(["Lyon", "Graz", "Porto", "Bergen"])

    def part(n: int) -> dict[str, Any]:
        town, size = random.integers(0, 4, n), random.gamma(4, 20, n).round(1)
        return {"town": towns[town], "size": size, "price": (size * (3 + town) + random.normal(0, 20, n)).round(1)}

    write_csv(here / "train.csv", part(500))
    val = part(150)
    rows = picked(random, 150, 9)
    val["town"] = val["town"].astype(object)
    val["town"][list(rows)] = "Split"
    write_csv(here / "val.csv", val)
    return Case(
        args=("train.csv", "--val", "val.csv", "--label", "price"),
        codes=("PM318", "PM320", "PM323"),
        rows=rows,
        columns=("town",),
    )


def validation_scaled_by_itself(here: Path, random: Random) -> Case:
    table = real("breast_cancer")
    for part, name in ((slice(0, 420), "train.csv"), (slice(420, None), "val.csv")):
        scaled = {
            c: v[part] if c == "target" else ((v[part] - v[part].mean()) / v[part].std()).round(6)
            for c, v in table.items()
        }
        write_csv(here / name, scaled)
    return Case(args=("train.csv", "--val", "val.csv", "--label", "target"), codes=("PM314",))


def rounded_rows_in_both_parts(here: Path, random: Random) -> Case:
    table = real("breast_cancer")
    train = {c: v[:420] for c, v in table.items()}
    val = {c: v[420:] for c, v in table.items()}
    rows = sorted(picked(random, 149, 15))
    for c, values in val.items():
        more = values[rows] if c == "target" else [f"{v:.4g}" for v in values[rows]]
        train[c] = np.concatenate([train[c], more])
    write_csv(here / "train.csv", train)
    write_csv(here / "val.csv", val)
    return Case(args=("train.csv", "--val", "val.csv", "--label", "target"), codes=("PM307",), rows=frozenset(rows))


def wrong_labels(here: Path, random: Random) -> Case:
    table = real("wine")
    rows = picked(random, 178, 9)
    other = {"class_0": "class_2", "class_1": "class_0", "class_2": "class_1"}
    for row in rows:
        table["target"][row] = other[table["target"][row]]
    write_csv(here / "wine.csv", table)
    return Case(args=("wine.csv", "--label", "target"), codes=("PM310",), rows=rows)


def constant_in_train_only(here: Path, random: Random) -> Case:
    table = real("breast_cancer")
    train = {c: v[:420].copy() for c, v in table.items()}
    train["mean texture"][:] = 0
    write_csv(here / "train.csv", train)
    write_csv(here / "val.csv", {c: v[420:] for c, v in table.items()})
    return Case(
        args=("train.csv", "--val", "val.csv", "--label", "target"), codes=("PM303",), columns=("mean texture",)
    )


def text_in_a_number_column(here: Path, random: Random) -> Case:
    table = real("diabetes", scaled=False)
    rows = picked(random, 442, 7)
    bmi = table["bmi"].astype(str).astype(object)
    for row in rows:
        bmi[row] = "unknown" if row % 2 else '"' + bmi[row].replace(".", ",") + '"'
    write_csv(here / "d.csv", table | {"bmi": bmi})
    return Case(args=("d.csv", "--label", "target"), codes=("PM320", "PM105"), rows=rows, columns=("bmi",))


def keys_missing_in_jsonl(here: Path, random: Random) -> Case:
    table = real("diabetes", scaled=False)
    rows = picked(random, 442, 6)
    with (here / "d.jsonl").open("w") as out:
        for i in range(442):
            record = {c: float(v[i]) for c, v in table.items() if not (i in rows and c in ("s5", "bmi"))}
            out.write(json.dumps(record) + "\n")
    return Case(args=("d.jsonl", "--label", "target"), codes=("PM105", "PM320"), rows=rows, columns=("bmi", "s5"))


def _digits() -> tuple[Any, Any]:
    found = datasets.load_digits()
    order = np.random.default_rng(3).permutation(len(found.target))
    return found.images[order].astype(np.float32), found.target[order]


def nan_in_npz(here: Path, random: Random) -> Case:
    x, y = _digits()
    rows = picked(random, len(x), 4)
    x[list(rows), 3, 4] = np.nan
    np.savez(here / "digits.npz", x=x / 16, y=y)
    return Case(args=("digits.npz", "--label", "y"), codes=("PM105",), rows=rows)


def blank_digits(here: Path, random: Random) -> Case:
    x, y = _digits()
    rows = picked(random, len(x), 6)
    x[list(rows)] = 0
    np.savez(here / "digits.npz", x=x / 16, y=y)
    return Case(args=("digits.npz", "--label", "y"), codes=("PM303", "PM320", "PM308"), rows=rows)


def label_255(here: Path, random: Random) -> Case:
    x, y = _digits()
    rows = picked(random, len(x), 3)
    y = y.astype(np.uint8)
    y[list(rows)] = 255
    np.savez(here / "digits.npz", x=x / 16, y=y)
    return Case(args=("digits.npz", "--label", "y"), codes=("PM304",), rows=rows)


FAULTS = (
    conflicting_duplicates, unit_in_some_rows, sentinel_in_a_column, sentinel_in_the_target, target_in_another_unit,
    negative_radius, target_as_a_column, logarithm_of_the_target, class_as_a_number, label_typos,
    category_unknown_to_train, validation_scaled_by_itself, rounded_rows_in_both_parts, wrong_labels,
    constant_in_train_only, text_in_a_number_column, keys_missing_in_jsonl, nan_in_npz, blank_digits, label_255,
)  # fmt: skip
