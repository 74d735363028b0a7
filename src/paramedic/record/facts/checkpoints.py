"""Facts about weights that are saved, loaded, overwritten or tied."""

from __future__ import annotations

from collections.abc import Sequence

from paramedic.record.facts.fact import Fact, fact, part
from paramedic.record.site import Site


@part
class Snapshot:
    """A state dict that was taken earlier."""

    taken_at: Site
    taken_step: int
    moved: bool = False  # the weights have changed since
    derived: bool = False  # not its own tensors, but others made of them on the same memory


@fact("load", missing="no state dict was loaded")
class Load(Fact):
    """A load_state_dict call and what it matched."""

    into: str  # "model" or "optimizer"
    class_: str | None = None  # of an optimizer
    rates: Sequence[float] = ()  # the highest rate of an optimizer before and after
    keys: int = 0
    numel: int = 0
    given: int = 0  # keys
    matched: int = 0  # keys
    matched_numel: int = 0
    changed: int = 0  # keys whose values were others
    missing: Sequence[str] = ()
    unexpected: Sequence[str] = ()
    missing_count: int = 0
    unexpected_count: int = 0
    left_numel: int = 0  # values without a place
    displaced_numel: int = 0  # of those, values with a place under another name
    snapshot: Snapshot | None = None


@fact("left_in_file", missing="the weights of all files that were read found their model")
class LeftInFile(Fact):
    """A model loaded a state dict and has hardly anything of the file that was read before."""

    read_at: Site
    tensors: int  # weights in the file
    lost: int  # of those, in the model nowhere
    fitting: int  # of those, of the last name and the shape of one of the model's
    wanted: int  # weights of the model
    names: Sequence[str] = ()  # some that were lost
    own_names: Sequence[str] = ()  # some of the model's


@fact("overwritten", missing="no weights were loaded before a step")
class Overwritten(Fact):
    """What is left of loaded weights at the next step."""

    loaded_at: Site
    names: Sequence[str]
    likeness: Sequence[float]  # the cosine of each with what was loaded, from 0 to 1


@fact("late_save", missing="no state dict was saved late")
class LateSave(Fact):
    """A state dict that was saved after the model had moved on."""

    taken_at: Site
    taken_step: int


@fact("untied", missing="no tied weights were parted")
class Untied(Fact):
    """Weights that were one tensor and are trained as two."""

    names: Sequence[str]
    how: str  # "loaded", "converted", "replaced" …
    numel: int


@fact("absent_file", missing="the script asked for no file that is not there")
class AbsentFile(Fact):
    """A line of the script asked whether a file exists, and it does not."""

    path: str
