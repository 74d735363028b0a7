"""Healthy data that looks odd: it must stay without an alarm."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
from PIL import Image

from benchmarks.audit.unseen.case import Case, write_csv
from benchmarks.audit.unseen.pictures import coco, cuttings, save, save_scenes
from benchmarks.audit.unseen.scripts import BOXES, FITTED, TABLE, _script
from benchmarks.audit.unseen.tables import real
from benchmarks.audit.unseen.texts import write

Random = np.random.Generator


def real_table_in_two_parts(here: Path, random: Random) -> Case:
    table = real("breast_cancer")
    write_csv(here / "train.csv", {c: v[:420] for c, v in table.items()})
    write_csv(here / "val.csv", {c: v[420:] for c, v in table.items()})
    return Case(args=("train.csv", "--val", "val.csv", "--label", "target"))


def shop(here: Path, random: Random) -> Case:
    """Missing cells, negative temperatures and balances, heavy-tailed incomes, rare towns."""
    n = 1200
    income = np.exp(random.normal(10, 1, n)).round()
    temperature = random.normal(6, 9, n).round(1)
    balance = random.standard_t(3, n).round(2) * 300
    cabin: Any = np.where(random.random(n) < 0.7, "", "C" + random.integers(1, 90, n).astype(str).astype(object))
    age: Any = random.integers(18, 90, n).astype(str).astype(object)
    age[random.random(n) < 0.2] = ""
    town = random.choice(["Lyon", "Graz", "Porto", "Ulm", "Split"], n, p=[0.5, 0.3, 0.15, 0.04, 0.01])
    bought = (np.log(income) + temperature / 20 + random.normal(0, 0.7, n) > 10.4).astype(int)
    columns = {"income": income, "temperature": temperature, "balance": balance, "cabin": cabin, "age": age}
    write_csv(here / "shop.csv", columns | {"town": town, "bought": bought})
    return Case(args=("shop.csv", "--label", "bought"))


def prices(here: Path, random: Random) -> Case:
    """A heavy-tailed target with a few palaces, and counts that are mostly zero."""
    n = 900
    area = random.gamma(4, 25, n).round(1)
    pools = random.poisson(0.05, n)
    price = np.exp(np.log(area) + 7 + 1.1 * random.standard_t(5, n) * 0.5 + pools).round(-2)
    write_csv(
        here / "houses.csv", {"area": area, "pools": pools, "year": random.integers(1900, 2025, n), "price": price}
    )
    return Case(args=("houses.csv", "--label", "price"))


def weak_signal(here: Path, random: Random) -> Case:
    """Labels are right, but what decides them is mostly not in the table."""
    x = random.normal(size=(1600, 8))
    y = (x[:, 0] + x[:, 1] * x[:, 2] + random.normal(0, 1.5, 1600) > 0).astype(int)
    write_csv(here / "weak.csv", {f"f{i}": x[:, i].round(4) for i in range(8)} | {"y": y})
    return Case(args=("weak.csv", "--label", "y"))


def small_shapes(here: Path, random: Random) -> Case:
    """Discs, squares and crosses of 20 × 20 pixels at random places, in grey noise; val from the same hand."""
    rows, columns = np.mgrid[:20, :20]

    def drawn(kind: int) -> Any:
        (y, x), size = random.integers(6, 14, 2), random.integers(3, 6)
        disc = (rows - y) ** 2 + (columns - x) ** 2 < size**2
        square = (abs(rows - y) < size) & (abs(columns - x) < size)
        cross = ((abs(rows - y) < 2) & (abs(columns - x) < size)) | ((abs(columns - x) < 2) & (abs(rows - y) < size))
        grey = (disc, square, cross)[kind] * random.integers(120, 220) + random.normal(25, 8, (20, 20))
        return grey.clip(0, 255).astype(np.uint8)

    names = ("disc", "square", "cross")
    for part, count in (("train", 100), ("val", 40)):
        save(here / "shapes" / part, [(name, drawn(kind)) for kind, name in enumerate(names) for _ in range(count)])
    return Case(args=("shapes",))


def template_sentences(here: Path, random: Random) -> Case:
    names = (
        "Anna",
        "Bill",
        "Carla",
        "Dinesh",
        "Eva",
        "Femi",
        "Gita",
        "Hugo",
        "Ines",
        "Jon",
        "Kemal",
        "Lea",
        "Mio",
        "Nora",
    )
    things = ("phone", "laptop", "camera", "kettle", "lamp", "bike", "jacket", "blender", "chair", "printer", "watch")
    good = ("love", "adore", "recommend", "enjoy")
    bad = ("hate", "regret buying", "returned", "dislike")

    def sentence() -> tuple[str, str]:
        label = random.integers(2)
        verb = random.choice((bad, good)[label])
        name, thing, days = random.choice(names), random.choice(things), random.integers(2, 400)
        text = f"My friend {name} and I bought this {thing} {days} days ago and by now we {verb} it very much."
        return text, ("negative", "positive")[label]

    found = list(dict.fromkeys(sentence() for _ in range(900)))
    write(here / "train.jsonl", found[:600])
    write(here / "val.jsonl", found[600:])
    return Case(args=("train.jsonl", "--val", "val.jsonl", "--label", "label"))


def photographs_of_many_sizes(here: Path, random: Random) -> Case:
    pieces = [
        (name, np.asarray(Image.fromarray(pixels).resize((int(random.integers(50, 90)), int(random.integers(50, 90))))))
        for name, pixels in cuttings(random, 60)
    ]
    save(here / "photos", pieces)
    return Case(args=("photos",))


def good_masks(here: Path, random: Random) -> Case:
    save_scenes(here / "scans", random)
    return Case(args=("scans",))


def good_boxes(here: Path, random: Random) -> Case:
    found = coco(here, random)
    found["annotations"][4]["bbox"][:1] = [0]  # at the border
    (here / "boxes.json").write_text(json.dumps(found))
    return Case(args=("boxes.json",))


def good_table_loader(here: Path, random: Random) -> Case:
    return Case(args=_script(here, TABLE, prepare=FITTED))


def good_box_loader(here: Path, random: Random) -> Case:
    (here / "boxes.json").write_text(json.dumps(coco(here, random)))
    return Case(args=_script(here, BOXES))


def scaled_on_train(here: Path, random: Random) -> Case:
    table = real("diabetes", scaled=False)
    for part, name in ((slice(0, 330), "train.csv"), (slice(330, None), "val.csv")):
        scaled = {c: v[part] if c == "target" else (v[part] - v[:330].mean()) / v[:330].std() for c, v in table.items()}
        write_csv(here / name, scaled)
    return Case(args=("train.csv", "--val", "val.csv", "--label", "target"))


CLEAN = (
    real_table_in_two_parts, shop, prices, weak_signal, small_shapes, template_sentences, photographs_of_many_sizes,
    good_masks, good_boxes, good_table_loader, good_box_loader, scaled_on_train,
)  # fmt: skip
