"""Random seeds: who set them, and where."""

from __future__ import annotations

import contextlib
import random
from collections.abc import Iterator

import numpy
import torch

from paramedic.aliases import Args, Function, Kwargs
from paramedic.capture.watcher import Watcher
from paramedic.program.where import frame_site, is_users, user_frame, user_site
from paramedic.record.facts import Seed
from paramedic.record.site import Site


class Seeds:
    """Watches the seeding functions of torch, NumPy and Python."""

    def __init__(self, watcher: Watcher) -> None:
        self.watcher = watcher
        self._forks = 0  # fork_rng() blocks that are open

    def install(self) -> None:
        for owner, name, library in (
            (torch, "manual_seed", "torch"),
            (random, "seed", "python"),
            (numpy.random, "seed", "numpy"),
        ):
            self._watch(owner, name, library)
        self.watcher.patches.wrap(torch.random, "fork_rng", self._watched_fork)

    def draws_apart(self) -> bool:
        """Whether whatever is drawn now leaves the program's random state as it was."""
        return self._forks > 0

    def _watched_fork(self, original: Function) -> Function:
        @contextlib.contextmanager
        def fork(*args: object, **kwargs: object) -> Iterator[None]:
            with original(*args, **kwargs):
                self._forks += 1
                try:
                    yield
                finally:
                    self._forks -= 1

        return fork

    def _watch(self, owner: object, name: str, library: str) -> None:
        def watched(original: Function) -> Function:
            def seed(*args: object, **kwargs: object) -> object:
                result = original(*args, **kwargs)
                if user_frame() is not None:
                    self.watcher.ask("seeds", self._seeded, library, args, kwargs)
                return result

            return seed

        self.watcher.patches.wrap(owner, name, watched)

    def _seeded(self, library: str, args: Args, kwargs: Kwargs) -> None:
        value = next(iter([*args, *kwargs.values()]), None)
        site, caller = user_site(), _caller()
        data = Seed(library=library, seed=value if isinstance(value, int) else None, caller=caller)
        key = (library, site, *caller) if caller else (library, site)
        self.watcher.state(data, site=site, phase="setup", key=key)


def _caller() -> Site | None:
    """Who called the function of the user's own that seeds, if there is one."""
    inner = user_frame()
    outer = inner.f_back if inner is not None else None
    if outer is None or not is_users(outer.f_code.co_filename):
        return None
    return frame_site(outer)
