"""Put a watcher into this process: build the probes and hook them into torch."""

from __future__ import annotations

import multiprocessing.util
import os
import platform
import threading
import time
import types
from pathlib import Path
from typing import Any

import torch

from paramedic import descriptors
from paramedic.capture import anatomy
from paramedic.capture.apart.process import within_fork
from paramedic.capture.details import Details
from paramedic.capture.eager_first import EagerFirst
from paramedic.capture.inquest.again import Replay
from paramedic.capture.inquest.alarm import Alarm
from paramedic.capture.inquest.evaluation import Evaluation
from paramedic.capture.log import Log
from paramedic.capture.probes.data.margins import Margins
from paramedic.capture.probes.data.workers import Workers
from paramedic.capture.probes.evaluation.gradmode import GradMode
from paramedic.capture.probes.loop.pause import Pause
from paramedic.capture.probes.loop.scaling import Clipping, Scaling
from paramedic.capture.probes.loop.schedules import Schedulers
from paramedic.capture.probes.machine.clock import Clock
from paramedic.capture.probes.machine.collectives import Collectives
from paramedic.capture.probes.machine.compiled_outputs import CompiledOutputs
from paramedic.capture.probes.machine.compiles import Compiles
from paramedic.capture.probes.machine.exhaustion import is_exhaustion, tell_exhaustion
from paramedic.capture.probes.machine.failures import exit_codes, raised_at
from paramedic.capture.probes.machine.growing_variables import GrowingVariables
from paramedic.capture.probes.machine.memory import Memory
from paramedic.capture.probes.machine.ranks import Ranks
from paramedic.capture.probes.machine.seeds import Seeds
from paramedic.capture.probes.machine.transfers import Transfers
from paramedic.capture.probes.machine.warned import Warned
from paramedic.capture.probes.machine.windows import Windows
from paramedic.capture.probes.model.casts import Casts
from paramedic.capture.probes.model.census import Census
from paramedic.capture.probes.model.dropout import Dropout
from paramedic.capture.probes.model.freezes import Freezes
from paramedic.capture.probes.model.modes import Modes
from paramedic.capture.probes.model.modules import Modules
from paramedic.capture.probes.model.symmetry import Symmetry
from paramedic.capture.probes.model.units import Units
from paramedic.capture.sampler import Sampler
from paramedic.capture.skipping import Skipping
from paramedic.capture.sources.backward import BackwardPasses
from paramedic.capture.sources.checkpoints import Checkpoints
from paramedic.capture.sources.data_loaders import DataLoaders
from paramedic.capture.sources.loop import Loop
from paramedic.capture.sources.losses import Losses
from paramedic.capture.sources.module_calls import ModuleCalls
from paramedic.capture.sources.ops import OpMode
from paramedic.capture.stall import StallWatch
from paramedic.capture.trace import Trace
from paramedic.capture.values import Values
from paramedic.capture.watcher import Watcher
from paramedic.capture.where import start_folder
from paramedic.errors import message_of
from paramedic.lab.interventions import install
from paramedic.masking import masked_text
from paramedic.postmortem import tracebacks
from paramedic.postmortem.bundle import load as load_bundle
from paramedic.postmortem.crashes import Crashes
from paramedic.record.facts import Ended, Gear
from paramedic.record.writer import Writer
from paramedic.settings import Settings
from paramedic.sources import lines_to_keep


class Attachment:
    """A watcher at work in this process."""

    def __init__(self, writer: Writer, settings: Settings, name: str) -> None:
        self.process = os.getpid()
        self.around = 0.0  # seconds that watching took before the script began, and takes after it has ended
        # An experiment's change comes first, so that all that is recorded is what the script really gets.
        self.surroundings = install(settings.intervention, writer.path.parent) if settings.intervention else None
        self.watcher = watcher = Watcher(writer, settings)
        self.clock = clock = Clock(watcher)
        self.windows = windows = Windows(watcher, clock)
        self.log = log = Log(watcher, name)
        self.values = Values(watcher)
        self.sampler = sampler = Sampler(clock)
        self.stall = stall = StallWatch(clock)
        sampler.on_look.append(stall.look)
        self.collectives = collectives = Collectives(clock)
        stall.on_quiet.append(collectives.look)
        self.compiles = Compiles(watcher)
        self.trace = Trace(watcher, name)
        self.crashes = crashes = Crashes(watcher, writer.path.parent)
        self.ops = ops = OpMode(watcher)
        self.calls = calls = ModuleCalls(watcher, ops)
        self.modules = modules = Modules(watcher, calls.inside)
        symmetry = Symmetry(watcher)
        self.census = census = Census(watcher, modules, ops, symmetry)
        self.loop = loop = Loop(watcher, census, clock)
        self.schedulers = schedulers = Schedulers(watcher, loop)
        self.loaders = loaders = DataLoaders(watcher, clock)
        self.workers = workers = Workers(watcher, crashes)
        scaling = Scaling(watcher, loop)
        self.losses = losses = Losses(watcher, calls)
        self.passes = passes = BackwardPasses(watcher, calls, ops, loop.backward_began, clock)
        self.freezes = freezes = Freezes(watcher, ops)
        self.memory = memory = Memory(watcher, loaders.workers)
        self.compiled_outputs = CompiledOutputs(watcher, loop.statistics.add_output)

        clock.on_start = sampler.start
        clock.on_lap.append(log.stepped)
        clock.on_evaluation = log.evaluated
        loaders.on_batch, log.padding = log.got, loaders.last_padding
        ops.on_metric = lambda: calls.used_as("metric")
        ops.on_grad_read = loop.grads_read
        ops.maker = calls.maker
        ops.loss_function = losses.function_of
        ops.inside_model, ops.is_held = calls.in_forward, loop.owners.__contains__
        ops.module_site = calls.native_site
        calls.loader, calls.holds = lambda: loaders.current, loop.owners.__contains__
        passes.alarm = self.alarm = alarm = Alarm(watcher, loop)
        if settings.replay is not None:
            passes.replay = Replay(watcher, load_bundle(Path(settings.replay)))
        skipping = Skipping(watcher, loop, alarm)
        skipping.may_begin, skipping.look_at = loaders.may_skip, passes.over
        skipping.record, skipping.arrived = passes.record_value, passes.arrived
        skipping.on_end.append(loaders.skipping_ended)
        evaluation = Evaluation(watcher, alarm)
        losses.on_evaluation = evaluation.loss
        calls.on_root.append(("evaluation", evaluation.answered))
        loaders.on_arrival = alarm.step_begins
        calls.on_enter = crashes.entered
        loaders.on_given = crashes.given
        passes.scale = alarm.scale = scaling.scale_of
        passes.function_of, passes.is_direct = losses.function_of, losses.is_direct
        passes.is_private = loop.is_private
        passes.known_pass = loop.as_before
        passes.on_failure = loop.backward_failed
        passes.on_bad_loss = lambda: loaders.tell_last(describe=False)
        checkpoints, dropout = Checkpoints(watcher), Dropout(watcher)
        dropout.on_tied, seeds = calls.dropped, Seeds(watcher)
        calls.draws_apart = seeds.draws_apart
        self.details = details = Details(watcher, ops, calls, losses, passes, loop, checkpoints)
        watcher.each_round("module_calls", calls.settle)
        watcher.each_round("ops", ops.forget_cycle)

        for probe in (
            clock, windows, stall, Transfers(watcher, clock, ops), self.trace, self.compiles, self.compiled_outputs,
            modules, freezes, Modes(watcher), checkpoints, seeds, loaders, workers, losses,
            dropout, GradMode(watcher), loop, scaling, Clipping(watcher, loop),
            schedulers, Casts(watcher), symmetry, Units(watcher, calls, ops), passes, calls, details, ops, memory,
            GrowingVariables(watcher), Pause(watcher), alarm, skipping, evaluation, Margins(watcher, loaders),
            Warned(watcher), Ranks(watcher),
        ):  # fmt: skip
            probe.install()
        self._leave_compilers_alone()

    def _leave_compilers_alone(self) -> None:
        watcher, patches = self.watcher, self.watcher.patches
        eager = EagerFirst(watcher)

        def watched_compile(original: Any) -> Any:
            def compile(*args: Any, **kwargs: Any) -> Any:
                watcher.ask("compiles", self.compiles.called, args)
                if watcher.settings.compiled_outputs:
                    watcher.ask("compiled_outputs", self.compiled_outputs.about_to_compile, args[0] if args else None)
                eager.compiled()
                return original(*args, **kwargs)

            return compile

        def watched_script(original: Any) -> Any:
            def script(*args: Any, **kwargs: Any) -> Any:
                if original.__name__ == "trace" or not _is_small(args):  # a trace would take down our operations, too
                    watcher.no_function_mode(
                        "torch.jit is used, so module calls and tensor operations were not examined"
                    )
                if original.__name__ == "script":  # it looks up names in the frame that called it, two further up
                    kwargs["_frames_up"] = kwargs.get("_frames_up", 0) + 2
                with patches.paused():
                    return original(*args, **kwargs)

            return script

        def watched_scripted(original: Any) -> Any:
            def scripted(function: Any, *args: Any, **kwargs: Any) -> Any:
                reason = f"the scripted function {function.name} was called: operations inside it were not examined"
                watcher.ask("compiles", lambda: watcher.state(Gear(reason=reason), key=function.name))
                return original(function, *args, **kwargs)

            return scripted

        patches.wrap(torch.jit.ScriptFunction, "__call__", watched_scripted, light=True)
        patches.wrap(torch, "compile", watched_compile)
        patches.wrap(torch.nn.Module, "compile", watched_compile)
        for name in ("script", "trace"):
            patches.wrap(torch.jit, name, watched_script)

    def objects(self) -> dict[str, Any]:
        """What somebody who looks into the run by hand wants at hand: model, optimizer, batch, loss."""
        roots = sorted(
            self.watcher.registry.roots(), key=lambda root: -sum(p.numel() for p in anatomy.parameters(root))
        )
        optimizers = list(self.loop.births)
        found = {
            "model": roots[0] if roots else None,
            "optimizer": optimizers[-1] if optimizers else None,
            "batch": self.loaders.last_tensors(),
            "loss": self.passes.last() if self.passes.last is not None else None,
        }
        return {name: value for name, value in found.items() if value is not None}

    def finish(self, error: BaseException | None = None) -> None:
        """The script is over: settle what is open, put torch back, close the record."""
        watcher, began = self.watcher, time.perf_counter()
        self.sampler.stop()
        if self.surroundings is not None:
            watcher.ask("surroundings", self._tell_surroundings)
        watcher.ask("module_calls", lambda: self.calls.settle(final=True))
        watcher.ask("freezes", self.freezes.tell)
        watcher.ask("loop", self.loop.finish)
        watcher.ask("schedulers", self.schedulers.finish)
        watcher.ask("data_loaders", self.loaders.samples.tell)
        watcher.ask("details", self.details.finish, error)
        watcher.ask("memory", self.memory.finish)
        watcher.ask("statistics", self.loop.statistics.finish)
        watcher.ask("data_loaders", self.loaders.epochs.finish)
        watcher.ask("clock", self.clock.finish)
        watcher.ask("compiles", self.compiles.look)
        watcher.ask("clock", self.windows.tell)
        watcher.ask("log", self.log.finish)
        watcher.ask("trace", self.trace.finish)
        if error is not None:
            watcher.ask("alarm", self.alarm.crashed, error)
            watcher.ask("data_loaders", self.loaders.tell_last)
            watcher.ask("losses", self.losses.tell_last, error)
            watcher.ask("exception", self._tell_exception, error)
            watcher.ask("collectives", self.collectives.failed, error)
            if is_exhaustion(error):
                known = (list(self.loop.births), self.calls.maker, self.memory.base)
                watcher.ask("memory", tell_exhaustion, watcher, *known, error, raised_at(error))
        watcher.ask("sources", self._keep_sources)
        watcher.finish()
        self.crashes.finish()
        watcher.writer.set_meta(around=round(self.around + time.perf_counter() - began, 3))
        watcher.writer.close()
        if self in _current:
            _current.remove(self)
            tracebacks.on_uncaught.remove(self.failed)

    def failed(self, error: BaseException) -> None:
        """An exception is about to end this process, which no code of ours started; the others may end it first."""
        if isinstance(error, (KeyboardInterrupt, SystemExit)) or self.watcher.closed:
            return
        self.watcher.ask("exception", self._tell_exception, error)
        self.watcher.ask("collectives", self.collectives.failed, error)
        if torch.distributed.is_available() and torch.distributed.is_initialized():
            self.watcher.writer.start()
            self.watcher.writer.flush()

    def _tell_surroundings(self) -> None:
        assert self.surroundings is not None
        for finish in self.surroundings.on_finish:
            finish()
        self.watcher.state(self.surroundings.summary())

    def _keep_sources(self) -> None:
        """The lines that findings can be about, for reports that are made where the script is not."""
        self.watcher.writer.set_meta(sources=lines_to_keep(self.watcher.writer.sites, start_folder()))

    def _tell_exception(self, error: BaseException) -> None:
        site = raised_at(error)
        text = message_of(error).strip().splitlines()
        call = self.calls.stack[-1] if self.calls.stack else None
        ended = Ended(
            type=type(error).__name__,
            message=masked_text((text[0] if text else "")[:500]),
            cause=masked_text(message_of(error.__cause__ or Exception())[:200]),
            exit_codes=exit_codes(error),
        )
        self.watcher.state(ended, site=site, module=call.path if call else None)


def _is_small(args: tuple[Any, ...]) -> bool:
    """Whether what is scripted is a function or a class: nothing of a program's is hidden but what lies inside it.

    Many libraries script a helper as they are imported, and torch some classes of its own.
    """
    return bool(args) and isinstance(args[0], (type, types.FunctionType))


_current: list[Attachment] = []


def current() -> Attachment | None:
    """The watcher at work in this process, if there is one."""
    return _current[0] if _current else None


def attach(folder: Path, *, name: str, meta: dict[str, Any], settings: Settings, eager: bool = True) -> Attachment:
    """Begin to watch this process. With `eager` false the record is only created once an optimizer steps."""
    descriptors.spare()
    writer = Writer(folder / f"{name}.db", meta=meta | environment())
    attachment = Attachment(writer, settings, name)
    _current.append(attachment)
    tracebacks.on_uncaught.append(attachment.failed)
    if eager:
        writer.start()
    if eager or "RANK" in os.environ:
        attachment.crashes.install()

    held: list[threading.Lock | None] = []

    def before() -> None:
        held.append(attachment.watcher.writer.hold())

    def after_in_parent() -> None:
        lock = held.pop()
        if lock is not None:
            lock.release()

    def after_in_child() -> None:
        held.clear()
        if not attachment.watcher.closed and not within_fork():
            _adopt_fork(attachment, folder, meta)

    if hasattr(os, "register_at_fork"):  # not on Windows, where no process is forked
        os.register_at_fork(before=before, after_in_parent=after_in_parent, after_in_child=after_in_child)
    # Children of multiprocessing leave through os._exit, which skips atexit but not this.
    multiprocessing.util.register_after_fork(
        attachment, lambda a: multiprocessing.util.Finalize(a, a.finish, exitpriority=0)
    )
    return attachment


def _adopt_fork(attachment: Attachment, folder: Path, meta: dict[str, Any]) -> None:
    """A forked child gets a record of its own, created only if it trains; a DataLoader worker never does."""
    watcher = attachment.watcher
    watcher.writer.abandon()
    attachment.crashes.forked()
    watcher.writer = Writer(folder / f"p{os.getpid()}.db", meta=meta | environment() | {"forked": True})
    watcher.on_count = lambda _: None  # the box to write it into is the parent's
    attachment.calls.follow_this_thread()
    attachment.log.forget(f"p{os.getpid()}")
    attachment.clock.restart()
    watcher.relax()


def environment() -> dict[str, Any]:
    """What a reader needs to know about the machine; never the environment's variables themselves."""
    return {
        "pid": os.getpid(),
        "rank": int(os.environ.get("RANK", 0) or 0),
        "world_size": int(os.environ.get("WORLD_SIZE", 1) or 1),
        "versions": {
            "python": platform.python_version(),
            "torch": str(torch.__version__),
            "platform": "-".join(
                (platform.system(), platform.release(), platform.machine())
            ),  # platform() starts a process
            "accelerator": torch.cuda.get_device_name(0) if torch.cuda.is_initialized() else "none",
        },
    }
