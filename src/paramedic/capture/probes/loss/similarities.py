"""Two trained branches that are pulled together by a cosine: do different samples stay apart?"""

from __future__ import annotations

from collections import Counter

import torch
from torch.nn import functional as F

from paramedic.aliases import Args, Function, Kwargs
from paramedic.capture.bus import on_call_of
from paramedic.capture.facts import readable
from paramedic.capture.probe import probe
from paramedic.capture.watcher import Watcher
from paramedic.program.where import user_site
from paramedic.record.facts import Similarity
from paramedic.record.writer import Site

LOOKS = 400  # per line
FEWEST = 4  # samples


@probe("similarities", states=[Similarity])
class Similarities:
    """Measures how alike partners are, and how alike those are that do not belong together."""

    def __init__(self, watcher: Watcher) -> None:
        self.watcher = watcher
        self._looks: Counter[Site] = Counter()

    @on_call_of(F.cosine_similarity)
    def compared(self, func: Function, args: Args, kwargs: Kwargs, result: object) -> None:
        if len(args) < 2 or not all(isinstance(x, torch.Tensor) and x.dim() == 2 for x in args[:2]):
            return
        a, b = args[0], args[1]
        if not (a.requires_grad or b.requires_grad) or a.shape != b.shape or len(a) < FEWEST:
            return
        site = user_site()
        self._looks[site] += 1
        if self._looks[site] > LOOKS or not (readable(a) and readable(b)):
            return
        with torch.no_grad():
            one, other = F.normalize(a.detach().float(), dim=1), F.normalize(b.detach().float(), dim=1)
            partners = (one * other).sum(1).mean()
            strangers = torch.stack([(side * side.roll(1, 0)).sum(1).mean() for side in (one, other)]).amin()
        both, step = a.requires_grad and b.requires_grad, self.watcher.step

        def use(found: list[float]) -> None:
            fact = Similarity(both=both, partners=found[0], strangers=found[1])
            self.watcher.state(fact, site=site, phase="train", step=step)

        self.watcher.read(torch.stack([partners, strangers]), use)
