"""Steps on the gradients of two backward passes, one of which served another optimizer: do the two agree?

A critic's loss that is not cut off from the generator writes gradients into it. Whoever does not clear them before the
generator's own pass lets it step on the sum of both. A shared encoder, on the other hand, may collect them on purpose.
"""

from __future__ import annotations

from typing import NamedTuple

import torch
from torch.autograd.graph import Node

from paramedic.capture import moments
from paramedic.capture.bus import on
from paramedic.capture.facts import readable
from paramedic.capture.probe import probe
from paramedic.capture.sources.ledger import Account
from paramedic.capture.watcher import Watcher
from paramedic.program.where import user_site
from paramedic.record.facts import Mixture
from paramedic.record.writer import Site

MOST_TOLD = 40
MOST_VALUES = 100_000  # of one gradient


class Kept(NamedTuple):
    """Some gradients as they were before the second pass."""

    first: Site
    second: Site
    gradients: list[tuple[torch.Tensor, torch.Tensor]]  # parameter, what was in its .grad


@probe("mixtures", states=[Mixture])
class Mixtures:
    """Keeps a few gradients over the second pass, and compares what each of the two has given to the step."""

    def __init__(self, watcher: Watcher) -> None:
        self.watcher = watcher
        self.loop = watcher.known.loop
        self._reached: dict[Site, set[int]] = {}  # by the passes of a line: the optimizers
        self._kept: dict[int, Kept] = {}
        self._told = 0

    @on(moments.pass_followed)
    def passed(self, nodes: set[Node]) -> None:
        """A backward pass goes through these nodes."""
        if len(self.loop.accounts) < 2:
            return
        leaves = {id(variable) for node in nodes if (variable := getattr(node, "variable", None)) is not None}
        reached = {account.number for leaf in leaves for account in self.loop.books.accounts_of(leaf)}
        site = user_site()
        self._reached[site] = reached
        if len(reached) < 2 or self._told >= MOST_TOLD:
            return
        for account in self.loop.accounts.values():
            # Both passes reach all of these optimizers, and one of them has stepped between the two.
            used = next((p for p in account.pending if p.used and p.certain and p.site != site), None)
            if used is not None and account.number in reached and self._reached.get(used.site) == reached:
                self._keep(account, used.site, site)

    def _keep(self, account: Account, first: Site, second: Site) -> None:
        held = [p for p, _, _ in account.sentinels if p.grad is not None and p.numel() <= MOST_VALUES and readable(p)]
        if held:
            copies = [(p, p.grad.detach().clone()) for p in held if p.grad is not None]
            self._kept.setdefault(account.number, Kept(first, second, copies))

    @on(moments.step_taken)
    def _stepped(self) -> None:
        account = self.loop.stepped_last
        kept = self._kept.pop(account.number, None) if account is not None else None
        if account is None or kept is None:
            return
        first = torch.cat([before.reshape(-1).double() for _, before in kept.gradients])
        total = torch.cat([_flat(p.grad, before) for p, before in kept.gradients])
        cosine = torch.nn.functional.cosine_similarity(first, total - first, dim=0)
        self._told += 1
        step, number = self.watcher.step, account.number

        def use(found: list[float]) -> None:
            fact = Mixture(optimizer=number, first=kept.first, cosine=found[0])
            self.watcher.state(fact, site=kept.second, phase="train", step=step)

        self.watcher.read(cosine.reshape(1), use)


def _flat(gradient: torch.Tensor | None, before: torch.Tensor) -> torch.Tensor:
    return (before if gradient is None else gradient.detach()).reshape(-1).double()
