"""The pictures of the third set: coloured shapes, scanned digits, yards with balls and crates, cells.

They are drawn as the originals were, which would be too large to keep; numbers, sizes and faults are theirs.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
from PIL import Image, ImageDraw
from sklearn.datasets import load_digits

from benchmarks.audit.unseen.case import Case, picked, write_csv

Random = np.random.Generator
SHAPES = ("circle", "square", "triangle")


def shape(random: Random, kind: str, size: int = 48) -> Image.Image:
    """A shape of one colour on ground of another, anywhere and turned by any angle, with the noise of a camera."""
    ground, colour = random.integers(0, 256, (2, 3))
    picture = Image.new("RGB", (size, size), tuple(ground.tolist()))
    radius = random.uniform(10, 19)
    x, y = random.uniform(radius, size - radius, 2)
    draw = ImageDraw.Draw(picture)
    if kind == "circle":
        draw.ellipse((x - radius, y - radius, x + radius, y + radius), fill=tuple(colour.tolist()))
    else:
        sides = 4 if kind == "square" else 3
        draw.regular_polygon((x, y, radius), sides, rotation=int(random.integers(0, 360)), fill=tuple(colour.tolist()))
    noisy = np.asarray(picture) + random.normal(0, 8, (size, size, 3))
    return Image.fromarray(noisy.clip(0, 255).astype(np.uint8))


def shapes(here: Path, random: Random, each: int = 70, first: int = 0, ending: str = "png") -> list[Path]:
    paths = []
    for number, kind in enumerate(np.repeat(SHAPES, each).tolist(), first):
        path = here / kind / f"img_{number:04d}.{ending}"
        path.parent.mkdir(parents=True, exist_ok=True)
        shape(random, kind).save(path)
        paths.append(path)
    return paths


def _chosen(random: Random, paths: list[Path], count: int) -> list[Path]:
    return [paths[i] for i in sorted(picked(random, len(paths), count))]


def _names(paths: list[Path]) -> tuple[str, ...]:
    return tuple(f"{path.parent.name}/{path.name}" for path in paths)


def shapes_scan(here: Path, random: Random) -> Case:
    bad = _chosen(random, shapes(here, random, ending="jpg"), 3)
    for path, left in zip(bad, (0.5, 0.3, 0.0), strict=True):
        path.write_bytes(path.read_bytes()[: int(left * path.stat().st_size)])
    return Case(args=(".",), codes=("PM320",), files=_names(bad))


def shapes_web(here: Path, random: Random) -> Case:
    """Two grey, two with transparency, two stretched."""
    bad = _chosen(random, shapes(here, random), 6)
    for number, path in enumerate(bad):
        picture = Image.open(path)
        changed = picture.resize((96, 31)) if number % 3 == 2 else picture.convert(("L", "RGBA")[number % 3])
        changed.save(path)
    return Case(args=(".",), codes=("PM320", "PM321", "PM313"), files=_names(bad))


def shapes_cam(here: Path, random: Random) -> Case:
    bad = _chosen(random, shapes(here, random), 6)
    for path in bad:
        Image.new("RGB", (48, 48)).save(path)
    return Case(args=(".",), codes=("PM303", "PM321", "PM308", "PM320"), files=_names(bad))


def shapes_split(here: Path, random: Random) -> Case:
    """Twelve pictures of val are pictures of train, brighter and compressed again."""
    train = shapes(here / "train", random)
    shapes(here / "val", random, each=16, first=500)
    copies = []
    for number, path in enumerate(_chosen(random, train, 12), 600):
        copy = here / "val" / path.parent.name / f"img_{number:04d}.png"
        brighter = Image.fromarray((np.asarray(Image.open(path)) * 1.04).clip(0, 255).astype(np.uint8))
        brighter.save(here / "again.jpg", quality=80)
        Image.open(here / "again.jpg").save(copy)
        copies.append(copy)
    return Case(args=("train", "--val", "val"), codes=("PM307",), files=_names(copies))


def shapes_ok(here: Path, random: Random) -> Case:
    shapes(here / "train", random)
    shapes(here / "val", random, each=20, first=500)
    return Case(args=("train", "--val", "val"))


def digits_codes(here: Path, random: Random) -> Case:
    found = load_digits()
    order = random.permutation(len(found.target))
    np.savez(here / "digits.npz", X=(found.images[order] / 16).astype(np.float32), y=found.target[order] + 1)
    return Case(args=("digits.npz", "--label", "y"), codes=("PM304",))


def digit_folder(here: Path, random: Random) -> Case:
    """Six pictures of a 4 lie in folder 1, and six of a 1 in folder 4."""
    found = load_digits()
    chosen = np.concatenate([random.permutation(np.flatnonzero(found.target == d))[:40] for d in range(10)])
    bad = []
    labels = found.target[chosen].copy()
    for digit, other in ((1, 4), (4, 1)):
        labels[random.permutation(np.flatnonzero(found.target[chosen] == digit))[:6]] = other
    for number, place in enumerate(random.permutation(len(chosen)).tolist()):
        path = here / str(labels[place]) / f"scan_{number:03d}.png"
        path.parent.mkdir(exist_ok=True)
        pixels = (found.images[chosen[place]] * 255 / 16).astype(np.uint8)
        Image.fromarray(pixels).resize((24, 24), Image.Resampling.BICUBIC).save(path)
        bad += [path] if labels[place] != found.target[chosen[place]] else []
    return Case(args=(".",), codes=("PM310",), files=_names(bad))


def yard(here: Path, random: Random, frames: int) -> dict[str, Any]:
    """COCO boxes around balls and crates, and the pictures; some boxes touch the edge."""
    (here / "images").mkdir()
    images, boxes = [], []
    for number in range(frames):
        width, height = 160, int(random.choice([120, 140]))
        picture = Image.new("RGB", (width, height), tuple(random.integers(60, 220, 3).tolist()))
        draw = ImageDraw.Draw(picture)
        for _ in range(random.integers(1, 4)):
            w, h = random.integers(18, 60), random.integers(18, 50)
            x, y = int(random.integers(0, width - w + 1)), int(random.integers(0, height - h + 1))
            kind, fill = int(random.integers(1, 3)), tuple(random.integers(0, 256, 3).tolist())
            (draw.ellipse if kind == 1 else draw.rectangle)((x, y, x + w - 1, y + h - 1), fill=fill)
            box = {"bbox": [x, y, int(w), int(h)], "area": int(w * h), "category_id": kind, "iscrowd": 0}
            boxes.append({"id": len(boxes) + 1, "image_id": number + 1} | box)
        noisy = np.asarray(picture) + random.normal(0, 10, (height, width, 3))
        name = f"frame_{number:04d}.jpg"
        Image.fromarray(noisy.clip(0, 255).astype(np.uint8)).save(here / "images" / name)
        images.append({"id": number + 1, "file_name": name, "width": width, "height": height})
    kinds = [{"id": 1, "name": "ball"}, {"id": 2, "name": "crate"}]
    return {"images": images, "annotations": boxes, "categories": kinds}


def _damaged(here: Path, random: Random, count: int, damage: Any) -> Case:
    found = yard(here, random, 80)
    bad = sorted(picked(random, len(found["annotations"]), count))
    for number, place in enumerate(bad):
        box = found["annotations"][place]
        box["bbox"] = damage(box["bbox"], number)
        box["area"] = box["bbox"][2] * box["bbox"][3]
    (here / "annotations.json").write_text(json.dumps(found))
    rows = frozenset(found["annotations"][place]["image_id"] - 1 for place in bad)
    return Case(args=("annotations.json",), codes=("PM312",), rows=rows)


def yard_coco(here: Path, random: Random) -> Case:
    """Seven boxes reach far beyond the right edge."""
    return _damaged(here, random, 7, lambda box, _: [box[0] + 120, box[1], max(box[2], 50), box[3]])


def dock_coco(here: Path, random: Random) -> Case:
    """Six boxes without width or height."""
    return _damaged(here, random, 6, lambda box, n: [*box[:2], 0 if n % 2 else box[2], box[3] if n % 2 else 0])


def lane_boxes(here: Path, random: Random) -> Case:
    """A csv of boxes whose columns x2 and y2 hold width and height."""
    found = yard(here, random, 70)
    rows = [(b["image_id"], *b["bbox"], ("ball", "crate")[b["category_id"] - 1]) for b in found["annotations"]]
    names = ("image", "x1", "y1", "x2", "y2", "label")
    table = dict(zip(names, (list(column) for column in zip(*rows, strict=True)), strict=True))
    table["image"] = [f"images/frame_{number - 1:04d}.jpg" for number in table["image"]]
    write_csv(here / "boxes.csv", table)
    return Case(args=("boxes.csv", "--label", "label"), codes=("PM312",), columns=("x2", "y2"))


def yard_ok(here: Path, random: Random) -> Case:
    (here / "annotations.json").write_text(json.dumps(yard(here, random, 70)))
    return Case(args=("annotations.json",))


def cell_masks(here: Path, random: Random) -> Case:
    """Fourteen masks are shifted by seven pixels, down and to the right."""
    rows, columns = np.mgrid[:40, :40]
    masks = np.zeros((200, 40, 40), np.uint8)
    for mask in masks:
        for _ in range(random.integers(1, 3)):
            (y, x), (a, b) = random.uniform(9, 29, 2), random.uniform(4, 7, 2)
            mask[((rows - y) / a) ** 2 + ((columns - x) / b) ** 2 < 1] = 1
    images = (0.25 + 0.4 * masks + random.normal(0, 0.06, masks.shape)).clip(0, 1).astype(np.float32)
    bad = picked(random, 200, 14)
    for place in bad:
        masks[place] = np.roll(masks[place], (7, 7), (0, 1))
    np.savez(here / "cells.npz", images=images, masks=masks)
    return Case(args=("cells.npz", "--label", "masks"), codes=("PM311", "PM310", "PM317"), rows=bad)


FAULTS = (
    shapes_scan, shapes_web, shapes_cam, shapes_split, digits_codes, digit_folder, yard_coco, dock_coco, lane_boxes,
    cell_masks,
)  # fmt: skip
CLEAN = (shapes_ok, yard_ok)
