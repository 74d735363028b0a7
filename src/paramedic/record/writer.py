"""Append facts to the run's file from a background thread, so that training never waits for the disk."""

from __future__ import annotations

import ctypes
import math
import sqlite3
import threading
import time
from collections.abc import Callable, Hashable, Mapping, Sequence
from json import dumps  # now: the script may put a function of its own in its place
from pathlib import Path
from typing import Any

from paramedic import descriptors, voice
from paramedic.paths import make_private_folder, open_private
from paramedic.record.checking import checksum
from paramedic.record.facts.fact import Fact, known_as
from paramedic.record.facts.storing import stored
from paramedic.record.samples import Keep, NewSample, pack
from paramedic.record.schema import SCHEMA_VERSION, TABLES
from paramedic.record.site import NOWHERE as NOWHERE
from paramedic.record.site import Site as Site

FLUSH_SECONDS = 0.2
MOST_EVENTS_PER_KIND = 20_000
LONGEST_WRITE = 2.0  # seconds for which a fork may wait
POINTS_PER_OCTAVE = 4_096  # a series of n points keeps about this many per doubling of n
MOST_BREAKS = 20_000  # changes from finite to not finite that a series keeps exactly


class _Series:
    """Thins a growing series: of every bucket of points the most extreme one is kept.

    A value that is not finite is kept exactly where it comes after a finite one; of a stretch of them, which may last
    for the rest of the run, and of more changes than anybody reads, each bucket keeps one.
    """

    def __init__(self, name: str) -> None:
        self.name = name
        self.seen = 0
        self.stride = 1
        self.last = 0.0
        self.bucket: tuple[int, float] | None = None
        self.waiting: tuple[int, float] | None = None  # the newest point, unless it is kept already
        self.broken = False  # the value before was not finite
        self.breaks = 0

    def add(self, step: int, value: float) -> list[tuple[int, float]]:
        self.seen += 1
        self.waiting = newest = (step, value)
        full = self.seen % self.stride == 0
        if full and self.seen >= POINTS_PER_OCTAVE * self.stride:
            self.stride *= 2
        before, self.broken = self.broken, not math.isfinite(value)
        if self.broken:
            self.breaks += not before
            if not full and (before or self.breaks > MOST_BREAKS):
                return []
            self.waiting = None
            return [*self.rest(), newest]
        if self.bucket is None or abs(value - self.last) > abs(self.bucket[1] - self.last):
            self.bucket = newest
        return self.rest() if full else []

    def rest(self) -> list[tuple[int, float]]:
        """The point that is still waiting for its bucket to fill."""
        if self.bucket is None:
            return []
        kept, self.bucket = self.bucket, None
        self.last = kept[1]
        if kept is self.waiting:
            self.waiting = None
        return [kept]

    def end(self) -> list[tuple[int, float]]:
        """What is left when nothing more will come: the last value is the one that people quote."""
        kept = self.rest()
        return kept if self.waiting is None else [*kept, self.waiting]


class Writer:
    """Collects facts in memory and writes them a few times per second.

    Nothing in here may disturb the training script: a full disk or a read-only folder costs one line on stderr, after
    which facts are dropped.
    """

    def __init__(self, path: Path, *, meta: Mapping[str, Any], say: Callable[[str], None] = voice.say) -> None:
        self.path = path
        self._say = say
        self._lock = threading.RLock()  # a finaliser may record a fact while one is being written
        self._file_lock = threading.Lock()
        self._stop = threading.Event()
        self._ids: dict[Hashable, int] = {}
        self._rows: dict[int, list[Any]] = {}  # events that are new or changed since the last flush
        self._keyed: dict[int, list[Any]] = {}  # all events that have a key
        self._per_kind: dict[str, int] = {}
        self._series: dict[str, _Series] = {}
        self._new_points: list[tuple[str, int, float]] = []
        self._points: list[tuple[str, int, str]] = []
        self.latest: dict[str, tuple[int, float]] = {}  # the last point of every series
        self._samples: list[NewSample] = []
        self._gone: list[int] = []  # sampled steps that make room for later ones
        self._keep = Keep()
        self._names: dict[tuple[str, ...], int] = {}
        self._meta: dict[str, str] = {}
        self._next_id = 1
        self.sites: set[tuple[str, int]] = set()  # the user's lines that facts are about
        self._connection: sqlite3.Connection | None = None
        self._descriptors: list[int] = []  # those that SQLite has opened
        self._thread: threading.Thread | None = None
        self.failed: str | None = None
        self.dropped = 0
        self.set_meta(schema_version=SCHEMA_VERSION, started=time.time(), **meta)

    def start(self) -> None:
        """Create the file and begin to write. Until then facts are only kept in memory."""
        if self._thread is None and self.failed is None:
            self._thread = threading.Thread(target=self._run, name="paramedic-writer", daemon=True)
            self._thread.start()

    def state(
        self,
        fact: Fact,
        *,
        step: int,
        phase: str,
        site: Site = NOWHERE,
        module: str | None = None,
        key: Hashable = None,
    ) -> bool:
        """Record one fact; with a key, an occurrence of a fact. Returns whether its details were new."""
        kind = known_as(type(fact)).name
        with self._lock:
            known = None if key is None else self._ids.get((kind, key))
            if known is not None:
                row = self._keyed[known]
                row[4], row[5] = step, row[5] + 1
                self._rows[known] = row
                return False
            if self._per_kind.get(kind, 0) >= MOST_EVENTS_PER_KIND or self.failed is not None:
                self.dropped += 1
                return False
            number = self._next_id
            self._next_id += 1
            if site.file and site.line:
                self.sites.add((site.file, site.line))
            row = [number, kind, time.time(), int(step), int(step), 1, phase, *_place(site, module), fact]
            self._rows[number] = row
            self._per_kind[kind] = self._per_kind.get(kind, 0) + 1
            if key is not None:
                self._ids[(kind, key)] = number
                self._keyed[number] = row
            return True

    def point(self, series: str, step: int, value: float) -> None:
        self.latest[series] = (step, value)
        if self.failed is None:
            self._new_points.append((series, step, value))  # the rest is done when they are written

    def _thin(self) -> None:
        new, self._new_points = self._new_points, []
        for series, step, value in new:
            thinned = self._series.get(series)
            if thinned is None:
                thinned = self._series[series] = _Series(storable(series))
            self._points += [(thinned.name, int(at), dumps(kept)) for at, kept in thinned.add(step, value)]

    def sample(self, samples: Sequence[NewSample], *, remarkable: bool = False) -> None:
        """Record statistics of one step; remarkable ones are the last to be thinned out."""
        with self._lock:
            if self.failed is None and samples:
                self._samples += samples
                self._gone += self._keep.add(samples[0].step, remarkable=remarkable)

    def set_meta(self, **values: Any) -> None:
        with self._lock:
            self._meta.update({name: dumps(value, default=str) for name, value in values.items()})

    def flush(self) -> None:
        """Write what has been collected; called by the thread, and directly before a crash."""
        with self._file_lock:
            with self._lock:
                self._thin()
                # Encoded under the lock: a keyed row may change while it is being written.
                rows = [(*row[:-1], self._encoded(row)) for row in self._rows.values()]
                points, meta = self._points, self._meta
                samples, gone = self._samples, self._gone
                self._rows, self._points, self._meta, self._samples, self._gone = {}, [], {}, [], []
            if self.failed is not None or not (rows or points or meta or samples):
                return
            try:
                self._make_sure_of_the_file()
                self._write(rows, points, meta, samples, gone)
            except (sqlite3.Error, OSError, ValueError) as error:
                self.failed = str(error)
                self._say(
                    f"paramedic: cannot write the record {self.path} ({error}). Training goes on unwatched; "
                    "free some space or choose another place with --runs DIR or PARAMEDIC_RUNS."
                )

    def _make_sure_of_the_file(self) -> None:
        """Whoever closes our descriptors and opens files gets their numbers: nothing of ours may land in there."""
        if not all(descriptors.is_ours(number) for number in self._descriptors):
            self._let_go()
            raise OSError("its file was closed by the script")

    def _close(self) -> None:
        if self._connection is None or not all(descriptors.is_ours(number) for number in self._descriptors):
            self._let_go()
            return
        for number in self._descriptors:
            descriptors.forget(number)
        self._connection.close()
        self._connection, self._descriptors = None, []

    def _let_go(self) -> None:
        """Not even closing it is allowed, so the connection is made to outlive everything."""
        if self._connection is not None:
            ctypes.pythonapi.Py_IncRef(ctypes.py_object(self._connection))
        self._connection, self._descriptors = None, []

    def _encoded(self, row: list[Any]) -> str:
        """The details of a fact never change, so those of one that keeps happening are encoded once."""
        if not isinstance(row[-1], str):
            row[-1] = dumps(row[-1], default=stored)
        return str(row[-1])

    def close(self) -> None:
        self._stop.set()
        if self._thread is None:
            return  # never started: there was nothing worth a file
        self._thread.join(timeout=5)
        self._thread = None
        with self._lock:
            self._thin()
            for series in self._series.values():
                self._points += [(series.name, int(at), dumps(kept)) for at, kept in series.end()]
        self.flush()
        if self._connection is not None:
            with self._file_lock:
                self._close()

    def hold(self) -> threading.Lock | None:
        """Before a fork: nothing is written until the lock that is returned is released.

        A child that is forked amid a write inherits locks inside of SQLite that nobody will ever open again, and hangs
        as soon as the garbage collector comes to the connection.
        """
        lock = self._file_lock
        return lock if lock.acquire(timeout=LONGEST_WRITE) else None

    def abandon(self) -> None:
        """Forget everything without touching the file: it belongs to the parent of this forked process."""
        self._let_go()
        self._thread, self.failed = None, "forked"
        self._lock, self._file_lock = threading.RLock(), threading.Lock()

    def _run(self) -> None:
        while not self._stop.wait(FLUSH_SECONDS):
            self.flush()

    def _write(
        self,
        rows: list[Any],
        points: list[Any],
        meta: Mapping[str, str],
        samples: Sequence[NewSample],
        gone: Sequence[int],
    ) -> None:
        if self._connection is None:
            make_private_folder(self.path.parent)
            open_private(self.path, "ab").close()  # sqlite gives its other files the rights of this one
            self._connection = sqlite3.connect(self.path, check_same_thread=False, isolation_level=None)
            # A kill must not lose what was written (the kernel keeps it); a power cut may.
            self._connection.execute("PRAGMA journal_mode=WAL")
            self._connection.execute("PRAGMA synchronous=OFF")
            self._connection.executescript(TABLES)
            self._descriptors = descriptors.keep_open(self.path)
        connection = self._connection
        connection.execute("BEGIN")
        _insert(connection, "events", rows)
        _insert(connection, "points", points)
        _insert(connection, "meta", list(meta.items()))
        for sample in samples:
            number = self._name_list(connection, sample.names)
            _insert(connection, "samples", [(sample.step, sample.role, number, pack(sample.rows))])
        connection.executemany("DELETE FROM samples WHERE step = ?", [(step,) for step in gone])
        connection.execute("COMMIT")

    def _name_list(self, connection: sqlite3.Connection, names: tuple[str, ...]) -> int:
        """Names are long and always the same, so the rows only point to them."""
        if names not in self._names:
            self._names[names] = len(self._names)
            _insert(connection, "names", [(self._names[names], dumps(names))])
        return self._names[names]


def storable(name: str) -> str:
    """A name as SQLite takes it. Of a file name that is not UTF-8 the odd bytes are spelled out (reader.as_named)."""
    return name.encode("utf-8", "backslashreplace").decode()


def _place(site: Site, module: str | None) -> tuple[str | int | None, ...]:
    file, function, module = (None if name is None else storable(name) for name in (site.file, site.function, module))
    return file, site.line, function, module


def _insert(connection: sqlite3.Connection, table: str, rows: Sequence[Sequence[Any]]) -> None:
    if rows:
        marks = ",".join("?" * (len(rows[0]) + 1))
        summed = [(*row, checksum(row)) for row in rows]
        connection.executemany(f"INSERT OR REPLACE INTO {table} VALUES ({marks})", summed)


def append(path: Path, fact: Fact) -> None:
    """Add a fact to a record that nobody writes to any more."""
    connection = sqlite3.connect(path)
    with connection:
        (number,) = connection.execute("SELECT COALESCE(MAX(id), 0) + 1 FROM events").fetchone()
        data = dumps(fact, default=stored)
        row = (number, known_as(type(fact)).name, time.time(), 0, 0, 1, "setup", None, None, None, None, data)
        _insert(connection, "events", [row])
    connection.close()
