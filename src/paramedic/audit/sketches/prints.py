"""Fingerprints that survive small changes: gradient hashes of images, MinHash of texts."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from paramedic.audit.chunk import Array, Chunk
from paramedic.audit.sketches import minhash, pictures
from paramedic.audit.sketches.inputs import InputSketch

MOST = 1_000_000  # samples; beyond that only exact copies are looked for


@dataclass(slots=True)
class Prints:
    """One row per sample, as far as it is an image or a text."""

    indices: list[NDArray[np.int64]] = field(default_factory=list)
    gradients: list[NDArray[np.uint64]] = field(default_factory=list)  # dHash of the image, and of its mirror image
    thumbs: list[NDArray[np.uint8]] = field(default_factory=list)  # small versions, to look again at what seems equal
    patches: list[NDArray[np.float32]] = field(default_factory=list)  # their colours
    signatures: list[NDArray[np.uint32]] = field(default_factory=list)  # of texts
    count: int = 0

    def update(self, chunk: Chunk, known: Mapping[str, InputSketch]) -> None:
        if self.count >= MOST:
            return
        for name, values in chunk.inputs.items():
            if pictures.are_images(values) and pictures.large_enough(values):
                gradients, thumbs = pictures.fingerprints(values)
                self.gradients.append(gradients)
                self.thumbs.append(thumbs)
                self.patches.append(pictures.patches(values))
            elif isinstance(values, list) and known[name].is_text:
                self.signatures.append(minhash.signatures(values))
            else:
                continue
            self.indices.append(chunk.indices)
            self.count += len(chunk.indices)
            return

    def merge(self, other: Prints) -> None:
        self.indices += other.indices
        self.gradients += other.gradients
        self.thumbs += other.thumbs
        self.patches += other.patches
        self.signatures += other.signatures
        self.count += other.count

    @property
    def samples(self) -> NDArray[np.int64]:
        return np.concatenate(self.indices) if self.indices else np.zeros(0, dtype=np.int64)

    def joined(self, what: str) -> Array | None:
        parts = getattr(self, what)
        return np.concatenate(parts) if parts and sum(map(len, parts)) == self.count else None
