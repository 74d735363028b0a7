"""The calls of a training loop in the order they come, learnt while they are watched.

Most loops repeat a handful of patterns: clear, backward, step. Once a pattern was watched as a whole, a step that
follows it again can be left alone, and the first call that departs from every known pattern is news.
"""

from __future__ import annotations

from collections.abc import Hashable

from paramedic.record.writer import NOWHERE, Site

MOST_BEATS = 5_000

Call = tuple[str, Hashable]  # what was called, and on what


class Beat:
    """A place in a pattern: the user's line that leads here, and the calls that may come next."""

    __slots__ = ("call", "entries", "following", "site")

    def __init__(self, call: Call, site: Site) -> None:
        self.call = call
        self.site = site
        self.entries: list[tuple[object, ...]] = []  # as the loop probe writes it down
        self.following: dict[Call, Beat] = {}


class Rhythm:
    """All patterns so far, and where in them the loop is now."""

    def __init__(self) -> None:
        self._root = Beat(("", None), NOWHERE)
        self._at = self._root
        self._count = 0
        self.path: list[Beat] = []  # since the last optimizer step, while nobody watches

    def learn(self, call: Call, site: Site, entries: list[tuple[object, ...]]) -> None:
        """A call that is being watched."""
        beat = self._at.following.get(call)
        if beat is None:
            if self._count >= MOST_BEATS:
                return
            self._count += 1
            beat = self._at.following[call] = Beat(call, site)
        beat.site, beat.entries = site, entries
        self._at = beat

    def follow(self, call: Call) -> Site | None:
        """A call that nobody watches: the line it came from the last time, or None if it was never here."""
        beat = self._at.following.get(call)
        if beat is None:
            return None
        self._at = beat
        self.path.append(beat)
        return beat.site

    def resume(self, path: list[Beat]) -> None:
        """So far the loop has come since the last optimizer step, without being followed."""
        self.path, self._at = path, path[-1]

    def close(self) -> list[Beat]:
        """An optimizer has stepped: the next call begins a pattern. Returns the calls of this one."""
        path, self.path, self._at = self.path, [], self._root
        return path
