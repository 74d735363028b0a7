"""Transforms that were exchanged after a dataset was split: its parts share one dataset object."""

from __future__ import annotations

import ast
import linecache
import weakref
from collections import Counter
from typing import NamedTuple

from torch.utils import data as torch_data
from torch.utils.data import DataLoader

from paramedic.capture.sources.datasets import root_of
from paramedic.capture.watcher import Watcher
from paramedic.program.untouched import attributes
from paramedic.program.where import shown_path, user_frame
from paramedic.record.facts import ExchangedTransform
from paramedic.record.writer import NOWHERE, Site

MOST_TOLD = 4  # passes of a loader


class Whole(NamedTuple):
    """A dataset as it was when its first part was made."""

    dataset: weakref.ref[object]
    transforms: dict[str, object]
    file: str
    line: int


class Transforms:
    """Tells of each pass over a part which transform is at work, if it is not the one that the whole was split with."""

    def __init__(self, watcher: Watcher) -> None:
        self.watcher = watcher
        self._wholes: dict[int, Whole] = {}
        self._told: Counter[int] = Counter()
        self._objects: dict[tuple[int, int], int] = {}  # numbers for pairs of a dataset and a transform

    def born(self, subset: object) -> None:
        root, frame = root_of(subset), user_frame()
        found = _transforms(root)
        known = self._wholes.get(id(root))
        if found and frame is not None and (known is None or known.dataset() is not root):
            self._wholes[id(root)] = Whole(weakref.ref(root), found, frame.f_code.co_filename, frame.f_lineno)

    def started(self, number: int, loader: DataLoader) -> None:
        if not isinstance(loader.dataset, torch_data.Subset) or self._told[number] >= MOST_TOLD:
            return
        root = root_of(loader.dataset)
        whole = self._wholes.get(id(root))
        if whole is None or whole.dataset() is not root:
            return
        for name, now in _transforms(root).items():
            if now is whole.transforms.get(name):
                continue
            through, site = _assigned(whole, name)
            if through:
                self._told[number] += 1
                one = self._objects.setdefault((id(root), id(now)), len(self._objects))
                data = ExchangedTransform(loader=number, attribute=name, through=through, object=one)
                self.watcher.state(data, site=site, phase="setup")


def _transforms(dataset: object) -> dict[str, object]:
    own = attributes(dataset)
    return {name: value for name, value in own.items() if "transform" in name or "augment" in name}


def _assigned(whole: Whole, name: str) -> tuple[list[str], Site]:
    """The variables through whose `.dataset` it was assigned, in the file that made the split, and the last place."""
    try:
        tree = ast.parse("".join(linecache.getlines(whole.file)))
    except (SyntaxError, ValueError):
        return [], NOWHERE
    found: dict[int, str] = {}
    for node in ast.walk(tree):
        target = node.targets[0] if isinstance(node, ast.Assign) else None
        if not isinstance(target, ast.Attribute) or target.attr != name or target.lineno <= whole.line:
            continue
        if isinstance(target.value, ast.Attribute) and target.value.attr == "dataset":
            found[target.lineno] = ast.unparse(target.value.value)
    site = Site(shown_path(whole.file), max(found), None) if found else NOWHERE
    return sorted(set(found.values())), site
