"""Gradients: which backward pass has written them, and who clears them."""

from __future__ import annotations

import weakref
from collections.abc import Hashable

import torch
from torch import nn
from torch.optim import Optimizer

from paramedic.capture.sources.accounts import Accounts
from paramedic.capture.sources.ledger import Account, Backward
from paramedic.capture.sources.optimizers import holds_only, stood_for, tell_discard
from paramedic.capture.sources.reached_optimizers import ReachedOptimizers
from paramedic.capture.watcher import Watcher
from paramedic.program import anatomy
from paramedic.record.writer import Site


class Gradients:
    """Books every backward pass with the optimizers whose gradients it writes, until a step or a clearing."""

    def __init__(self, watcher: Watcher, books: Accounts) -> None:
        self.watcher = watcher
        self.books = books
        self.passes = 0  # backward passes so far
        self.written: set[int] = set()  # ids of tensors that this cycle's backward passes reached
        self._clears: dict[Hashable, list[weakref.ref[Optimizer]]] = {}
        self._reachable = ReachedOptimizers()
        self._reached: dict[Site, set[int]] = {}
        self._private: set[Site] = set()  # backward passes whose gradients serve something else than an optimizer
        self._last: Backward | None = None

    def written_from(self, site: Site, leaves: list[torch.Tensor] | None) -> None:
        """A backward pass begins at this line; it goes to these tensors, where that was looked at."""
        accounts, owners = self.books.accounts, self.books.owners
        self.books.open_all()
        if self.watcher.gears.examining:
            owners.index(list(accounts))
        if leaves is not None:
            self._reached[site] = {id(leaf) for leaf in leaves}
            self.written |= self._reached[site]
            reached = self._reachable.followed(site, [o for leaf in leaves for o in owners.get(id(leaf), [])])
        else:
            reached = self.optimizers_behind(site)
        if leaves is not None and self.is_private(leaves):
            self._private.add(site)
        backward = self.pass_from(site, certain=leaves is not None)
        for optimizer in [o for o in reached if o in accounts]:
            accounts[optimizer].wrote(backward, self._reached.get(site), may_wait=self.watcher.gears.examining)
        self._last = backward
        self.passes += 1

    def pass_from(self, site: Site, *, certain: bool = False) -> Backward:
        certain = certain or self._reachable.certain(site)
        return Backward(site=site, step=self.watcher.step, private=site in self._private, certain=certain)

    def optimizers_behind(self, site: Site) -> list[Optimizer]:
        """The optimizers whose gradients a backward pass from this line may write; all, when that is not known."""
        accounts, known = self.books.accounts, self._reachable.may_reach(site)
        return [o for o in (accounts if known is None else known) if o in accounts]

    def is_private(self, leaves: list[torch.Tensor]) -> bool:
        """Whether gradients go to tensors that nobody trains, such as the inputs of an adversarial attack."""
        names = self.watcher.registry.parameter_names()
        return any(id(leaf) not in self.books.owners and id(leaf) not in names for leaf in leaves)

    def were_read(self) -> None:
        """The user's own code has looked at the gradients of the last backward pass: that is use enough."""
        if self._last is not None:
            self._last.private = True
            self._private.add(self._last.site)

    def backward_failed(self) -> None:
        """Out of memory, perhaps: whatever the last backward pass wrote was not meant to be used."""
        if self._last is not None:
            self._last.private = True

    def cleared(self, holder: nn.Module | Optimizer, site: Site) -> list[int]:
        """An optimizer or a module is about to clear gradients; returns the numbers of the optimizers concerned."""
        accounts = self.books.accounts
        if isinstance(holder, Optimizer):
            cleared = [holder] if holder in accounts else stood_for(holder, accounts)
        else:
            identities = {id(p) for p in anatomy.parameters(holder)}
            cleared = [o for o in accounts if holds_only(o, identities)]
        self._clears[id(holder)] = [weakref.ref(optimizer) for optimizer in cleared]
        for optimizer in cleared:
            account = accounts[optimizer]
            lost = account.cleared()
            for backward in [] if account.in_closure else lost:
                self._lost(account, backward, site)
        return [accounts[optimizer].number for optimizer in cleared]

    def cleared_by(self, holder: Hashable) -> list[Optimizer]:
        """What clearing this holder (its id) cleared when it was last watched."""
        alive = [optimizer for reference in self._clears.get(holder, []) if (optimizer := reference()) is not None]
        return [optimizer for optimizer in alive if optimizer in self.books.accounts]

    def _lost(self, account: Account, backward: Backward, site: Site) -> None:
        if backward.told or backward.private or not backward.certain:
            return
        # Another optimizer may still be about to use it (a GAN clears the critic's share), so it waits.
        if any(backward in other.pending for other in self.books.accounts.values()):
            return
        backward.told = True
        tell_discard(self.watcher, account, backward, site)
