"""Files as strangers bring them: read rightly, or refused in words that help."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import paramedic
from paramedic.errors import ParamedicError

CHEAP = ["PM105", "PM303", "PM305", "PM306", "PM308"]


def audited(path: Path, content: str | bytes, **options: Any) -> Any:
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    report = paramedic.audit(path, select=CHEAP, **options)
    assert report.diagnosis.crashed == (), report.diagnosis.crashed[0].traceback
    return report


def lines(separator: str, decimal: str) -> str:
    random = np.random.default_rng(0)
    rows = [f"{a:.3f} {b:.3f}".replace(".", decimal).split() for a, b in random.normal(size=(60, 2))]
    table = [separator.join([*row, "yes" if i % 2 else "no"]) for i, row in enumerate(rows)]
    return "\n".join([separator.join(["länge", "breite", "label"]), *table]) + "\n"


@pytest.mark.parametrize(("separator", "decimal"), [(",", "."), (";", "."), (";", ","), ("|", "."), ("\t", ",")])
def test_tables_of_all_countries(tmp_path: Path, separator: str, decimal: str) -> None:
    report = audited(tmp_path / "a.csv", lines(separator, decimal))
    assert report.findings == () and "60 samples of 2 numbers" in report.diagnosis.run.data[0]
    assert list(report.audit.train.source.features["numbers"]) == ["länge", "breite"]
    zipped = audited(tmp_path / "b.csv.gz", gzip.compress(lines(separator, decimal).encode()))
    assert zipped.diagnosis.run.data[1:] == report.diagnosis.run.data[1:]


def test_another_encoding_is_said(tmp_path: Path) -> None:
    report = audited(tmp_path / "a.csv", lines(";", ",").encode("latin-1"))
    assert report.diagnosis.run.samples == 60 and "not in UTF-8" in report.diagnosis.run.notices[0]


def test_a_list_of_records_and_conversations(tmp_path: Path) -> None:
    random = np.random.default_rng(0)
    said = [" ".join(f"w{n}" for n in random.integers(0, 300, 20)) for _ in range(40)]
    records = [{"text": text, "label": i % 2} for i, text in enumerate(said)]
    assert "texts in 'text'" in audited(tmp_path / "a.json", json.dumps(records)).diagnosis.run.data[0]
    chats = [{"messages": [{"role": "user", "content": text}, {"role": "bot", "content": text[::-1]}]} for text in said]
    chats.append(chats[3])
    report = audited(tmp_path / "b.jsonl", "\n".join(map(json.dumps, chats)))
    assert "texts in 'messages'" in report.diagnosis.run.data[0] and report.findings[0].samples == (3, 40)


@pytest.mark.parametrize(
    ("name", "content", "said"),
    [
        ("ragged.csv", b"a,b\n1,2\n3,4\n5,6,7\n", "line 4 has 3 fields"),
        ("broken.npz", b"PK\x03\x04oops", "cannot be read"),
        ("broken.parquet", b"PAR1", "a parquet file"),
        ("broken.jsonl", b'{"a": 1}\n{oops\n', "one JSON object per line"),
        ("empty.csv", b"", "cannot be read"),
        ("no_rows.csv", b"a,b\n", "holds no samples"),
    ],
)
def test_what_cannot_be_read_is_refused_in_words(tmp_path: Path, name: str, content: bytes, said: str) -> None:
    with pytest.raises(ParamedicError) as refused:
        audited(tmp_path / name, content)
    assert said in str(refused.value)


def test_blanks_and_a_single_class_are_notes(tmp_path: Path) -> None:
    random = np.random.default_rng(0)
    rows = [
        f"{value if number % 9 else ''},{random.normal()},one" for number, value in enumerate(random.normal(size=60))
    ]
    report = audited(tmp_path / "a.csv", "a,b,label\n" + "\n".join(rows))
    assert [(f.code, f.severity) for f in report.findings] == [("PM105", "note"), ("PM305", "note")]


def test_nothing_is_made_of_a_guessed_target(tmp_path: Path) -> None:
    random = np.random.default_rng(0)
    rows = [f"{a},{b},{c}" for a, b, c in zip(*random.normal(size=(2, 30)), random.integers(0, 2, 30), strict=True)]
    (tmp_path / "a.csv").write_text("a,b,flag\n" + "\n".join(rows))
    for label, guessed in ((None, True), ("flag", False)):
        report = paramedic.audit(tmp_path / "a.csv", label=label, select=["PM311", "PM322"])
        assert report.findings == () and len(report.diagnosis.abstained) == 2
        assert all(("guessed" in abstention.reason) == guessed for abstention in report.diagnosis.abstained)


def test_arrays_whose_names_say_nothing(tmp_path: Path) -> None:
    random = np.random.default_rng(0)
    np.savez(tmp_path / "a.npz", foo=random.normal(size=(50, 4)), bar=np.arange(50) % 2)
    run = paramedic.audit(tmp_path / "a.npz", select=CHEAP).diagnosis.run
    assert "classification of 'bar'" in run.data[1] and "'foo'" in run.notices[0]
    np.savez(tmp_path / "b.npz", foo=random.normal(size=(50, 4)), bar=random.normal(size=(50, 4)))
    with pytest.raises(ParamedicError):
        paramedic.audit(tmp_path / "b.npz")


def test_images_of_sixteen_bits_are_not_cut(tmp_path: Path) -> None:
    image = pytest.importorskip("PIL.Image")
    random = np.random.default_rng(0)
    for number in range(24):
        deep = (random.random((16, 16)) * 60_000 + 300).astype(np.uint16)
        image.fromarray(deep).save(tmp_path / f"{number}.tif")
    report = paramedic.audit(tmp_path, select=["PM303"])
    assert report.findings == () and report.diagnosis.run.samples == 24
