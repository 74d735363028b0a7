"""Synthetic tasks as files, and back: a folder with train and test, and `task.json`, which states the optimum."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from paramedic.errors import ParamedicError
from paramedic.synth import pictures
from paramedic.synth.sampling import Source, sizes
from paramedic.synth.task import Array, Task

Columns = dict[str, Array]
Parts = dict[str, Columns]
CARD = "task.json"


def write(
    task: Task,
    folder: Path,
    *,
    format: str,
    n: int,
    seed: int,
    split: str,
    level: int | None,
    settings: Mapping[str, object],
) -> list[Path]:
    """The files that were written, the card last."""
    if format not in WRITERS:
        raise ParamedicError(f"there is no format {format!r}", expected=", ".join(WRITERS), fix="--format npz")
    if folder.exists() and (not folder.is_dir() or (any(folder.iterdir()) and not (folder / CARD).exists())):
        raise ParamedicError(
            f"{folder} already exists and was not written by paramedic",
            expected="a new folder",
            fix=f"--out {folder}-{task.name}",
        )
    parts = [Source(task, level, settings, seed=seed, split=split, part=part) for part in ("train", "test")]
    draws = [source.arrays(count) for source, count in zip(parts, sizes(n), strict=True)]
    folder.mkdir(parents=True, exist_ok=True)
    paths, types = [], {}
    for source, draw in zip(parts, draws, strict=True):
        columns = draw.columns()
        types = {name: [str(values.dtype), list(values.shape[1:])] for name, values in columns.items()}
        paths.append(WRITERS[format](columns, folder, source.part))
    card = {
        "task": task.name,
        "summary": task.summary,
        "level": level or task.usual,
        "rung": task.rung(level).name,
        "settings": parts[0].settings,
        "seed": seed,
        "split": split,
        "format": format,
        "samples": {source.part: len(draw.inputs) for source, draw in zip(parts, draws, strict=True)},
        "optimum": {source.part: float(draw.risk.mean()) for source, draw in zip(parts, draws, strict=True)},
        "columns": types,
    }
    (folder / CARD).write_text(json.dumps(card, indent=2) + "\n", encoding="utf-8")
    return [*paths, folder / CARD]


def read(folder: Path) -> Parts:
    try:
        card = json.loads((folder / CARD).read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise ParamedicError(
            f"{folder} has no {CARD}", expected="a folder that `paramedic synth` wrote", fix="paramedic synth list"
        ) from None
    found: Parts = {}
    for part in ("train", "test"):
        raw = READERS[card["format"]](folder, part)
        found[part] = {
            name: np.asarray(raw[name], dtype=kind).reshape(-1, *shape)
            for name, (kind, shape) in card["columns"].items()
        }
    return found


def _write_npz(columns: Columns, folder: Path, part: str) -> Path:
    path = folder / f"{part}.npz"
    np.savez_compressed(path, **columns)  # type: ignore[arg-type]  # numpy's stub takes `allow_pickle` for one of them
    return path


def _read_npz(folder: Path, part: str) -> Mapping[str, object]:
    with np.load(folder / f"{part}.npz") as found:
        return dict(found)


def _write_jsonl(columns: Columns, folder: Path, part: str) -> Path:
    """Floats are written so that they read back as the same float32."""
    path = folder / f"{part}.jsonl"
    rows = zip(*(values.tolist() for values in columns.values()), strict=True)
    with path.open("w", encoding="utf-8") as stream:
        for row in rows:
            stream.write(json.dumps(dict(zip(columns, row, strict=True))) + "\n")
    return path


def _read_jsonl(folder: Path, part: str) -> Mapping[str, object]:
    with (folder / f"{part}.jsonl").open(encoding="utf-8") as stream:
        rows = [json.loads(line) for line in stream]
    return {name: [row[name] for row in rows] for name in rows[0]}


def _write_parquet(columns: Columns, folder: Path, part: str) -> Path:
    """A table has a column per feature (x0, x1, … and y); pictures and sequences are lists."""
    polars = _polars()
    flat = {name: values.reshape(len(values), -1) for name, values in columns.items()}
    if columns["input"].ndim == 2 and columns["input"].dtype.kind == "f" and flat["target"].shape[1] == 1:
        table = {f"x{i}": flat["input"][:, i] for i in range(flat["input"].shape[1])} | {"y": flat["target"][:, 0]}
    else:
        table = {name: values[:, 0] if values.shape[1] == 1 else values for name, values in flat.items()}
    path = folder / f"{part}.parquet"
    polars.DataFrame(table).write_parquet(path)
    return path


def _read_parquet(folder: Path, part: str) -> Mapping[str, Any]:
    table = _polars().read_parquet(folder / f"{part}.parquet")
    if "y" not in table.columns:
        return {name: table[name].to_list() for name in table.columns}
    return {"input": table.drop("y").to_numpy(), "target": table["y"].to_numpy()}


def _polars() -> Any:
    try:
        import polars
    except ImportError:
        raise ParamedicError(
            "parquet files need polars", expected="polars installed", fix="pip install polars"
        ) from None
    return polars


WRITERS = {"npz": _write_npz, "jsonl": _write_jsonl, "parquet": _write_parquet, "images": pictures.write}
READERS = {"npz": _read_npz, "jsonl": _read_jsonl, "parquet": _read_parquet, "images": pictures.read}
