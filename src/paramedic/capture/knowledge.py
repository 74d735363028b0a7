"""What is known of the training that is going on: the sources, which tell the bus and answer whoever asks."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import torch
from torch import nn

from paramedic.bundle.file import load as load_bundle
from paramedic.capture import moments
from paramedic.capture.bus import functions_heard
from paramedic.capture.crashes import Crashes
from paramedic.capture.inquest.again import Replay
from paramedic.capture.inquest.alarm import Alarm
from paramedic.capture.probe import all_probes
from paramedic.capture.reassembly import reassembled
from paramedic.capture.sampler import Sampler
from paramedic.capture.skipping import Skipping
from paramedic.capture.skipping_rounds import SkippingRounds
from paramedic.capture.sources.backward import BackwardPasses
from paramedic.capture.sources.checkpoints import Checkpoints
from paramedic.capture.sources.clock import Clock
from paramedic.capture.sources.compilers import Compilers
from paramedic.capture.sources.data_loaders import DataLoaders
from paramedic.capture.sources.loop import Loop
from paramedic.capture.sources.losses import Losses
from paramedic.capture.sources.module_calls import ModuleCalls
from paramedic.capture.sources.modules import Modules
from paramedic.capture.sources.ops import OpMode
from paramedic.capture.sources.scaling import Scaling
from paramedic.capture.sources.seeds import Seeds
from paramedic.capture.sources.workers import Workers
from paramedic.capture.watcher import Watcher
from paramedic.program import anatomy
from paramedic.record.writer import NOWHERE, Site


class Knowledge:
    """One per watcher. Probes find it there; what only another probe knows stands at the end, as a question."""

    def __init__(self, watcher: Watcher) -> None:
        watcher.known = self
        self.clock = clock = Clock(watcher)
        self.sampler = Sampler(clock)
        self.crashes = Crashes(watcher, watcher.writer.path.parent)
        self.ops = ops = OpMode(watcher)
        self.calls = calls = ModuleCalls(watcher, ops)
        self.modules = Modules(watcher)
        self.loop = loop = Loop(watcher, ops, clock)
        self.loaders = loaders = DataLoaders(watcher, clock)
        self.workers = Workers(watcher)
        self.scaling = Scaling(watcher, loop)
        self.losses = Losses(watcher, calls)
        self.passes = passes = BackwardPasses(watcher, calls, ops, loop, clock)
        if watcher.settings.replay is not None:
            passes.replay = Replay(watcher, load_bundle(Path(watcher.settings.replay)))
        self.checkpoints, self.seeds, self.compilers = Checkpoints(watcher), Seeds(watcher), Compilers(watcher)
        self.alarm = alarm = Alarm(watcher, loop)
        self.skipping = Skipping(watcher, loop, loaders, passes, alarm)
        self.skipping_rounds = SkippingRounds(watcher, loaders, alarm)

        self.embedded: Callable[[], torch.Tensor | None] = lambda: None  # the token ids that were embedded last
        self.is_answer: Callable[[torch.Tensor], bool] = lambda _: False  # of a model that was called without gradients
        self.written_at: Callable[[nn.Module], Site] = lambda _: NOWHERE  # the user's line that wrote to its parameters

    def install(self) -> None:
        """Hook all sources and probes into torch, and have them told of the moments they listen to."""
        watcher = self.clock.watcher
        probes = [(kind.name, kind.build(watcher)) for kind in all_probes()]
        sources: dict[str, object] = {
            "clock": self.clock, "modules": self.modules, "checkpoints": self.checkpoints, "seeds": self.seeds,
            "data_loaders": self.loaders, "workers": self.workers, "losses": self.losses, "loop": self.loop,
            "scaling": self.scaling, "backward": self.passes, "alarm": self.alarm, "skipping": self.skipping,
            "skipping_rounds": self.skipping_rounds,
            "compilers": self.compilers, "module_calls": self.calls, "ops": self.ops,
        }  # fmt: skip
        bus = watcher.bus
        for name, source in sources.items():
            bus.connect(name, source)
            if hasattr(source, "install"):
                source.install()
        bus.listen(moments.module_entered, "crashes", self.crashes.entered)
        bus.listen(moments.batch_given, "crashes", self.crashes.given)
        for name, probe in probes:
            bus.connect(name, probe)
            for functions, handler in functions_heard(probe):
                self.ops.handle(functions, handler, name)
            if hasattr(probe, "install"):
                probe.install()

    def objects(self) -> dict[str, object]:
        """What somebody who looks into the run by hand wants at hand: model, optimizer, batch, loss."""
        roots = self.clock.watcher.registry.roots()
        models = sorted(roots, key=lambda root: -sum(p.numel() for p in anatomy.parameters(root)))
        optimizers = list(self.loop.books.births)
        found = {
            "model": models[0] if models else None,
            "optimizer": optimizers[-1] if optimizers else None,
            "batch": reassembled(batch) if (batch := self.loaders.last_batch().tensors()) is not None else None,
            "loss": self.passes.last() if self.passes.last is not None else None,
        }
        return {name: value for name, value in found.items() if value is not None}
