"""Whom a sample is about (a patient, a user, a document), where a column says so: a 64-bit number per sample."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from paramedic.audit.chunk import Chunk, Values
from paramedic.audit.sketches.hashes import of_values

_OWNERS = (
    "patient", "subject", "user", "customer", "client", "person", "participant", "speaker", "author", "household",
    "family", "session", "document", "doc", "article", "student", "driver", "animal", "donor", "visitor", "member",
)  # fmt: skip
_PARTS = re.compile(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])")


def names_an_owner(column: str) -> bool:
    """'patient', 'PatientID' and 'user_id' do; 'user_rating' and 'subject_line' do not."""
    words = [word.lower() for word in _PARTS.findall(column)]
    ends = ("id", "no", "nr", "number", "key", "uuid", "name", "code")
    return bool(words) and words[0] in _OWNERS and (len(words) == 1 or (len(words) == 2 and words[1] in ends))


@dataclass(slots=True)
class Groups:
    """The owner of every sample, by column."""

    parts: dict[str, list[NDArray[np.int64]]] = field(default_factory=dict)
    indices: dict[str, list[NDArray[np.int64]]] = field(default_factory=dict)

    def update(self, chunk: Chunk) -> None:
        for name, values in {**_named(chunk.inputs), **chunk.owners}.items():
            known = np.asarray([value not in ("", None) and value == value for value in values], dtype=bool)  # not NaN
            self.parts.setdefault(name, []).append(of_values(values)[known])
            self.indices.setdefault(name, []).append(chunk.indices[known])

    def merge(self, other: Groups) -> None:
        for name, parts in other.parts.items():
            self.parts.setdefault(name, []).extend(parts)
            self.indices.setdefault(name, []).extend(other.indices[name])

    def owners(self, name: str) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """The samples, and the owner of each."""
        return np.concatenate(self.indices[name]), np.concatenate(self.parts[name])


def _named(inputs: Mapping[str, Values]) -> dict[str, Values]:
    """Inputs with such a name that are one word or number per sample."""
    return {
        name: values
        for name, values in inputs.items()
        if names_an_owner(name)
        and (values.ndim == 1 if isinstance(values, np.ndarray) else all(isinstance(value, str) for value in values))
    }
