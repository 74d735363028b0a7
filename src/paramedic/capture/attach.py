"""Put a watcher into this process: build the probes and hook them into torch."""

from __future__ import annotations

import multiprocessing.util
import os
import platform
from pathlib import Path
from typing import Any

import torch

from paramedic.capture.active.probe import Active
from paramedic.capture.probes.backward import BackwardPasses
from paramedic.capture.probes.calls import Calls
from paramedic.capture.probes.census import Census
from paramedic.capture.probes.chains import Chains
from paramedic.capture.probes.checkpoints import Checkpoints
from paramedic.capture.probes.ctc import Ctc
from paramedic.capture.probes.dropout import Dropout
from paramedic.capture.probes.failures import raised_at
from paramedic.capture.probes.followers import Followers
from paramedic.capture.probes.freezes import Freezes
from paramedic.capture.probes.gradmode import GradMode
from paramedic.capture.probes.inplace import InPlace
from paramedic.capture.probes.inputs import Inputs
from paramedic.capture.probes.loaders import Loaders
from paramedic.capture.probes.loop import Loop
from paramedic.capture.probes.losses import Losses
from paramedic.capture.probes.masks import Masks
from paramedic.capture.probes.metrics import Metrics
from paramedic.capture.probes.modes import Modes
from paramedic.capture.probes.modules import Modules
from paramedic.capture.probes.objectives import Objectives
from paramedic.capture.probes.ops import OpMode
from paramedic.capture.probes.overwrites import Overwrites
from paramedic.capture.probes.recurrence import Recurrence
from paramedic.capture.probes.scaling import Clipping, Scaling, Schedulers
from paramedic.capture.probes.seeds import Seeds
from paramedic.capture.probes.shifts import Shifts
from paramedic.capture.probes.views import Views
from paramedic.capture.watcher import Watcher
from paramedic.record.writer import Writer
from paramedic.settings import Settings


class Attachment:
    """A watcher at work in this process."""

    def __init__(self, writer: Writer, settings: Settings) -> None:
        self.watcher = watcher = Watcher(writer, settings)
        self.ops = ops = OpMode(watcher)
        self.calls = calls = Calls(watcher, ops)
        self.modules = modules = Modules(watcher, calls.inside)
        self.census = census = Census(watcher, modules, ops)
        self.loop = loop = Loop(watcher, census)
        self.loaders = loaders = Loaders(watcher)
        scaling = Scaling(watcher, loop)
        self.losses = losses = Losses(watcher, calls)
        passes = BackwardPasses(watcher, calls, ops, loop.backward_began)
        self.freezes = freezes = Freezes(watcher, ops)

        ops.on_metric = lambda: calls.used_as("metric")
        ops.on_grad_read = loop.grads_read
        ops.maker = calls.maker
        ops.inside_model = calls.in_forward
        ops.module_site = calls.native_site
        calls.loader = lambda: loaders.current
        passes.scale = scaling.scale_of
        passes.function_of, passes.is_direct = losses.function_of, losses.is_direct
        passes.is_private = loop.is_private
        passes.known_pass = loop.as_before
        passes.on_bad_loss = lambda: loaders.tell_last(describe=False)
        views, masks, in_place = Views(watcher, ops), Masks(watcher, ops), InPlace(watcher, ops)
        self.in_place, recurrence = in_place, Recurrence(watcher)
        followers = Followers(watcher, ops, lambda identity: identity in loop.owners)
        checkpoints = Checkpoints(watcher)
        schedulers = Schedulers(watcher, loop)
        checkpoints.on_optimizer = schedulers.restored
        calls.on_root += [("followers", followers.called), ("views", views.called), ("masks", masks.model)]
        calls.on_call += [("overwrites", Overwrites(watcher).called), ("masks", masks.attention)]
        active, shifts, chains = Active(watcher), Shifts(watcher), Chains(watcher)
        calls.on_root.append(("active", active.called))
        calls.on_call += [("shifts", shifts.called), ("chains", chains.called)]
        losses.on_labels.append(("shifts", shifts.labels))
        self.inputs = Inputs(watcher)
        calls.on_fed.append(("inputs", self.inputs.fed))
        calls.on_call.append(("recurrence", recurrence.called))
        passes.on_pass.append(("recurrence", recurrence.passed))
        watcher.on_step += [("calls", calls.settle), ("ops", ops.forget_cycle)]

        for probe in (
            modules, freezes, Modes(watcher), checkpoints, Seeds(watcher), loaders, losses, Ctc(watcher),
            Dropout(watcher), GradMode(watcher), loop, scaling, Clipping(watcher, loop), schedulers, passes, calls,
            followers, views, masks, in_place, Metrics(watcher, ops), Objectives(watcher, ops), active, chains, ops,
        ):  # fmt: skip
            probe.install()
        self._leave_compilers_alone()

    def _leave_compilers_alone(self) -> None:
        watcher, patches = self.watcher, self.watcher.patches

        def watched_compile(original: Any) -> Any:
            def compile(*args: Any, **kwargs: Any) -> Any:
                watcher.no_function_mode(
                    "torch.compile is used, so module calls and tensor operations were not examined"
                )
                return original(*args, **kwargs)

            return compile

        def watched_script(original: Any) -> Any:
            def script(*args: Any, **kwargs: Any) -> Any:
                watcher.no_function_mode("torch.jit is used, so module calls and tensor operations were not examined")
                with patches.paused():
                    return original(*args, **kwargs)

            return script

        patches.wrap(torch, "compile", watched_compile)
        patches.wrap(torch.nn.Module, "compile", watched_compile)
        for name in ("script", "trace"):
            patches.wrap(torch.jit, name, watched_script)

    def finish(self, error: BaseException | None = None) -> None:
        """The script is over: settle what is open, put torch back, close the record."""
        watcher = self.watcher
        watcher.ask("calls", lambda: self.calls.settle(final=True))
        watcher.ask("freezes", self.freezes.tell)
        watcher.ask("loop", self.loop.finish)
        watcher.ask("loaders", self.loaders.samples.tell)
        watcher.ask("inputs", self.inputs.finish)
        watcher.ask("statistics", self.loop.statistics.finish)
        if error is not None:
            watcher.ask("loaders", self.loaders.tell_last)
            watcher.ask("losses", self.losses.tell_last)
            watcher.ask("in-place", self.in_place.tell, error)
            watcher.ask("exception", self._tell_exception, error)
        watcher.finish()
        watcher.writer.close()
        if self in _current:
            _current.remove(self)

    def _tell_exception(self, error: BaseException) -> None:
        site = raised_at(error)
        text = str(error).strip().splitlines()
        call = self.calls.stack[-1] if self.calls.stack else None
        data = {"type": type(error).__name__, "message": (text[0] if text else "")[:500]}
        self.watcher.emit("exception", site=site, module=call.path if call else None, data=data)


_current: list[Attachment] = []


def current() -> Attachment | None:
    """The watcher at work in this process, if there is one."""
    return _current[0] if _current else None


def attach(folder: Path, *, name: str, meta: dict[str, Any], settings: Settings, eager: bool = True) -> Attachment:
    """Begin to watch this process. With `eager` false the record is only created once an optimizer steps."""
    writer = Writer(folder / f"{name}.db", meta=meta | _environment())
    attachment = Attachment(writer, settings)
    _current.append(attachment)
    if eager:
        writer.start()

    def forked() -> None:
        if attachment.watcher.writer is writer:
            _adopt_fork(attachment, folder, meta)

    os.register_at_fork(after_in_child=forked)
    return attachment


def _adopt_fork(attachment: Attachment, folder: Path, meta: dict[str, Any]) -> None:
    """A forked child gets a record of its own, created only if it trains; a DataLoader worker never does."""
    watcher = attachment.watcher
    watcher.writer.abandon()
    watcher.writer = Writer(folder / f"p{os.getpid()}.db", meta=meta | _environment() | {"forked": True})
    attachment.calls.follow_this_thread()
    watcher.relax()
    # Children of multiprocessing leave through os._exit, which skips atexit but not this.
    multiprocessing.util.register_after_fork(
        attachment, lambda a: multiprocessing.util.Finalize(a, a.finish, exitpriority=0)
    )


def _environment() -> dict[str, Any]:
    """What a reader needs to know about the machine; never the environment's variables themselves."""
    return {
        "pid": os.getpid(),
        "rank": int(os.environ.get("RANK", 0) or 0),
        "world_size": int(os.environ.get("WORLD_SIZE", 1) or 1),
        "versions": {
            "python": platform.python_version(),
            "torch": str(torch.__version__),
            "platform": platform.platform(),
            "accelerator": torch.cuda.get_device_name(0) if torch.cuda.is_initialized() else "none",
        },
    }
