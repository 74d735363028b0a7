"""Texts in jsonl: the documentation of Python's own library, and sentences made from templates."""

from __future__ import annotations

import importlib
import inspect
import json
import re
from pathlib import Path

import numpy as np

from benchmarks.audit.unseen.case import Case, picked

Random = np.random.Generator
TOPICS = {
    "net": ("asyncio.events", "asyncio.streams", "http.client", "smtplib", "imaplib", "ftplib", "socket", "ssl"),
    "numbers": ("decimal", "fractions", "statistics", "random", "datetime", "calendar", "ipaddress"),
}  # fmt: skip


def documentation() -> list[tuple[str, str]]:
    """(text, topic): what real people wrote about real functions."""
    found: dict[str, str] = {}
    for topic, modules in TOPICS.items():
        for name in modules:
            module = importlib.import_module(name)
            owners = [module, *(c for _, c in inspect.getmembers(module, inspect.isclass) if c.__module__ == name)]
            for owner in owners:
                for _, member in inspect.getmembers(owner):
                    text = re.sub(r"\s+", " ", inspect.getdoc(member) or "").strip()
                    if 60 < len(text) < 600 and getattr(member, "__module__", name) == name:
                        found.setdefault(text, topic)
    return list(found.items())


def write(path: Path, samples: list[tuple[str, str]]) -> None:
    path.write_text("".join(json.dumps({"text": text, "label": label}) + "\n" for text, label in samples))


def _documents(random: Random) -> list[tuple[str, str]]:
    found = documentation()
    return [found[i] for i in random.permutation(len(found))]


def one_word_changed(text: str, random: Random) -> str:
    words = text.split()
    words[int(random.integers(len(words)))] = "indeed"
    return " ".join(words)


def near_copies_in_both(here: Path, random: Random) -> Case:
    found = [(t, y) for t, y in _documents(random) if len(t) > 120]
    cut = len(found) * 3 // 4
    train, val = found[:cut], found[cut:]
    rows = sorted(picked(random, len(val), 10))
    train = train + [(one_word_changed(val[r][0], random), val[r][1]) for r in rows]
    write(here / "train.jsonl", [train[i] for i in random.permutation(len(train))])
    write(here / "val.jsonl", val)
    args = ("train.jsonl", "--val", "val.jsonl", "--label", "label")
    return Case(args=args, codes=("PM307",), rows=frozenset(rows))


def near_copies_with_other_labels(here: Path, random: Random) -> Case:
    found = [(t, y) for t, y in _documents(random) if len(t) > 120]
    rows = sorted(picked(random, len(found), 12))
    more = [(one_word_changed(found[r][0], random), "net" if found[r][1] == "numbers" else "numbers") for r in rows]
    write(here / "texts.jsonl", found + more)
    new = frozenset(range(len(found), len(found) + 12))
    return Case(args=("texts.jsonl", "--label", "label"), codes=("PM308", "PM310"), rows=new, spare=frozenset(rows))


def empty_texts(here: Path, random: Random) -> Case:
    found = _documents(random)
    rows = picked(random, len(found), 6)
    for number, row in enumerate(sorted(rows)):
        found[row] = ("" if number % 2 else "   ", found[row][1])
    write(here / "texts.jsonl", found)
    return Case(args=("texts.jsonl", "--label", "label"), codes=("PM303", "PM320", "PM105", "PM308"), rows=rows)


FAULTS = (near_copies_in_both, near_copies_with_other_labels, empty_texts)
