"""Draw every rung of every synthetic task: docs/synth/NAME.svg. Small, without a plotting library."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any
from xml.sax.saxutils import escape

import numpy as np

from paramedic.synth.catalogue import TASKS
from paramedic.synth.sampling import Source
from paramedic.synth.task import Draw, Task
from paramedic.synth.tasks.multilabel import directions

FOLDER = Path(__file__).parent / "synth"
PANEL, GAP, TOP = 180, 14, 34
COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9")  # Okabe and Ito


def picture(task: Task) -> str:
    width, height = len(task.rungs) * (PANEL + GAP) + GAP, PANEL + TOP + GAP
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" font-size="10" '
        f'font-family="sans-serif"><title>{escape(task.summary)}</title><rect width="100%" height="100%" fill="#fff"/>'
    ]
    for level, rung in enumerate(task.rungs, 1):
        draw = Source(task, level, {}, seed=0, split="random", part="train").arrays(300)
        left = GAP + (level - 1) * (PANEL + GAP)
        name = rung.name if len(rung.name) < 36 else rung.name[:34] + "…"
        parts.append(f'<g transform="translate({left},{TOP})"><text y="-10">{level} {escape(name)}</text>')
        parts.append(f'<rect width="{PANEL}" height="{PANEL}" fill="#fafafa" stroke="#ccc"/>')
        parts += panel(task, draw, level)
        parts.append("</g>")
    return "\n".join([*parts, "</svg>", ""])


def panel(task: Task, draw: Draw, level: int) -> Iterator[str]:
    if task.form in ("image", "volume"):
        yield from images(draw)
    elif task.form == "tokens":
        yield from words(draw)
    elif task.form == "series":
        yield from curves(draw)
    elif task.goal == "values":
        x, target = draw.inputs[:, 3 if task.name == "friedman" else 0], np.asarray(draw.target)[:, 0]
        yield dots(x, target, COLOURS[0], (x, target))
    else:
        yield from clouds(task, draw, level)


def clouds(task: Task, draw: Draw, level: int) -> Iterator[str]:
    """Two columns of the input, in the colour of the class (of the first label)."""
    target = np.asarray(draw.target).astype(int)
    label = target[:, 0] if target.ndim > 1 else target
    x, y = draw.inputs[:, 0], draw.inputs[:, 1]
    if task.name == "ranking":
        x, y = (draw.inputs[:, i, 0] if level == 3 else draw.inputs[:, i].sum(axis=1) for i in (0, 1))
    if task.name == "multilabel":
        x, y = (draw.inputs @ directions(8, 4)).T[[0, 3]]
    for value in np.unique(label):
        yield dots(x[label == value], y[label == value], COLOURS[value % len(COLOURS)], (x, y))


def dots(x: Any, y: Any, colour: str, frame: tuple[Any, Any]) -> str:
    at = " ".join(f"M{a:.0f} {b:.0f}h0" for a, b in zip(scaled(x, frame[0]), PANEL - scaled(y, frame[1]), strict=True))
    return f'<path d="{at}" stroke="{colour}" stroke-width="3" stroke-linecap="round" fill="none"/>'


def curves(draw: Draw) -> Iterator[str]:
    """Three windows; the value to be forecast is the dot."""
    target = np.asarray(draw.target)
    everything = np.concatenate([draw.inputs[:3, :, 0], target[:3]], axis=1)
    for row, colour in zip(everything, COLOURS, strict=False):
        x, y = scaled(np.arange(len(row)), np.arange(len(row))), PANEL - scaled(row, everything)
        points = " ".join(f"{a:.0f},{b:.0f}" for a, b in zip(x[:-1], y[:-1], strict=True))
        yield f'<polyline points="{points}" stroke="{colour}" fill="none"/>'
        yield f'<circle cx="{x[-1]:.0f}" cy="{y[-1]:.0f}" r="3" fill="{colour}"/>'


def words(draw: Draw) -> Iterator[str]:
    marks = "()[]" if draw.inputs.min() > 0 and draw.inputs.shape[1] == 16 else ""
    show = lambda row: "".join(marks[v - 1] for v in row) if marks else " ".join(str(v) for v in row)  # noqa: E731
    for line in range(6):
        target = np.asarray(draw.target)[line]
        below = f"→ {show(target) if target.ndim else target}"
        for text, at, colour in ((show(draw.inputs[line]), 18, "#222"), (below, 30, COLOURS[0])):
            yield f'<text x="8" y="{at + 28 * line}" font-family="monospace" fill="{colour}">{escape(text)}</text>'


def images(draw: Draw) -> Iterator[str]:
    """Four samples; of a volume the slice through the middle of its box; masks and boxes in colour."""
    side = (PANEL - 12) / 2
    for number in range(4):
        pixels = draw.inputs[number, 0]
        target = draw.target
        if pixels.ndim == 3 and isinstance(target, dict):
            box = target["boxes"][number, 0]
            pixels = pixels[int((box[2] + box[5]) / 2 * len(pixels))]
        scale = side / len(pixels)
        yield f'<g transform="translate({4 + number % 2 * (side + 4):.0f},{4 + number // 2 * (side + 4):.0f}) '
        yield f'scale({scale:.2f})"><rect width="{len(pixels)}" height="{len(pixels)}"/>'
        for grey in range(1, 8):
            if path := squares(np.round(pixels * 7) == grey):
                yield f'<path d="{path}" fill="hsl(0 0% {grey * 14}%)"/>'
        if isinstance(target, dict):
            low, high = np.split(target["boxes"][number, 0].reshape(2, -1)[:, :2] * len(pixels), 2)
            (x, y), (w, h) = low[0], high[0] - low[0]
            colour = COLOURS[1 + int(target["labels"][number, 0])]
            yield f'<rect x="{x:g}" y="{y:g}" width="{w:g}" height="{h:g}" fill="none" stroke="{colour}" '
            yield 'stroke-width=".5"/>'
        elif target.ndim == 3:
            for value in (1, 2):
                yield f'<path d="{squares(target[number] == value)}" fill="{COLOURS[value]}" opacity=".45"/>'
        else:
            yield f'<text x="1" y="4" font-size="4" fill="{COLOURS[4]}">{target[number]}</text>'
        yield "</g>"


def squares(chosen: Any) -> str:
    """Runs of pixels as one path."""
    path = ""
    for row, line in enumerate(chosen):
        edges = np.flatnonzero(np.diff(np.concatenate([[0], line.astype(int), [0]])))
        path += "".join(f"M{a} {row}h{b - a}v1h{a - b}z" for a, b in zip(edges[::2], edges[1::2], strict=True))
    return path


def scaled(values: Any, among: Any) -> Any:
    low, high = np.min(among), np.max(among)
    return 8 + (PANEL - 16) * (values - low) / (high - low)


def main() -> None:
    FOLDER.mkdir(exist_ok=True)
    for task in TASKS.values():
        (FOLDER / f"{task.name}.svg").write_text(picture(task), encoding="utf-8")
    print(f"wrote {len(TASKS)} pictures below {FOLDER}")


if __name__ == "__main__":
    main()
