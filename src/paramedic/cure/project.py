"""The files of the user's that may be edited, with the edits made so far. Nothing here writes."""

from __future__ import annotations

import io
import os
import tokenize
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import cache
from pathlib import Path

from paramedic.cure.edit import Edit, apply
from paramedic.cure.patch import unified
from paramedic.cure.source import Beside, Source
from paramedic.lab.scratch import LEFT_OUT
from paramedic.masking import masked_words
from paramedic.own_code import NOT_OURS
from paramedic.paths import kind_of

LARGEST = 2_000_000  # bytes of a source file
MOST_FILES = 300
SETTINGS = (".yaml", ".yml", ".json", ".toml", ".ini", ".cfg")


class NotEditable(Exception):
    """A file that is not ours to edit, with the reason a user should read."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Project:
    """The folder that the command was given in, and the new text of each file that is edited."""

    folder: Path
    args: tuple[str, ...] = ()  # of the script
    texts: Mapping[str, str] = field(default_factory=dict)
    originals: Mapping[str, bytes] = field(default_factory=dict)  # what the edits were made from

    def source(self, file: str | None) -> Source:
        if not file:
            raise NotEditable("the finding names no line of a file")
        return Source(file, self.text(file), Beside(cache(self.readable_files), self.args))

    def text(self, file: str) -> str:
        return self.texts[file] if file in self.texts else _decoded(file, self._read(file))[0]

    def readable_files(self) -> dict[str, str]:
        """What the program may be made of, by name, edits included."""
        found = {}
        for file in self.files(".py", *SETTINGS):
            with suppress(NotEditable):
                found[file] = self.text(file)
        return found

    def files(self, *endings: str) -> list[str]:
        """The user's own files with these endings: not those of an environment, a cache or another tool."""
        found: list[str] = []
        for place, folders, names in os.walk(self.folder):
            here = Path(place).relative_to(self.folder)
            folders[:] = sorted(name for name in folders if name[0] != "." and not self._is_foreign(here / name))
            for name in sorted(names):
                path = Path(place, name)
                if name.endswith(endings) and path.stat().st_size <= LARGEST and len(found) < MOST_FILES:
                    found.append(path.relative_to(self.folder).as_posix())
        return found

    def text_before(self, edit: Edit) -> str:
        """What the edit changes, as it is; secrets of a command line are masked, for this is shown."""
        return self.text(edit.file) if edit.args is None else " ".join(masked_words(self.args))

    def after(self, edit: Edit) -> Project:
        if edit.args is not None:
            return replace(self, args=edit.args)
        file, originals = edit.file, dict(self.originals)
        originals.setdefault(file, self._read(file))
        text = self.texts[file] if file in self.texts else _decoded(file, originals[file])[0]
        return replace(self, texts={**self.texts, file: apply(text, edit.splices)}, originals=originals)

    def changed(self) -> dict[str, bytes]:
        """Each edited file, as it would be written: in its own encoding, its byte order mark kept."""
        return {file: text.encode(_decoded(file, self.originals[file])[1]) for file, text in self.texts.items()}

    def patch(self) -> bytes:
        """All edits in the form that `git apply` takes."""
        return b"".join(unified(file, self.originals[file], new) for file, new in self.changed().items())

    def _is_foreign(self, below: Path) -> bool:
        """A folder of installed packages, or one that scratch copies leave out."""
        name = f"{os.sep}{below}{os.sep}"
        return (
            below.name in LEFT_OUT
            or any(part in name for part in NOT_OURS)
            or (below.name != "" and (self.folder / below / "pyvenv.cfg").exists())
        )

    def _read(self, file: str) -> bytes:
        path = self.folder / file
        if not path.resolve().is_relative_to(self.folder.resolve()):
            raise NotEditable(f"{file} lies outside of {self.folder}; run the command from a folder above it")
        inside = path.resolve().relative_to(self.folder.resolve()).parents
        if any(self._is_foreign(folder) for folder in inside):
            raise NotEditable(f"{file} belongs to an installed package, which is not edited")
        if kind_of(path) != "file" or path.stat().st_size > LARGEST:
            raise NotEditable(f"{file} is not a source file that can be edited")
        return path.read_bytes()


def _decoded(file: str, data: bytes) -> tuple[str, str]:
    """The text, line endings as they are, and the encoding."""
    try:
        encoding, _ = tokenize.detect_encoding(io.BytesIO(data).readline)
        return data.decode(encoding), encoding
    except (SyntaxError, UnicodeDecodeError, LookupError) as error:
        raise NotEditable(f"{file} cannot be decoded: {error}") from None
