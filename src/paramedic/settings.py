"""How a run is to be watched: what the command line passes on to the watcher and to the children of the script."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, fields
from typing import Any

from paramedic.frozen import dataclass

DEFAULT_BUDGET = 0.02
LOGGING_VARIABLE = "PARAMEDIC_LOGGING"  # how setup_logging() was called, for processes that are started later


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """Everything here can be written as JSON, for child processes read it from their environment."""

    stop_after: int | None = None  # optimizer steps, then the script is stopped
    stop_after_seconds: float | None = None  # since torch was imported, at the end of a step
    budget: float = DEFAULT_BUDGET  # share of the run's time that watching may cost; 0 turns statistics off
    on_nan: str = "stop"  # before a step whose gradients are not finite: stop, continue, or open a shell
    wait_for_device: bool = False  # look at the gradients of each step, also where an accelerator has to be waited for
    bundle_limit: int = 1_000  # megabytes of a bundle; 0: none is written
    bundle_spikes: bool = False  # write one of steps whose loss or gradient stands out, too
    bundle_data: bool = True  # whether a bundle holds the batch
    replay: str | None = None  # the bundle whose step is to be run again
    replay_ops: bool = False  # show all operations of it
    replay_shell: bool = False
    probes: bool = True  # put questions to copies of the model
    shell_at: int | None = None  # open a shell before the optimizer applies this step
    pdb: bool = False  # open a debugger at an uncaught exception
    every: int | None = None  # take statistics every so many steps, whatever that costs
    log: bool = False  # progress lines on stderr; the file in the run's folder is always written
    log_every: int | None = None  # a line every so many steps, instead of a few per second
    audit: bool = False  # hold on to the loaders, whose data is audited when the script is over
    compiled_outputs: bool = False  # look at module outputs inside compiled graphs, too
    eager_first: int = 0  # steps of a compiled program that run eagerly, so that its calls can be examined
    trace: int = 0  # steps to write a profiler's trace of
    branches: bool = False  # keep which lines of the user's code ran, and list conditions that were never true
    startup: str | None = None  # a function of the user's to call before the script
    tensorboard: str | None = None  # the folder for event files, written while the run goes on
    announce: bool = False  # tell certain errors while the run goes on,
    notify: str | None = None  # and tell this address or command of the first,
    select: tuple[str, ...] = ()  # of these rules
    ignore: tuple[str, ...] = ()

    intervention: str | None = None  # what an experiment changes around the script (see interventions/)

    def as_dict(self) -> dict[str, Any]:
        return asdict(self)

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> Settings:
        """What a parent process passed on; a name that this version does not know is passed over."""
        known = {field.name for field in fields(cls)}
        given: dict[str, Any] = {name: value for name, value in values.items() if name in known}
        given |= {name: tuple(value) for name, value in given.items() if isinstance(value, list)}
        return cls(**given)
