"""Targets of four numbers per row: do the first two lie before the last two, in every row or in some?"""

from __future__ import annotations

import ast
import os
from collections import Counter

import torch

from paramedic.aliases import Fields
from paramedic.capture import moments
from paramedic.capture.bus import on
from paramedic.capture.code.trees import tree
from paramedic.capture.facts import readable, sample, wide
from paramedic.capture.probe import probe
from paramedic.capture.watcher import Watcher
from paramedic.program.where import start_folder, user_site
from paramedic.record.facts import Edges
from paramedic.record.writer import Site

LOOKS = 40  # per place
NAMES = ("bad_x", "bad_y", "straight_x", "straight_y", "turned_x", "turned_y", "narrowest")


@probe("turned", states=[Edges])
class Turned:
    """Told of every examined loss call."""

    def __init__(self, watcher: Watcher) -> None:
        self.watcher = watcher
        self._looks: Counter[Site] = Counter()

    @on(moments.loss_called)
    def loss(self, name: str, prediction: torch.Tensor, target: torch.Tensor) -> None:
        if target.shape[-1:] != (4,) or target.shape != prediction.shape or not prediction.requires_grad:
            return
        if not target.dtype.is_floating_point or target.requires_grad or not readable(target):
            return
        site, step = user_site(), self.watcher.step
        self._looks[site] += 1
        if self._looks[site] > LOOKS:
            return
        rows = wide(sample(target)).reshape(-1, 4)
        rows = rows[rows.any(1)] if rows.device.type == "cpu" else rows  # zeros fill up samples that have fewer
        size = rows[:, 2:] - rows[:, :2]
        bad = size <= 0
        turned, straight = torch.where(bad, -size, 0).sum(0), torch.where(bad, 0, size).sum(0)
        narrowest = size.abs().min().reshape(1) if len(rows) else size.new_zeros(1)
        count, mirrored = len(rows), _mirrored_at(site)

        def use(found: list[float]) -> None:
            numbers: Fields = dict(zip(NAMES, found, strict=True))
            self.watcher.state(Edges(rows=count, mirrored_at=mirrored, **numbers), site=site, step=step, phase="train")

        self.watcher.read(torch.cat([bad.sum(0).to(size), straight, turned, narrowest]), use)


def _mirrored_at(site: Site) -> Site | None:
    """The one line of this file that takes some columns from a width: `boxes[:, [0, 2]] = width - boxes[:, [0, 2]]`."""
    if not site.file:
        return None
    statements = [n for n in ast.walk(tree(os.path.join(start_folder(), site.file))) if isinstance(n, ast.Assign)]
    lines = [
        node.lineno
        for node in statements
        if isinstance(node.targets[0], ast.Subscript)
        and isinstance(node.value, ast.BinOp)
        and isinstance(node.value.op, ast.Sub)
        and isinstance(node.value.right, ast.Subscript)
        and ast.unparse(node.value.right.value) == ast.unparse(node.targets[0].value)
    ]
    return site._replace(line=lines[0], function=None) if len(lines) == 1 else None
