"""The shape of a record: its tables. The kinds of facts it holds are in facts/.

A fact that happens once per step would fill the disk, so facts carry a key: the first occurrence stores the details,
later ones only raise `count` and `last_step`. Facts without a key are stored each time, and their probe limits them.

Every row ends in a checksum of what stands before it: a report must never be about a bit that a disk has lost.

Statistics of tensors are packed, one row per step and role (see samples.py).

Values are JSON, written by Python's json module: NaN and the infinities survive (SQLite itself turns NaN into null).
"""

from __future__ import annotations

SCHEMA_VERSION = 4

TABLES = """
CREATE TABLE IF NOT EXISTS meta (name TEXT PRIMARY KEY, value TEXT NOT NULL, crc INTEGER NOT NULL);
CREATE TABLE IF NOT EXISTS events (
  id INTEGER PRIMARY KEY,
  kind TEXT NOT NULL,
  time REAL NOT NULL,
  step INTEGER NOT NULL,
  last_step INTEGER NOT NULL,
  count INTEGER NOT NULL,
  phase TEXT NOT NULL,
  file TEXT, line INTEGER, function TEXT,
  module TEXT,
  data TEXT NOT NULL,
  crc INTEGER NOT NULL
);
CREATE INDEX IF NOT EXISTS events_by_kind ON events (kind, id);
CREATE TABLE IF NOT EXISTS points (
  series TEXT NOT NULL, step INTEGER NOT NULL, value TEXT NOT NULL, crc INTEGER NOT NULL
);
CREATE INDEX IF NOT EXISTS points_by_series ON points (series);
CREATE TABLE IF NOT EXISTS names (id INTEGER PRIMARY KEY, names TEXT NOT NULL, crc INTEGER NOT NULL);
CREATE TABLE IF NOT EXISTS samples (
  step INTEGER NOT NULL, role TEXT NOT NULL, names INTEGER NOT NULL, rows BLOB NOT NULL,
  crc INTEGER NOT NULL
);
CREATE INDEX IF NOT EXISTS samples_by_step ON samples (step);
"""
