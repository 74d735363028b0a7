"""Facts about time and memory."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from paramedic.record.facts.fact import Fact, fact, part
from paramedic.record.site import Site


@fact("time", missing="no optimizer took a step")
class Time(Fact):
    """How long the parts of the loop took, window by window."""

    steps: int
    seconds: float
    parts: Mapping[str, float]  # seconds
    examined: bool
    device: str = "cpu"


@fact("slow_step", missing="no step was much slower than the others")
class SlowStep(Fact):
    """A step that took much longer than the others."""

    seconds: float
    typical: float  # seconds
    parts: Mapping[str, float]  # seconds
    marks: Sequence[str]  # what happened in it: "epoch", "evaluation" …
    seen: Sequence[Site]  # lines at work


@fact("sample", missing="the run was too short to look at it")
class LineSample(Fact):
    """A line of the script seen at work, by part of the loop."""

    part: str


@fact("compile", missing="torch.compile is not used")
class Compile(Fact):
    """A call of torch.compile."""

    function: str | None = None
    code: Site | None = None


@fact("recompile", missing="nothing was compiled twice")
class Recompile(Fact):
    """A function compiled once more, and the guard that failed."""

    function: str
    frame: str
    reason: str
    seconds: float | None = None
    version: int | None = None
    gave_up: str | None = None
    code_file: str | None = None
    code_line: int | None = None


@fact("sync", missing="no accelerator is used")
class Sync(Fact):
    """A call that makes the host wait for an accelerator."""

    call: str


@part
class Child:
    """A child process."""

    pid: int
    name: str
    status: str
    cpu_seconds: float
    stack: Sequence[str]


@fact("stall", missing="training never hung")
class Stall(Fact):
    """A moment at which nothing had moved for long, with all stacks; or the end of one."""

    over: bool
    seconds: float
    typical: float | None = None
    part: str | None = None
    in_loop: bool = False
    file: str | None = None  # in which the stacks were written
    threads: Mapping[str, Sequence[str]] | None = None
    children: Sequence[Child] = ()


@fact("trace", missing="no trace was asked for")
class Trace(Fact):
    """A profiler's trace of a few steps."""

    file: str | None = None
    first: int | None = None
    steps: int | None = None
    reason: str | None = None  # why there is none


@fact("memory", missing="no optimizer took a step")
class Memory(Fact):
    """The memory that this process may use, in bytes."""

    limit: int
    used: int
    source: str
    pid: int


@fact("memory_peak", missing="the run has not ended")
class MemoryPeak(Fact):
    """The most memory that was ever resident, in bytes."""

    rss: int | None = None


@fact("process", missing="no optimizer took a step")
class Process(Fact):
    """A process whose memory is polled."""

    pid: int
    name: str


@fact("device_memory", missing="no accelerator is used")
class DeviceMemory(Fact):
    """An accelerator that holds memory of this process."""

    name: str
    total: int  # bytes


@fact("retained", missing="no graph was kept")
class Retained(Fact):
    """A variable that keeps graphs from step to step."""

    variable: str
    how: str
    tensors: int
    per_step: float
    function: str
    shape: Sequence[int]
    line_known: bool


@fact("hoard", missing="nothing piled up")
class Hoard(Fact):
    """A variable whose content grows from step to step."""

    variable: str
    how: str  # its type
    items: int
    bytes: float
    per_step: float  # bytes
    device: str
    bounded: bool
    line_known: bool


@part
class LargeTensor:
    """One of the largest tensors when memory ran out."""

    bytes: int
    shape: Sequence[int]
    maker: str | None = None
    variable: str | None = None
    function: str | None = None
    file: str | None = None
    line: int | None = None


@fact("out_of_memory", missing="memory did not run out")
class OutOfMemory(Fact):
    """Who held what when memory ran out, in bytes."""

    device: str
    total: int
    used: int
    source: str  # "device", "cgroup", "machine" or "ulimit"
    base: int  # before the script built anything
    parameters: int
    trainable: int
    gradients: int
    state: int
    buffers: int
    largest: Sequence[LargeTensor]
    asked: int | None = None  # by the allocation that failed
    progress: float | None = None  # share of the layers that the forward pass had reached


@fact("lines_run", missing="the lines that ran were not asked for (run --branches)")
class LinesRun(Fact):
    """Lines of one of the user's files that ran after torch was imported."""

    file: str
    lines: Sequence[int]
