"""Healthy programs with one thing broken. `bases/` holds the programs, the other files what is broken in them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

HERE = Path(__file__).parent
MARK = "«"  # in a replacement: the end of the line that the user must edit


@dataclass(frozen=True, slots=True)
class Mutation:
    """One exact replacement, in the text of one base, that makes it sick."""

    name: str
    base: str
    codes: tuple[str, ...]  # the right code, then others that would be right as well
    old: str
    new: str

    @property
    def has_line(self) -> bool:
        return MARK in self.new

    def apply(self, text: str) -> str:
        if text.count(self.old) != 1:
            raise ValueError(f"{self.base}/{self.name}: the text is there {text.count(self.old)} times: {self.old!r}")
        return text.replace(self.old, self.new.replace(MARK, f"  # <- {self.codes[0]}"))


def everywhere(name: str, codes: str, places: dict[str, tuple[str, str]]) -> Iterator[Mutation]:
    """The same fault in several bases: {base: (old, new)}."""
    for base, (old, new) in places.items():
        yield Mutation(name, base, tuple(codes.split()), old, new)


def all_mutations() -> list[Mutation]:
    from benchmarks.accuracy.mutations import data, loop, loss, model, settings

    return [mutation for part in (loop, loss, model, data, settings) for mutation in part.MUTATIONS]


def write(folder: Path) -> dict[str, Path]:
    """Every base and every mutant as a script; by `base/mutation`, and `base/healthy` for the base itself."""
    found = {}
    for base in sorted((HERE / "bases").glob("*.py")):
        found[f"{base.stem}/healthy"] = base
    for mutation in all_mutations():
        path = folder / mutation.base / f"{mutation.name}.py"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(mutation.apply(found[f"{mutation.base}/healthy"].read_text()))
        found[f"{mutation.base}/{mutation.name}"] = path
    return found
