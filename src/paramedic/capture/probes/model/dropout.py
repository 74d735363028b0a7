"""Functional dropout: is it tied to train() and eval()?"""

from __future__ import annotations

import inspect
from collections import Counter
from types import FrameType

from torch import nn
from torch.nn import functional as F

from paramedic.aliases import Args, Function, Kwargs
from paramedic.capture import moments
from paramedic.capture.probe import probe
from paramedic.capture.watcher import Watcher
from paramedic.program.where import OWN, frame_site, locals_of, user_frame
from paramedic.record.facts import Dropout as DropoutFact
from paramedic.record.writer import Site

FUNCTIONS = ("dropout", "dropout1d", "dropout2d", "dropout3d", "alpha_dropout", "feature_alpha_dropout")
ATTENTION = "scaled_dot_product_attention"  # its dropout is on whenever `dropout_p` is not 0
CALLS_PER_SITE = 40


@probe("dropout", states=[DropoutFact])
class Dropout:
    """Compares the `training` argument of each functional dropout with the mode of the module that calls it."""

    def __init__(self, watcher: Watcher) -> None:
        self.watcher = watcher
        self._seen: Counter[tuple[Site, bool, bool | None]] = Counter()
        self._inside = False

    def install(self) -> None:
        for name in FUNCTIONS:
            self._watch(name)
        self.watcher.patches.wrap(F, ATTENTION, self._watched_attention, light=True)

    def _watched_attention(self, original: Function) -> Function:
        def attend(*args: object, **kwargs: object) -> object:
            p = kwargs.get("dropout_p", args[4] if len(args) > 4 else 0.0)
            if p and not self.watcher.gears.matching:
                self.watcher.ask("dropout", self._attended, p)
            return original(*args, **kwargs)

        return attend

    def _attended(self, p: float) -> None:
        frame = user_frame()
        if frame is None or not self._called_from(frame):
            return  # a library's attention, which knows its own mode
        self._tell(ATTENTION, frame, p=float(p), training=True, explicit=True)

    @staticmethod
    def _called_from(frame: FrameType) -> bool:
        """Whether nothing but our own calls lies between here and the user's frame."""
        inner = inspect.currentframe()
        while inner is not None and inner is not frame:
            if not inner.f_code.co_filename.startswith(OWN):
                return False
            inner = inner.f_back
        return True

    def _watch(self, name: str) -> None:
        signature = inspect.signature(getattr(F, name))

        def watched(original: Function) -> Function:
            def drop(*args: object, **kwargs: object) -> object:
                if self._inside or self.watcher.gears.matching:
                    return original(*args, **kwargs)
                self._inside = True
                try:
                    self.watcher.ask("dropout", self._called, name, signature, args, kwargs)
                    return original(*args, **kwargs)
                finally:
                    self._inside = False

            return drop

        self.watcher.patches.wrap(F, name, watched, light=True)

    def _called(self, name: str, signature: inspect.Signature, args: Args, kwargs: Kwargs) -> None:
        frame = user_frame()
        if frame is None:
            return
        given = signature.bind(*args, **kwargs).arguments
        training = bool(given.get("training", True))
        self._tell(name, frame, p=float(given.get("p", 0.5)), training=training, explicit="training" in given)

    def _tell(self, name: str, frame: FrameType, *, p: float, training: bool, explicit: bool) -> None:
        site = frame_site(frame)
        caller = locals_of(frame).get("self")
        if p > 0 and isinstance(caller, nn.Module) and caller.training == training:
            self.watcher.bus.tell(moments.dropout_tied, training)
        place = (site, training, getattr(caller, "training", None))
        self._seen[place] += 1
        if self._seen[place] > CALLS_PER_SITE:
            return
        is_module = isinstance(caller, nn.Module)
        # A Dropout module passes its own flag on: then the module is to be judged, not this call.
        through_module = self._through_module()
        fact = DropoutFact(
            function=name,
            p=p,
            training=training,
            explicit=explicit,
            caller=type(caller).__name__ if is_module else None,
            caller_training=caller.training if isinstance(caller, nn.Module) else None,
            through_module=through_module,
        )
        self.watcher.state(fact, site=site, key=(name, site, training, fact.caller_training, through_module))

    def _through_module(self) -> bool:
        frame = inspect.currentframe()
        while frame is not None:
            caller = locals_of(frame).get("self") if frame.f_code.co_name == "forward" else None
            if caller is not None:
                return isinstance(caller, nn.modules.dropout._DropoutNd)
            frame = frame.f_back
        return False
