"""Pictures that do not have the size written beside their boxes."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from PIL import Image

import paramedic


def boxes(
    folder: Path, pictures: dict[str, Image.Image], *, exif: tuple[str, ...] = (), voc: bool = False
) -> list[Any]:
    """The findings on pictures of 80 × 60, as the annotation says."""
    marked = Image.Exif()
    marked[0x0112] = 6
    images, annotations = [], []
    for number, (name, picture) in enumerate(pictures.items()):
        picture.save(folder / name, **({"exif": marked} if name in exif else {}))
        images.append({"id": number, "file_name": name, "width": 80, "height": 60})
        annotations.append({"id": number, "image_id": number, "category_id": 1, "bbox": [5, 10, 30, 40], "area": 1200})
        if voc:
            (folder / f"{number:02d}.xml").write_text(
                f"<annotation><filename>{name}</filename><size><width>80</width><height>60</height></size><object>"
                "<name>cup</name><bndbox><xmin>5</xmin><ymin>10</ymin><xmax>35</xmax><ymax>50</ymax></bndbox></object>"
                "</annotation>"
            )
    (folder / "boxes.json").write_text(
        json.dumps({"images": images, "annotations": annotations, "categories": [{"id": 1, "name": "cup"}]})
    )
    report = paramedic.audit(folder if voc else folder / "boxes.json", select=["PM312", "PM320"])
    assert report.diagnosis.crashed == ()
    return [(finding.code, finding.severity, finding.samples) for finding in report.findings]


def album(*odd: int, size: tuple[int, int] = (80, 60)) -> dict[str, Image.Image]:
    return {f"{i:02d}.jpg": Image.new("RGB", size if i in odd else (80, 60), (90, 120, 40)) for i in range(12)}


@pytest.mark.parametrize("voc", [False, True])
def test_pictures_stored_on_their_side(tmp_path: Path, voc: bool) -> None:
    turned = (1, 3, 5, 7, 9)
    pictures = album(*turned, size=(60, 80))
    found = boxes(tmp_path, pictures, exif=tuple(f"{i:02d}.jpg" for i in turned), voc=voc)
    assert found == [("PM312", "warning", turned)]


def test_a_few_that_were_resized(tmp_path: Path) -> None:
    assert boxes(tmp_path, album(2, 6, size=(40, 30))) == [("PM312", "warning", (2, 6))]


def test_all_resized_is_a_note_for_a_loader_may_know(tmp_path: Path) -> None:
    assert boxes(tmp_path, album(*range(12), size=(40, 30))) == [("PM312", "note", tuple(range(12)))]


def test_as_they_are_written_down(tmp_path: Path) -> None:
    assert boxes(tmp_path, album(), exif=("03.jpg",)) == []
