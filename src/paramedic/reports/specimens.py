"""Samples of the first and the last batch that were looked at, of training and of evaluation."""

from __future__ import annotations

import base64
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from paramedic.record.facts import Specimens
from paramedic.record.reader import Run
from paramedic.reports.png import COLOUR, GREY, data_uri

MARKS = {True: "✓", False: "✗", None: ""}
KINDS = {"pictures": "pictures", "rows": "rows of numbers", "tokens": "tokens"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Sample:
    """One sample with its label and the model's answer."""

    image: str = ""  # a data URI
    cells: tuple[str, ...] = ()
    text: str = ""
    label: str = ""
    answer: str = ""
    mark: str = ""  # whether the answer is the label, where these are classes


@dataclass(frozen=True, slots=True, kw_only=True)
class Sheet:
    """Some samples of a batch."""

    title: str
    note: str
    samples: tuple[Sample, ...]
    width: int = 0  # of its pictures, in pixels on the page
    more: int = 0  # columns or tokens that are not shown


def sheets(run: Run) -> tuple[Sheet, ...]:
    """The first and the last batch of each phase."""
    found = list(run.facts(Specimens))
    chosen = []
    for phase, word in (("train", "Training"), ("eval", "Evaluation")):
        own = [one for one in found if one.phase == phase]
        chosen += [(word, one) for one in (own[:1] if len(own) < 2 else [own[0], own[-1]])]
    return tuple(_sheet(word, one) for word, one in chosen)


def _sheet(word: str, one: Specimens) -> Sheet:
    shape = "(" + ", ".join(str(size) for size in one.shape) + ")"
    note = f"{len(one.samples)} of {one.batch:,} samples, {KINDS[one.kind]}, input {shape}"
    if one.vocabulary:
        note += f"; text by {one.vocabulary}"
    if one.range:
        note += f"; black is {one.range[0]:.4g}, white {one.range[1]:.4g}"
    return Sheet(
        title=f"{word} batch at step {one.step:,}",
        note=note,
        samples=tuple(_samples(one)),
        width=max(56, 2 * one.size[1]) if one.size else 0,
        more=_left_out(one),
    )


def _left_out(one: Specimens) -> int:
    """Columns or tokens that are not shown."""
    if one.kind == "pictures" or not one.samples:
        return 0
    return max(0, one.shape[1] - len((one.tokens or one.samples)[0]))


def _samples(one: Specimens) -> Iterator[Sample]:
    for number, given in enumerate(one.samples):
        if number < len(one.label_tokens):
            yield _labelled_by_token(one, number)
            continue
        label = one.labels[number] if number < len(one.labels) else None
        answer = one.answers[number] if number < len(one.answers) else None
        is_class = label is not None and answer is not None and label == int(label) and answer == int(answer)
        yield Sample(
            image=_image(given, one.size) if isinstance(given, str) else "",
            cells=() if isinstance(given, str) else tuple(_number(value) for value in given),
            text=_text(one.tokens[number]) if number < len(one.tokens) else "",
            label="" if label is None else _number(label),
            answer="" if answer is None else _number(answer),
            mark=MARKS[label == answer if is_class else None],
        )


def _labelled_by_token(one: Specimens, number: int) -> Sample:
    labels, answers = one.label_tokens[number], one.answer_tokens[number]
    counted = [(label, answer) for label, answer in zip(labels, answers, strict=False) if label != "·"]
    right = sum(label == answer for label, answer in counted)
    given = one.tokens[number] if number < len(one.tokens) else [_number(float(value)) for value in one.samples[number]]
    return Sample(
        text=_text(given),
        label=_text(labels),
        answer=_text(answers),
        mark=f"({right} of {len(counted)} right)",
    )


def _image(pixels: str, size: Sequence[int]) -> str:
    height, width, colours = size
    raw = base64.b64decode(pixels)
    line = width * colours
    rows = [raw[n * line : (n + 1) * line] for n in range(height)]
    return data_uri(width, rows, kind=COLOUR if colours == 3 else GREY)


def _text(tokens: Sequence[str]) -> str:
    """As it was before it was cut up: tokens mark the beginning of a word, its continuation, or neither."""
    joined = "".join(tokens)
    if "Ġ" in joined or "▁" in joined:
        return joined.replace("Ġ", " ").replace("▁", " ").replace("Ċ", "\n")
    if any(token.startswith("##") for token in tokens):
        return " ".join(tokens).replace(" ##", "")
    return joined if all(len(token) == 1 for token in tokens) else " ".join(tokens)


def _number(value: float) -> str:
    return f"{value:.0f}" if value == value and abs(value) < 1e9 and value == int(value) else f"{value:.4g}"
