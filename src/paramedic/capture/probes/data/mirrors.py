"""Pictures and the pictures they are to become, such as masks: were both turned alike, or only one of them?"""

from __future__ import annotations

from collections import Counter

import torch
from torch.nn import functional as F

from paramedic.aliases import Args, Kwargs
from paramedic.capture import moments
from paramedic.capture.bus import on
from paramedic.capture.moments import Call
from paramedic.capture.pictures import AXES, Pairing, basis
from paramedic.capture.probe import probe
from paramedic.capture.watcher import Watcher
from paramedic.program.where import user_site
from paramedic.record.facts import Mirrors as MirrorsFact
from paramedic.record.writer import Site

LOOKS, SAMPLES, SIDE = 24, 16, 32  # per place; per look; pixels to which pictures are reduced
MOST_VALUES = 4_000_000  # of the pictures in one look
CLASSES = 32  # that are told apart
CLEAR, STRONG = 0.3, 0.4  # how much better one fits than the other, and how well it must fit at least
TURNED = ("a quarter turn", "three quarter turns", "along the diagonal", "along the other diagonal")  # if square


@probe("mirrors", states=[MirrorsFact])
class Mirrors:
    """Counts the samples whose target fits their picture, and those whose turned target does, both clearly.

    Also how often the target of another sample would: as often, if pictures and targets are unrelated.
    """

    def __init__(self, watcher: Watcher) -> None:
        self.watcher = watcher
        self._pairing = Pairing()
        self._looks: Counter[Site] = Counter()

    @on(moments.model_called)
    def called(self, call: Call, args: Args, kwargs: Kwargs, output: object) -> None:
        if call.grad and call.training:
            self._pairing.given(args, kwargs)

    @on(moments.loss_called)
    def loss(self, name: str, prediction: torch.Tensor, target: torch.Tensor) -> None:
        picture = self._pairing.of(prediction, target)
        if picture is None:
            return
        site = user_site()
        self._looks[site] += 1
        if self._looks[site] > LOOKS:
            return
        counts = _fits(picture, target if target.dim() == 4 else target[:, None])
        step = self.watcher.step

        def use(found: list[float]) -> None:
            mirrored = dict(zip((*AXES, *TURNED), found[2:], strict=False))
            fact = MirrorsFact(straight=found[0], mirrored=mirrored, strangers=found[1])
            self.watcher.state(fact, site=site, phase="train", step=step)

        self.watcher.read(counts, use)


def _fits(pictures: torch.Tensor, targets: torch.Tensor) -> torch.Tensor:
    """How many fit as they are, and how many fit when the target is mirrored."""
    most = max(1, min(SAMPLES, MOST_VALUES // pictures[0].numel()))  # of huge ones fewer are looked at
    pictures, targets = pictures[:most].detach().float(), targets[:most].detach()
    classes = not targets.dtype.is_floating_point and targets.shape[1] == 1
    fit = _explained if classes else _correlated
    small, few = (_thinned(pictures), _thinned(targets)) if classes else (_pooled(pictures), _pooled(targets.float()))
    straight, *mirrored = [fit(small, each) for each in _turns(few)]
    best = torch.stack(mirrored).amax(0)
    counts = [((straight > best + CLEAR) & (straight > STRONG)).sum()]
    counts += [((each > straight + CLEAR) & (each > STRONG) & (each == best)).sum() for each in mirrored]
    others, *turned = [fit(small, each) for each in _turns(few.roll(1, 0))]
    best = torch.stack(turned).amax(0)
    counts.insert(1, (((others - best).abs() > CLEAR) & (torch.maximum(others, best) > STRONG)).sum())
    return torch.stack(counts).float()


def _turns(targets: torch.Tensor) -> list[torch.Tensor]:
    """As it is, mirrored, and turned, if that leaves its shape as it is."""
    found = [targets, *(targets.flip(axes) for axes in AXES.values())]
    if targets.shape[-1] == targets.shape[-2]:
        turned = targets.transpose(-1, -2)
        found += [turned.flip(-2), turned.flip(-1), turned, turned.flip(-1, -2)]
    return found


def _correlated(pictures: torch.Tensor, targets: torch.Tensor) -> torch.Tensor:
    """Of the target and the mixture of colours that fits it best: objects may be as bright as the rest."""
    return (basis(pictures).mT @ _unit(targets.mean(1, keepdim=True)).flatten(2).mT).square().sum((1, 2)).sqrt()


def _explained(pictures: torch.Tensor, targets: torch.Tensor) -> torch.Tensor:
    """How much of the colours the classes explain (the correlation ratio): numbers of classes have no order."""
    members = F.one_hot(targets[:, 0].long().clamp(-1, CLASSES - 2) + 1, CLASSES).flatten(1, 2).float()
    sums = torch.einsum("npc,nkp->nck", members, _unit(pictures).flatten(2))
    shares = sums.square().sum(2) / members.sum(1).clamp(min=1)
    return shares.sum(1).clamp(0, 1).sqrt()


def _pooled(pictures: torch.Tensor) -> torch.Tensor:
    return F.adaptive_avg_pool2d(pictures, SIDE) if max(pictures.shape[-2:]) > SIDE else pictures


def _thinned(pictures: torch.Tensor) -> torch.Tensor:
    """Classes cannot be averaged, so some of their pixels are looked at, and the same ones of the pictures."""
    down, right = (max(1, size // SIDE) for size in pictures.shape[-2:])
    return pictures[..., ::down, ::right]


def _unit(pictures: torch.Tensor) -> torch.Tensor:
    """With mean 0 and length 1."""
    centred = pictures - pictures.mean((-1, -2), keepdim=True)
    return centred / torch.linalg.vector_norm(centred, dim=(-1, -2, -3), keepdim=True).clamp(min=1e-6)
