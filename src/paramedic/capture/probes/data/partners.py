"""Pictures and the pictures they are to become, such as masks: does the target of another sample fit far better?"""

from __future__ import annotations

import torch
from torch.nn import functional as F

from paramedic.aliases import Args, Kwargs
from paramedic.capture import moments
from paramedic.capture.bus import on
from paramedic.capture.moments import Call
from paramedic.capture.pictures import AXES, COLOURS, Pairing, basis
from paramedic.capture.probe import probe
from paramedic.capture.watcher import Watcher
from paramedic.program.where import user_site
from paramedic.record.facts import Partners as PartnersFact
from paramedic.record.writer import NOWHERE

MOST, SIDE = 512, 16  # samples; pixels to which pictures are reduced
BATCH = 64  # samples that are taken from one batch
MOST_VALUES = 4_000_000  # of the pictures of one batch
STRONG, CLEAR, EQUAL = 0.4, 0.1, 0.02  # how well a stranger's target must fit, by how much better, and what is a draw


@probe("partners", states=[PartnersFact])
class Partners:
    """Keeps small copies of the first samples, and then looks for each picture's target among all of them.

    How well a stranger's target fits by chance, mirrored targets tell.
    """

    def __init__(self, watcher: Watcher) -> None:
        self.watcher = watcher
        self._pairing = Pairing()
        self._kept: list[tuple[torch.Tensor, torch.Tensor]] = []
        self._count = 0
        self._site = NOWHERE

    @on(moments.model_called)
    def called(self, call: Call, args: Args, kwargs: Kwargs, output: object) -> None:
        if call.grad and call.training and self._count < MOST:
            self._pairing.given(args, kwargs)

    @on(moments.loss_called)
    def loss(self, name: str, prediction: torch.Tensor, target: torch.Tensor) -> None:
        picture = self._pairing.of(prediction, target)
        if picture is None:
            return
        site = user_site()
        if self._count >= MOST or (self._kept and self._site != site):
            return
        self._pairing.forget()  # one loss per picture: a sum of several has the same target
        self._site = site
        most = max(1, min(BATCH, MOST - self._count, MOST_VALUES // picture[0].numel()))
        self._kept.append((_colours(picture[:most].detach()), _drawing(target[:most].detach())))
        self._count += len(self._kept[-1][0])
        if self._count >= MOST:
            self._match()

    @on(moments.run_over)
    def finish(self) -> None:
        if self._kept:
            self._match()

    def _match(self) -> None:
        colours, drawings = (torch.cat(parts) for parts in zip(*self._kept, strict=True))
        self._kept, site, looked = [], self._site, len(colours)

        def use(found: list[float]) -> None:
            fact = PartnersFact(looked=looked, own=found[0], elsewhere=found[1])
            self.watcher.state(fact, site=site, phase="train")

        self.watcher.read(_matches(colours, drawings), use)


def _matches(colours: torch.Tensor, drawings: torch.Tensor) -> torch.Tensor:
    """How many pictures are fitted best by their own target, and how many by that of another sample."""
    fits = _fits(colours, drawings)
    own, best = fits.diagonal(), fits.amax(1)
    by_chance = torch.stack([_fits(colours, drawings.flip(axes)).amax(1) for axes in AXES.values()]).amax(0)
    elsewhere = (best > STRONG) & (best > own + CLEAR) & (best > by_chance + CLEAR)
    return torch.stack([(own >= best - EQUAL).sum(), elsewhere.sum()]).float()


def _fits(colours: torch.Tensor, drawings: torch.Tensor) -> torch.Tensor:
    """The correlation of each picture with each target: (picture, target)."""
    centred = (drawings - drawings.mean((-1, -2), keepdim=True)).flatten(1)
    unit = centred / torch.linalg.vector_norm(centred, dim=1, keepdim=True).clamp(min=1e-6)
    shares = [colour @ unit.T for colour in basis(colours).unbind(2)]
    return torch.stack(shares).square().sum(0).sqrt()


def _colours(pictures: torch.Tensor) -> torch.Tensor:
    few = pictures.float() if pictures.shape[1] <= COLOURS else pictures.float().mean(1, keepdim=True)
    return F.interpolate(few, (SIDE, SIDE), mode="area")


def _drawing(targets: torch.Tensor) -> torch.Tensor:
    """Numbers of classes have no order: what is not background is drawn."""
    if targets.dtype.is_floating_point:
        flat = targets.float().flatten(1, -3).mean(1) if targets.dim() == 4 else targets.float()
    else:
        first = targets.flatten(1, -3)[:, 0] if targets.dim() == 4 else targets
        flat = (first != first.flatten().mode().values).float()
    return F.interpolate(flat[:, None], (SIDE, SIDE), mode="area")[:, 0]
