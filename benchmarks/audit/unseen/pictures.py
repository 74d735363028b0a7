"""Folders of pictures, masks and boxes. The pictures are cut out of the two photographs that scikit-learn carries."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
from PIL import Image
from sklearn.datasets import load_sample_image

from benchmarks.audit.unseen.case import Case, picked, write_csv

Random = np.random.Generator


def cuttings(random: Random, count: int, size: tuple[int, int] = (64, 64)) -> list[tuple[str, Any]]:
    """(class, pixels): pieces of the temple and of the flower that overlap little."""
    found = []
    for name in ("china", "flower"):
        photo = load_sample_image(f"{name}.jpg")
        places = [(r, c) for r in range(0, 360, 30) for c in range(0, 570, 30)]
        chosen = random.choice(len(places), count, replace=False)
        found += [(name, photo[r : r + size[0], c : c + size[1]]) for r, c in (places[i] for i in chosen)]
    return found


def save(here: Path, pieces: list[tuple[str, Any]], first: int = 0) -> list[Path]:
    paths = []
    for number, (name, pixels) in enumerate(pieces, first):
        path = here / name / f"{number:04d}.png"
        path.parent.mkdir(parents=True, exist_ok=True)
        Image.fromarray(pixels).save(path)
        paths.append(path)
    return paths


def _chosen(random: Random, paths: list[Path], count: int) -> list[Path]:
    return [paths[i] for i in picked(random, len(paths), count)]


def truncated_files(here: Path, random: Random) -> Case:
    bad = _chosen(random, save(here / "photos", cuttings(random, 60)), 3)
    for path in bad:
        path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])
    return Case(args=("photos",), codes=("PM320",), files=tuple(p.name for p in bad))


def grey_among_colours(here: Path, random: Random) -> Case:
    bad = _chosen(random, save(here / "photos", cuttings(random, 60)), 5)
    for path in bad:
        Image.open(path).convert("L").save(path)
    return Case(args=("photos",), codes=("PM320", "PM313"), files=tuple(p.name for p in bad))


def four_odd_sizes(here: Path, random: Random) -> Case:
    bad = _chosen(random, save(here / "photos", cuttings(random, 60)), 4)
    for path in bad:
        Image.open(path).resize((97, 41)).save(path)
    return Case(args=("photos",), codes=("PM320",), files=tuple(p.name for p in bad))


def black_pictures(here: Path, random: Random) -> Case:
    bad = _chosen(random, save(here / "photos", cuttings(random, 60)), 4)
    for path in bad:
        Image.new("RGB", (64, 64)).save(path)
    return Case(args=("photos",), codes=("PM303", "PM320", "PM308"), files=tuple(p.name for p in bad))


def recompressed_in_val(here: Path, random: Random) -> Case:
    pieces = cuttings(random, 80)
    order = random.permutation(len(pieces))
    train = save(here / "data" / "train", [pieces[i] for i in order[:120]])
    save(here / "data" / "val", [pieces[i] for i in order[120:]], 500)
    bad = _chosen(random, train, 6)
    for number, path in enumerate(bad):
        Image.open(path).save(here / "data" / "val" / path.parent.name / f"{900 + number}.jpg", quality=80)
    return Case(args=("data",), codes=("PM307",), files=tuple(f"{900 + n}.jpg" for n in range(6)))


def one_picture_in_two_classes(here: Path, random: Random) -> Case:
    bad = _chosen(random, save(here / "photos", cuttings(random, 60)), 4)
    for path in bad:
        other = "flower" if path.parent.name == "china" else "china"
        (here / "photos" / other / f"copy-{path.name}").write_bytes(path.read_bytes())
    return Case(args=("photos",), codes=("PM308", "PM310"), files=tuple(f"copy-{p.name}" for p in bad))


def files_that_are_not_there(here: Path, random: Random) -> Case:
    paths = save(here / "photos", cuttings(random, 60))
    rows = picked(random, len(paths), 3)
    names = [str(path.relative_to(here)) for path in paths]
    write_csv(here / "list.csv", {"image": names, "label": [path.parent.name for path in paths]})
    for row in rows:
        paths[row].unlink()
    return Case(args=("list.csv", "--label", "label"), codes=("PM320",), rows=rows, columns=("image",))


def scene(random: Random, size: int = 64) -> tuple[Any, Any]:
    """A photograph's dim background, a bright disc (1) and a bright square (2), and their mask."""
    r, c = random.integers(0, 300, 2)
    picture = load_sample_image("china.jpg")[r : r + size, c : c + size] // 3
    mask = np.zeros((size, size), np.uint8)
    rows, columns = np.mgrid[:size, :size]
    y, x, radius = random.integers(14, 50), random.integers(14, 28), random.integers(8, 13)
    mask[(rows - y) ** 2 + (columns - x) ** 2 < radius**2] = 1
    y, x, half = random.integers(14, 50), random.integers(44, 52), random.integers(7, 11)
    mask[y - half : y + half, x - half : x + half] = 2
    colours = np.array([[0, 0, 0], [220, 60, 40], [40, 80, 230]])
    picture = np.where(mask[..., None] > 0, colours[mask], picture) + random.normal(0, 12, (size, size, 3))
    return picture.clip(0, 255).astype(np.uint8), mask


def save_scenes(here: Path, random: Random, count: int = 60) -> list[tuple[Path, Any]]:
    found = []
    for kind in ("images", "masks"):
        (here / kind).mkdir(parents=True, exist_ok=True)
    for number in range(count):
        picture, mask = scene(random)
        Image.fromarray(picture).save(here / "images" / f"{number:03d}.png")
        Image.fromarray(mask).save(here / "masks" / f"{number:03d}.png")
        found.append((here / "masks" / f"{number:03d}.png", mask))
    return found


def smeared_masks(here: Path, random: Random) -> Case:
    """Ten masks scaled down and up again with interpolation."""
    masks = save_scenes(here / "scans", random)
    rows = picked(random, len(masks), 10)
    for row in rows:
        path, mask = masks[row]
        small = Image.fromarray(mask * 60).resize((24, 24), Image.Resampling.BILINEAR)
        Image.fromarray(
            np.rint(np.asarray(small.resize((64, 64), Image.Resampling.BILINEAR)) / 60).astype(np.uint8)
        ).save(path)
    return Case(args=("scans",), codes=("PM304", "PM310"), rows=rows)


def eroded_masks(here: Path, random: Random) -> Case:
    from scipy.ndimage import binary_erosion

    masks = save_scenes(here / "scans", random)
    rows = picked(random, len(masks), 8)
    for row in rows:
        path, mask = masks[row]
        kept = binary_erosion(mask == 1, iterations=4) * 1 + binary_erosion(mask == 2, iterations=4) * 2
        Image.fromarray(kept.astype(np.uint8)).save(path)
    return Case(args=("scans",), codes=("PM310", "PM311", "PM304"), rows=rows)


def empty_masks(here: Path, random: Random) -> Case:
    masks = save_scenes(here / "scans", random)
    rows = picked(random, len(masks), 5)
    for row in rows:
        Image.fromarray(np.zeros((64, 64), np.uint8)).save(masks[row][0])
    return Case(args=("scans",), codes=("PM310", "PM303", "PM320", "PM304"), rows=rows)


def coco(here: Path, random: Random, count: int = 50) -> dict[str, Any]:
    """Photographs and boxes as a careful person would have them."""
    (here / "img").mkdir(parents=True, exist_ok=True)
    images, notes = [], []
    for number in range(count):
        picture, mask = scene(random, 96)
        Image.fromarray(picture).save(here / "img" / f"{number:05d}.jpg")
        images.append({"id": 100 + number, "file_name": f"{number:05d}.jpg", "width": 96, "height": 96})
        for kind in (1, 2):
            rows, columns = np.nonzero(mask == kind)
            x, y = int(columns.min()), int(rows.min())
            box = [x, y, int(columns.max()) + 1 - x, int(rows.max()) + 1 - y]
            notes.append({"id": len(notes) + 1, "image_id": 100 + number, "category_id": kind, "bbox": box,
                          "area": box[2] * box[3], "iscrowd": 0})  # fmt: skip
    kinds = [{"id": 1, "name": "disc"}, {"id": 2, "name": "square"}]
    return {"images": images, "annotations": notes, "categories": kinds}


def _coco_case(here: Path, found: dict[str, Any], bad: list[int], codes: tuple[str, ...] = ("PM312",)) -> Case:
    (here / "boxes.json").write_text(json.dumps(found))
    return Case(args=("boxes.json",), codes=codes, files=tuple(f"{number:05d}.jpg" for number in bad))


def boxes_outside(here: Path, random: Random) -> Case:
    found = coco(here, random)
    bad = sorted(picked(random, 50, 4))
    for number in bad:
        found["annotations"][2 * number]["bbox"][0] = 88
    return _coco_case(here, found, bad)


def corners_for_sizes(here: Path, random: Random) -> Case:
    """In five pictures the boxes are x1 y1 x2 y2."""
    found = coco(here, random)
    bad = sorted(picked(random, 50, 5))
    for number in bad:
        for note in found["annotations"][2 * number : 2 * number + 2]:
            x, y, w, h = note["bbox"]
            note["bbox"] = [x, y, x + w, y + h]
    return _coco_case(here, found, bad)


def category_that_is_none(here: Path, random: Random) -> Case:
    found = coco(here, random)
    bad = sorted(picked(random, 50, 3))
    for number in bad:
        found["annotations"][2 * number]["category_id"] = 7
    return _coco_case(here, found, bad, ("PM304", "PM312", "PM320"))


FAULTS = (
    truncated_files, grey_among_colours, four_odd_sizes, black_pictures, recompressed_in_val,
    one_picture_in_two_classes, files_that_are_not_there, smeared_masks, eroded_masks, empty_masks, boxes_outside,
    corners_for_sizes, category_that_is_none,
)  # fmt: skip
