"""Which optimizers a backward pass from a line of the user's writes gradients for.

Only an examined pass is followed to its leaves; the others are taken to do what the passes from their line did before.
"""

from __future__ import annotations

import weakref

from torch.optim import Optimizer

from paramedic.record.writer import Site

Reference = weakref.ref[Optimizer]


class ReachedOptimizers:
    """Per line: all optimizers that its passes were seen to reach, and whether each pass reaches the same."""

    def __init__(self) -> None:
        self._behind: dict[Site, list[Reference]] = {}
        self._shared: set[Site] = set()  # lines that serve one optimizer now and another then, as in a helper

    def followed(self, site: Site, reached: list[Reference]) -> list[Optimizer]:
        """A pass was followed to its leaves, and these optimizers hold some of them."""
        now = [reference for reference in dict.fromkeys(reached) if reference() is not None]
        before = [reference for reference in self._behind.get(site, []) if reference() is not None]
        if before and set(before) != set(now):
            self._shared.add(site)
        self._behind[site] = list(dict.fromkeys(before + now))
        return _alive(now)

    def may_reach(self, site: Site) -> list[Optimizer] | None:
        """What a pass from this line may reach; None: nobody has followed one yet."""
        known = self._behind.get(site)
        return None if known is None else _alive(known)

    def certain(self, site: Site) -> bool:
        """Whether all passes from this line are alike."""
        return site not in self._shared


def _alive(references: list[Reference]) -> list[Optimizer]:
    return [optimizer for reference in references if (optimizer := reference()) is not None]
