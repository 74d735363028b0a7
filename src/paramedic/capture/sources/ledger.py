"""The life of gradients: written by a backward pass, used by a step, cleared, or lost.

Pure bookkeeping: the loop probe reports calls, the ledger says what they did to the gradients of each optimizer.
"""

from __future__ import annotations

import weakref
from dataclasses import dataclass, field

import torch

from paramedic.record.writer import Site

MOST_SENTINELS = 8

Sentinel = tuple[torch.Tensor, "weakref.ref[torch.Tensor]", int]  # a parameter, its gradient, and the version of that


@dataclass(slots=True, eq=False)
class Backward:
    """One backward pass, and whether any optimizer has used what it wrote."""

    site: Site
    step: int
    private: bool  # it also wrote gradients that no optimizer holds (adversarial inputs): using those is use enough
    certain: bool = True  # whose gradients it wrote was seen, or is the same for every pass from its line
    used: bool = False
    measured: bool = False  # its gradients were clipped, and so their norm is known: who drops them decides to
    told: bool = False  # already reported as discarded


@dataclass(slots=True)
class Account:
    """The gradients of one optimizer."""

    number: int
    pending: list[Backward] = field(default_factory=list)  # written since the last step or clearing
    fed: bool = False  # a backward pass has written to these gradients at some time
    stale: bool = False  # what is there now was used by a step and has not been cleared since
    soiled: list[torch.Tensor] = field(default_factory=list)  # parameters with a new gradient on top of a used one
    blind: bool = False  # until its next step: backward passes may have gone by unseen
    unknown: bool = False  # steps went by unwatched, and no zero_grad was seen since
    unsure: bool = False  # nobody looked whether they were cleared by hand, or whether they were written at all
    offset: int = 0  # steps that the run had taken before this optimizer was made
    in_closure: bool = False  # step(closure) is running: whatever it clears was its own to clear
    passes: int = 0  # backward passes of the whole run when it last stepped
    entered: int = 0  # and when that step began
    steps: int = 0
    asked: int = 0  # calls of closures by its steps so far, where it counts them (LBFGS)
    empty: bool = True  # no state (momenta) yet before the first step that we saw
    rates: list[object] = field(default_factory=list)  # learning rates of the groups at the last step
    highest_rates: list[float | None] = field(default_factory=list)
    sentinels: list[Sentinel] = field(default_factory=list)

    @property
    def taken(self) -> int:
        """Steps of the run, as far as this optimizer has counted them."""
        return self.offset + self.steps

    def choose_sentinels(self, parameters: list[torch.Tensor]) -> None:
        """A few parameters stand for all: the first and last with a gradient, and some between."""
        held = [p for p in parameters if p.grad is not None]
        chosen = held[:: max(1, len(held) // MOST_SENTINELS)][:MOST_SENTINELS]
        self.sentinels = _seen(chosen)

    def stepped(self) -> tuple[list[Backward], list[torch.Tensor]]:
        """The optimizer has used what is there. Returns the backward passes and the soiled parameters it used."""
        used, self.pending = self.pending, []
        soiled, self.soiled = self.soiled, []
        for backward in used:
            backward.used = True
        self.stale, self.blind, self.unknown = True, False, False
        self.steps += 1
        self.sentinels = _seen([p for p, _, _ in self.sentinels])
        return used, soiled

    def matched(self, *, blind: bool, used: bool) -> None:
        """Some steps went by unwatched. What is there now may be new or cleared, unless it is known to be `used`.

        Blind: not even which backward passes came since its own last step, for another optimizer stepped later.
        """
        self.blind, self.unknown, self.stale, self.unsure = blind, not used, used, True
        self.pending, self.soiled = [], []
        self.sentinels = _seen([p for p, _, _ in self.sentinels])

    def cleared(self) -> list[Backward]:
        """zero_grad was called. Returns the backward passes whose gradients were lost by it."""
        lost = [backward for backward in self.pending if not backward.used]
        self.pending, self.soiled = [], []
        self.stale = self.unknown = False
        return lost

    def wrote(self, backward: Backward, reached: set[int] | None, *, may_wait: bool) -> None:
        """A backward pass adds to these gradients (ids of the parameters it reaches, when they are known)."""
        if backward.certain:
            dirty = self._still_dirty(may_wait=may_wait)
            self.soiled += [p for p in dirty if reached is None or id(p) in reached]
        else:
            self.unsure = True
        self.booked(backward)

    def booked(self, backward: Backward) -> None:
        """What it may have written waits for a step. Of mere guesses one is enough: they are never reported."""
        self.fed = True
        if backward.certain or not self.pending:
            self.pending.append(backward)

    def _still_dirty(self, *, may_wait: bool) -> list[torch.Tensor]:
        """Parameters whose used gradient is still there although no zero_grad was seen: cleared by hand, or not?

        To look at the values of an accelerator means to wait for it, which only an examined step may do.
        """
        self.unsure = self.unknown
        if not self.stale:
            return []
        self.unsure = not may_wait and any(p.device.type != "cpu" for p, _, _ in self.sentinels)
        if self.unsure:
            return []
        dirty = [p for p, grad, _ in self.sentinels if _is_there(p, grad) and not _is_zero(p.grad)]
        if not dirty:
            self.stale = False
        return dirty

    def gradients(self, some: bool, passes: int) -> str:
        """How old the gradients are that it is about to use, if there are `some`, after so many passes of the run."""
        if some and (self.pending or self.unknown or self.new_by_hand()):
            return "new"  # or not known: unwatched steps came before, which may have ended amid one
        if passes > self.passes:
            return "untouched"  # there was a backward pass, for the sake of other optimizers
        return "old" if some else "none"

    def new_by_hand(self) -> bool:
        """Whether gradients were written since the last step without a backward pass that we saw.

        Writing to `p.grad.data` leaves no trace. But where no backward pass ever comes, all gradients come by hand.
        """
        if not self.sentinels or not self.fed:
            return True
        return any(not _is_there(p, grad) or p.grad._version != version for p, grad, version in self.sentinels)


def _seen(parameters: list[torch.Tensor]) -> list[Sentinel]:
    """Not the gradients themselves: who holds one that the script lets go takes as much memory as it does."""
    return [(p, weakref.ref(p.grad), p.grad._version) for p in parameters if p.grad is not None]


def _is_there(p: torch.Tensor, gradient: weakref.ref[torch.Tensor]) -> bool:
    return p.grad is not None and p.grad is gradient()


def _is_zero(grad: torch.Tensor) -> bool:
    if grad.is_sparse:
        return grad._nnz() == 0
    return not bool(grad.detach().any())
