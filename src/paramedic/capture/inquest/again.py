"""`paramedic replay`: the script has come to the place of a bundle's failing step; now run that step."""

from __future__ import annotations

import os
import random
import sys
from types import FrameType

import torch

from paramedic import voice
from paramedic.aliases import Fields
from paramedic.capture.inquest.excerpt import Excerpt, excerpt
from paramedic.capture.inquest.inquest import differentiated, frames, tracer_for
from paramedic.capture.inquest.origin import Origin, forward_origin
from paramedic.capture.inquest.randomness import RandomState
from paramedic.capture.inquest.rerun import rerun, without_trace
from paramedic.capture.inquest.tracer import Op, Seen, Tracer, look
from paramedic.capture.watcher import Watcher
from paramedic.errors import ParamedicError, message_of
from paramedic.postmortem.tensors import summary
from paramedic.program.where import frame_site
from paramedic.record import facts

CLEAN, REPRODUCED, IMPOSSIBLE = 0, 1, 2
AROUND = 6  # operations shown on either side of the one that failed


class Replay:
    """Waits for the first backward() at the place that the bundle names."""

    def __init__(self, watcher: Watcher, bundle: Fields) -> None:
        self.watcher = watcher
        self.bundle = bundle
        self.trail = bool(watcher.settings.replay_ops)
        self.shell = bool(watcher.settings.replay_shell)

    def here(self) -> None:
        """A backward() has been called: run the bundle's step if this is the place, and end the script."""
        frame = next((frame for frame in frames() if self._is_place(frame)), None)
        if frame is None:
            return
        try:
            code = self._run(frame)
        except ParamedicError as error:
            voice.say(str(error))
            code = IMPOSSIBLE
        except Exception as error:  # numbers that do not fit the script: the bundle may come from anywhere
            voice.say(f"paramedic: the step cannot be run again: {type(error).__name__}: {message_of(error)[:500]}")
            code = IMPOSSIBLE
        self.watcher.state(facts.Replay(code=code), site=frame_site(frame))
        self.watcher.stop_with = code

    def _is_place(self, frame: FrameType) -> bool:
        file, _, function = self.bundle["place"]
        return frame.f_code.co_name == function and os.path.basename(frame.f_code.co_filename) == os.path.basename(file)

    def _run(self, frame: FrameType) -> int:
        self._load_weights()
        whole = self.bundle["whole"]
        for attempt in (False, True) if whole is None else (whole,):
            statements = excerpt(frame, self.bundle["variables"], whole=attempt)
            if statements is None:
                raise ParamedicError(
                    f"the lines before {frame_site(frame).file}:{frame.f_lineno} cannot be run by themselves",
                    expected="plain statements that lead to backward()",
                    fix="put the computation of the loss into plain statements before backward()",
                )
            tracer = tracer_for(self.watcher)
            with without_trace(self.watcher.registry.roots(), self._torchs_random()):
                self._restore_random()
                again = rerun(statements, tracer)
                if isinstance(again, BaseException):
                    return self._failed(again, tracer)
                if whole is None and not attempt and not self._same(again):
                    continue  # what was drawn before the model was called has to be drawn again, too
                bad = next((seen for loss in again if (seen := look(loss)) is not None and seen.bad), None)
                forward = len(tracer.ops)
                origin = forward_origin(tracer, bad) if bad is not None else differentiated(tracer, again)
            return self._tell(origin, tracer, forward, again, statements)
        raise AssertionError("the last attempt returns")

    def _same(self, losses: list[torch.Tensor]) -> bool:
        before = self.bundle["loss"]
        return before is not None and torch.equal(losses[0].detach().cpu().nan_to_num(), before.nan_to_num())

    def _load_weights(self) -> None:
        roots = {self.watcher.registry.root_name(root): root for root in self.watcher.registry.roots()}
        for name, state in self.bundle["models"].items():
            if name not in roots:
                continue  # a model of another part of the script
            try:
                roots[name].load_state_dict(state)
            except RuntimeError as error:
                raise ParamedicError(
                    f"the weights of {name} do not fit: {str(error).splitlines()[-1].strip()}",
                    expected="the model as it was when the bundle was written",
                    fix="go back to that version of the script",
                ) from None
        if not set(self.bundle["models"]) & set(roots):
            raise ParamedicError(
                f"the script has no model called {' or '.join(self.bundle['models']) or 'anything'}",
                expected="the script that wrote the bundle",
                fix="paramedic replay BUNDLE -- path/to/that/script.py",
            )

    def _restore_random(self) -> None:
        states = self.bundle["random"]
        version, numbers, gauss = states["python"]
        random.setstate((version, tuple(numbers), gauss))
        numpy = sys.modules.get("numpy")
        if numpy is not None and "numpy" in states:
            kind, keys, *rest = states["numpy"]
            numpy.random.set_state((kind, numpy.array(keys, dtype="uint32"), *rest))

    def _torchs_random(self) -> RandomState:
        devices = torch.cuda.device_count() if torch.cuda.is_initialized() else 0
        states = self.bundle["random"].get("cuda") or []
        return RandomState(self.bundle["random"]["torch"], states if len(states) == devices else [])

    # What came out ----------------------------------------------------------------------------------------------

    def _failed(self, error: BaseException, tracer: Tracer) -> int:
        voice.say(f"paramedic: step {self.bundle['step']} fails again: {type(error).__name__}: {error}")
        self._show(tracer.ops, len(tracer.ops))
        return REPRODUCED

    def _tell(
        self, origin: Origin | None, tracer: Tracer, forward: int, losses: list[torch.Tensor], statements: Excerpt
    ) -> int:
        loss, before = float(losses[0].detach().reshape(-1)[0]), self.bundle["loss"]
        known = "not known" if before is None else f"{float(before.reshape(-1)[0]):.9g}"
        verdict = "the same" if self._same(losses) else f"different: it was {known}"
        voice.say(f"paramedic: step {self.bundle['step']} again: loss {loss:.9g}, bit for bit {verdict}")
        op = (origin.custom or origin.op) if origin is not None else None
        if origin is None:
            failed = self.bundle.get("failure", True)
            voice.say(f"  Everything is finite{' now' * failed}: loss and gradients.")
            if not failed:
                self._show_batch()
            self._show(tracer.ops[:forward], forward)
        elif op is None:
            voice.say("  It fails again, but no single operation could be identified.")
        else:
            what = f"the derivative of {op.name}" if origin.node and not op.bad else op.name
            voice.say(f"  {what} at {_place(op)} is where it starts:")
            self._show(tracer.ops[:forward] if op.index < forward else tracer.ops, op.index)
        if self.shell:
            self._open_shell(losses, tracer, statements)
        return CLEAN if origin is None else REPRODUCED

    def _show_batch(self) -> None:
        """Where a loss stands out, mostly the batch does."""
        voice.say(f"  Kept because: {self.bundle['reason']}. It was computed from")
        for name, value in self.bundle["variables"].items():
            if isinstance(value, torch.Tensor) and value.dim():
                voice.say(f"      {name:<8} {summary(value)}")
        voice.say("  and ends with")

    def _show(self, ops: list[Op], centre: int) -> None:
        around = 10**9 if self.trail else AROUND
        for op in ops[max(0, centre - around) : centre + around + 1]:
            mark = "→" if op.index == centre else " "
            given = ", ".join(_range(seen) for seen in op.inputs[:3])
            result = ", ".join(_range(seen) for seen in op.outputs[:1])
            voice.say(
                f"  {mark} {op.index:4d}  {op.name}({given}) = {result}   {_place(op)} {op.module or ''}".rstrip()
            )

    def _open_shell(self, losses: list[torch.Tensor], tracer: Tracer, statements: Excerpt) -> None:
        from paramedic.postmortem.shell import open_shell

        models = {self.watcher.registry.root_name(root): root for root in self.watcher.registry.roots()}
        names = {**statements.variables, **models, "loss": losses[0], "ops": tracer.ops, "bundle": self.bundle}
        open_shell(names, f"paramedic: a shell in step {self.bundle['step']} of {os.path.basename(sys.argv[0])}")


def _place(op: Op) -> str:
    return f"{op.site.file}:{op.site.line}"


def _range(seen: Seen) -> str:
    if seen.nan:
        return "NaN"
    return f"{seen.low:.3g}" if seen.low == seen.high else f"{seen.low:.3g}…{seen.high:.3g}"
