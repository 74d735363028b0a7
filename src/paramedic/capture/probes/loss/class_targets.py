"""Class numbers as the target of a squared error."""

from __future__ import annotations

import torch

from paramedic.capture import moments
from paramedic.capture.bus import on
from paramedic.capture.class_numbers import classes
from paramedic.capture.nearby import nearby
from paramedic.capture.probe import probe
from paramedic.capture.watcher import Watcher
from paramedic.program.where import user_site
from paramedic.record.facts import ClassTarget

_DISTANCES = ("mse_loss", "l1_loss", "smooth_l1_loss", "huber_loss")


@probe("class_targets", states=[ClassTarget])
class ClassTargets:
    """Looks whether what a distance is measured to are numbers of classes."""

    def __init__(self, watcher: Watcher) -> None:
        self.watcher = watcher

    @on(moments.loss_called)
    def loss(self, name: str, prediction: torch.Tensor, target: torch.Tensor) -> None:
        if name not in _DISTANCES or not prediction.requires_grad or prediction.shape != target.shape:
            return
        near = nearby(self.watcher, target) if not target.requires_grad else None
        if near is None or (count := classes(near)) is None:
            return
        site, data = user_site(), ClassTarget(function=name, classes=count)
        self.watcher.state(data, site=site, phase="train", key=(site, count))
