"""The alarm: notices a loss, a gradient or a weight that is not finite, and stops before the weights are spoilt."""

from __future__ import annotations

import math
import time
import weakref
from pathlib import Path

import torch
from torch import nn
from torch.optim import Optimizer

from paramedic import voice
from paramedic.aliases import Function
from paramedic.capture import moments
from paramedic.capture.bus import on
from paramedic.capture.inquest.early import Early
from paramedic.capture.inquest.edge import find_edge
from paramedic.capture.inquest.finite import all_finite
from paramedic.capture.inquest.inquest import Conclusion, hold
from paramedic.capture.inquest.material import at_this_step, bad_from_the_start, in_traceback, write_bundle
from paramedic.capture.inquest.randomness import RandomState, random_state
from paramedic.capture.inquest.sentinels import Sentinel
from paramedic.capture.inquest.spikes import Spikes, norm_of
from paramedic.capture.inquest.tracer import look
from paramedic.capture.sources.loop import Loop
from paramedic.capture.watcher import Watcher
from paramedic.errors import message_of
from paramedic.program.where import shown_path, user_site
from paramedic.record.facts import BadParameter, Bundle, Edge, NonFinite, PoisonedStep
from paramedic.record.facts.storing import restored
from paramedic.record.writer import Site

MOST_INQUESTS = 3
EXIT_CODE = 3  # of a script that was stopped before a step with gradients that are not finite
REQUEST = "bundle.request"  # a file in the run's folder that asks for a bundle of the next step
BETWEEN_LOOKS = 0.5  # seconds
SMALL = 1_000_000  # elements of a gradient that may be looked at after every backward pass


class Alarm:
    """Watches over the numbers of the training itself.

    An accelerator's loss is known in time (see early.py), its gradients where waiting for them is not felt, or in all
    steps where the user has asked for that with `--on-nan stop`.
    """

    def __init__(self, watcher: Watcher, loop: Loop) -> None:
        self.watcher = watcher
        self.loop = loop
        self.random_state: RandomState | None = None  # as it was when the current step began
        self._inquests = 0
        self.suspicious = False  # the gradients of the current cycle have been seen to be bad
        self._bundled = False
        self._checked = False  # all gradients of the current cycle were looked at, and were finite
        # Of this step: outcome, loss, random state.
        self._found: tuple[Conclusion, torch.Tensor | None, RandomState | None] | None = None
        self._looked_for_request = 0.0
        self._sentinels: weakref.WeakKeyDictionary[Optimizer, Sentinel] = weakref.WeakKeyDictionary()
        self._posted: list[Sentinel] = []  # one for each of so many optimizers, or none
        self._far = False  # all of them look at an accelerator's memory, for which nobody waits while matching,
        self._waits = False  # unless that was asked for
        self._early = Early()
        self._spikes = Spikes() if watcher.settings.bundle_spikes else None

    def install(self) -> None:
        def watched_init(original: Function) -> Function:
            def init(*args: object, **kwargs: object) -> None:
                original(*args, **kwargs)
                self.watcher.ask("alarm", self.step_begins)

            return init

        self.watcher.patches.wrap(Optimizer, "__init__", watched_init)  # the model is built: the first step is next
        self.step_begins()
        self.watcher.gears.on_watch_again.append(lambda: self.step_begins() if self._far else None)

    @on(moments.step_taken, moments.batch_arrived)
    def step_begins(self) -> None:
        """After a step, and whenever a batch has arrived: what follows may have to be repeated."""
        self.random_state = random_state()

    # Loss and gradients -----------------------------------------------------------------------------------------

    def bad_loss(self, losses: list[torch.Tensor], value: float, site: Site) -> None:
        """A backward pass is about to start from a loss that is not finite."""
        self._suspect()
        self._inquire("loss", losses, site, value, self.random_state)

    def sentinel_of(self, optimizer: Optimizer) -> Sentinel | None:
        return self._sentinels.get(optimizer)

    def far(self) -> bool:
        """Whether all gradients are an accelerator's, and nobody has asked to wait for them."""
        return self._far and not self._waits

    def quick_check(self) -> bool:
        """While matching: one number of two gradients, the first and the last. Returns whether all seems well."""
        if torch._C._len_torch_function_stack() or torch._C._len_torch_dispatch_stack():
            return False
        if len(self._posted) != self.loop.books.count:
            found = [self._sentinels.get(optimizer) for optimizer in self.loop.accounts]
            self._posted = [sentinel for sentinel in found if sentinel is not None]
            near = [sentinel.on_host() for sentinel in self._posted]
            self._far, self._waits = not any(near), self.watcher.settings.wait_for_device and not all(near)
            if len(self._posted) != self.loop.books.count:
                return False
        if self._waits:
            return False
        self._checked = False
        if not self._far:
            for sentinel in self._posted:
                size = sentinel.size()
                if size is None or not math.isfinite(size) or sentinel.leap(size):
                    return False
            self.random_state = random_state()
            return True
        return self.well_afar()

    def well_afar(self) -> bool:
        """While matching: as far as an accelerator's gradients can be known without anybody feeling it."""
        if self._early.resting():
            self.random_state = random_state()
            return True
        found = [p.grad for sentinel in self._posted for p in sentinel.parameters()]
        size = self._early.size([g for g in found if g is not None], self.loop.clock.typical)
        leaps = size is not None and len(self._posted) == 1 and self._posted[0].leap(size) > 0
        if size is not None and (leaps or not math.isfinite(size)):
            self._early.look_again()
            return False
        self.random_state = random_state()
        return True

    def gradients_written(self, losses: list[torch.Tensor], value: float | None = None) -> None:
        """A backward pass is over, or queued; `value` is the loss, if it was not known before."""
        before, self.random_state = self.random_state, random_state()
        self._look_for_request(losses, before)
        waits = self.watcher.settings.wait_for_device
        thorough = waits or (not self.watcher.gears.matching and self.watcher.gears.affordable())
        self._checked = thorough
        if self.suspicious:
            return
        if value is not None and not math.isfinite(value):
            self._suspect()
            self._inquire("loss", losses, user_site(), value, before)
            return
        if all(self._finite(o, thorough=thorough) for o in self.loop.accounts):
            self._look_for_leap(before)
            self._look_for_spike(losses, before)
            return
        self._suspect()
        if self.loop.scaled is None:  # a loss scaler finds out by itself, and skips the step
            value = float(losses[0].detach()) if losses[0].numel() == 1 else None
            good = value is None or math.isfinite(value)  # an accelerator's loss is seen only now
            self._inquire("gradient" if good else "loss", losses, user_site(), value, before)

    def _look_for_leap(self, state: RandomState | None) -> None:
        """All gradients are finite. Has one of them become larger than ever, by orders of magnitude?"""
        if self.loop.scaled is not None or _distributed() or not self.watcher.settings.probes:
            return
        for optimizer in self.loop.accounts:
            sentinel = self._sentinels.get(optimizer) or self._choose(optimizer)
            leap = sentinel.leap(sentinel.size() or 0.0, final=True)
            if leap and self._inquests < MOST_INQUESTS:
                self._inquests += 1
                edge = find_edge(self.watcher, state)
                if edge is not None:
                    site, module = Site(*edge.pop("site")), edge.pop("module")
                    self.watcher.state(
                        restored(Edge, {**edge, "leap": leap}), site=site, module=module, phase="train", key=site
                    )

    def _suspect(self) -> None:
        self.suspicious = True
        self.watcher.gears.watch_again()  # the coming step must not pass unseen
        for account in self.loop.accounts.values():
            for backward in account.pending:
                backward.private = True  # whoever throws such gradients away does well

    def _finite(self, optimizer: Optimizer, *, thorough: bool) -> bool:
        sentinel = self._sentinels.get(optimizer) or self._choose(optimizer)
        if thorough:
            parameters = [p for group in optimizer.param_groups for p in group["params"]]
        else:
            parameters = sentinel.parameters()
        gradients = [p.grad for p in parameters if p.grad is not None]
        waits = self.watcher.settings.wait_for_device or (thorough and self.watcher.gears.examining)
        if gradients and not any(gradient.is_cpu for gradient in gradients):
            some = [p.grad for p in sentinel.parameters() if p.grad is not None] or [gradients[0], gradients[-1]]
            waited = self._early.waited
            sentinel.afar = size = self._early.size(some, self.loop.clock.typical)
            self.watcher.guard.spent -= self._early.waited - waited  # the accelerator's time, not ours
            if not waits and (size is None or math.isfinite(size)):
                return True
            waits, gradients = True, gradients if waits else some  # a sum may overflow by itself
        return all_finite(gradients, everywhere=waits)

    def _choose(self, optimizer: Optimizer) -> Sentinel:
        """Bad gradients spread towards the input of the model, and its first parameters are mostly nearest to that."""
        held = [p for group in optimizer.param_groups for p in group["params"] if p.grad is not None]
        small = [p for p in held if p.numel() <= SMALL]
        sentinel = Sentinel(small if len(small) <= 2 else (small[0], small[-1]))
        if small:
            self._sentinels[optimizer] = sentinel
            self._posted = []
        return sentinel

    def _inquire(
        self, reached: str, losses: list[torch.Tensor], site: Site, value: float | None, state: RandomState | None
    ) -> None:
        if self._inquests >= MOST_INQUESTS or _distributed():
            data = {"origin": "unknown", "reproduced": False}
            if _distributed():
                data["not_run"] = "several processes train together, and the others would not answer"
            given = bad_from_the_start() if _distributed() and reached == "loss" else None
            self._tell(given or Conclusion(data=data), reached, site, value)
            return
        self._inquests += 1
        stopping = self.watcher.settings.on_nan != "continue" and self.loop.scaled is None
        found = hold(self.watcher, losses, backward=reached == "gradient", random_state=state, stopping=stopping)
        if not found.place.file:
            here = at_this_step()
            found.place, found.inputs = here.place, here.inputs
        self._found = (found, losses[0].detach(), state)
        self._tell(found, reached, site, value)

    def _tell(self, found: Conclusion, reached: str, site: Site, value: float | None) -> None:
        about = {"reached": reached, "loss": value, "loss_site": site, "scaled": self.loop.scaled is not None}
        self.watcher.state(
            restored(NonFinite, {**found.data, **about}),
            site=found.site if found.site.file else site,
            module=found.module,
            phase="train",
            key=(found.site, reached, found.data.get("op"), found.data.get("origin")),
        )

    # Steps ------------------------------------------------------------------------------------------------------

    def about_to_step(self, optimizer: Optimizer) -> None:
        """Stop here if this step would write bad values into the weights."""
        if not self.suspicious or self.loop.scaled is not None:
            return
        names = self.watcher.registry.parameter_names()
        bad, weights = [], []
        for p in (p for group in optimizer.param_groups for p in group["params"] if p.grad is not None):
            if (seen := look(p.grad)) is not None and seen.bad:
                bad.append(names.get(id(p), "a parameter"))
            if (seen := look(p.detach())) is not None and seen.bad:
                weights.append(names.get(id(p), "a parameter"))
        stopping = bool(bad) and self.watcher.settings.on_nan != "continue"
        data = PoisonedStep(parameters=bad[:20], bad=len(bad), weights_bad=len(weights), stopped=stopping)
        self.watcher.state(data, site=user_site(), phase="train", key=(user_site(), bool(bad)))
        path = self._write_bundle("non-finite gradients") if bad and not self._bundled else None
        if stopping:
            self._say_why(bad, weights, path)
            if self.watcher.settings.on_nan == "shell":
                self._open_shell()
            self.watcher.stop_with = EXIT_CODE

    def _say_why(self, bad: list[str], weights: list[str], path: Path | None) -> None:
        state = "already spoilt" if weights else "as they were before it"
        voice.say(
            f"paramedic: stopped before optimizer.step() of step {self.watcher.step}: {len(bad)} "
            f"gradient{'s' * (len(bad) > 1)} ({bad[0]}{', …' * (len(bad) > 1)}) not finite.\n"
            f"  The weights are {state}."
            + self._where_it_begins()
            + "\n  carry on:  paramedic run --on-nan continue …"
            + (f"\n  again:\n  paramedic replay {shown_path(str(path))}" if path is not None else "")
        )

    def _where_it_begins(self) -> str:
        found = self._found[0] if self._found is not None else Conclusion()
        if found.data.get("origin") != "op" or not found.site.file:
            return ""
        derivative = "the derivative of " * bool(found.data["node"] and not found.data["own_backward"])
        return f"\n  begins:    {found.site.file}:{found.site.line}, {derivative}{found.data['op']}"

    def _open_shell(self) -> None:
        from paramedic.postmortem.shell import open_shell

        found = self._found[0].inputs if self._found is not None else {}
        models = {self.watcher.registry.root_name(root): root for root in self.watcher.registry.roots()}
        names = {**found, **models, "loss": self._found[1] if self._found is not None else None}
        open_shell(names, f"paramedic: a shell before the step {self.watcher.step} that would corrupt the weights")

    # Bundles ----------------------------------------------------------------------------------------------------

    def _write_bundle(self, reason: str, *, failure: bool = True) -> Path | None:
        found, loss, state = self._found or (Conclusion(), None, self.random_state)
        self._bundled = True
        try:
            return write_bundle(self.watcher, self.loop, found, loss, state, reason, failure=failure)
        except (OSError, RuntimeError) as error:
            voice.say(f"paramedic: the bundle could not be written: {error}")
            return None

    def _look_for_request(self, losses: list[torch.Tensor], state: RandomState | None) -> None:
        """Has `paramedic bundle` asked for this step? Looked up a few times per second at most."""
        now = time.monotonic()
        if now - self._looked_for_request < BETWEEN_LOOKS:
            return
        self._looked_for_request = now
        request = self.watcher.writer.path.parent / REQUEST
        if request.exists():
            self._keep_step("on request", losses, state)
            request.unlink(missing_ok=True)

    def _look_for_spike(self, losses: list[torch.Tensor], state: RandomState | None) -> None:
        """Where it was asked for: is this step worth keeping?"""
        if self._spikes is None or losses[0].numel() != 1:
            return
        scale, site, step = self.watcher.known.scaling.scale_of(losses[0]), user_site(), self.watcher.step
        loss = float(losses[0].detach()) / (1.0 if scale is None else float(scale))
        gradients = [p.grad for o in self.loop.accounts for g in o.param_groups for p in g["params"]]
        norm = norm_of([g for g in gradients if g is not None]) if self.loop.scaled is None else None
        reason = self._spikes.look(site, loss, norm)
        path = self._keep_step(reason, losses, state) if reason else None
        if path is not None:
            shown = shown_path(str(path))
            self.watcher.state(Bundle(reason=reason, path=shown), site=site, phase="train", key=step)
            voice.say(f"paramedic: spike in step {step:,}: {reason}.\n  again:\n  paramedic replay {shown}")

    def _keep_step(self, reason: str, losses: list[torch.Tensor], state: RandomState | None) -> Path | None:
        """A bundle of a step that has not failed."""
        self._found = (at_this_step(), losses[0].detach(), state)
        path = self._write_bundle(reason, failure=False)
        self._found, self._bundled = None, False
        return path

    @on(moments.run_failed)
    def crashed(self, error: BaseException) -> None:
        """The script has failed: keep the step it failed in."""
        found = in_traceback(error)
        if found is not None and not self._bundled:
            self._found = (found, None, self.random_state)
            path = self._write_bundle(f"{type(error).__name__}: {message_of(error)}"[:500])
            if path is not None:
                voice.say(f"paramedic: re-run the failing step:\n  paramedic replay {shown_path(str(path))}")

    def stepped(self, optimizer: Optimizer) -> None:
        """Were the weights spoilt by the step itself?"""
        if self.suspicious or not self.watcher.gears.affordable():
            self.suspicious, self._found = False, None
            return
        parameters = [p for group in optimizer.param_groups for p in group["params"]]
        if not all_finite(parameters, everywhere=self.watcher.gears.examining):
            self._tell_parameters(optimizer, parameters)

    def _tell_parameters(self, optimizer: Optimizer, parameters: list[nn.Parameter]) -> None:
        names = self.watcher.registry.parameter_names()
        bad = [p for p in parameters if (seen := look(p.detach())) is not None and seen.bad]
        if not bad:
            return
        group = next(g for g in optimizer.param_groups if any(p is bad[0] for p in g["params"]))
        state = {
            name: [seen.low, seen.high]
            for name, value in optimizer.state.get(bad[0], {}).items()
            if isinstance(value, torch.Tensor) and (seen := look(value)) is not None
        }
        self.watcher.state(
            BadParameter(
                optimizer=type(optimizer).__name__,
                names=[names.get(id(p), "a parameter") for p in bad][:20],
                bad=len(bad),
                dtype=str(bad[0].dtype).removeprefix("torch."),
                gradient=[seen.low, seen.high] if bad[0].grad is not None and (seen := look(bad[0].grad)) else None,
                settings={k: v for k, v in group.items() if isinstance(v, (int, float)) and not isinstance(v, bool)},
                state=state,
                gradients_checked=self._checked,
            ),
            site=self.loop.books.births.get(optimizer, user_site()),
            phase="train",
            key=id(optimizer),
        )


def _distributed() -> bool:
    """Running a step again would make this process wait for others that do not."""
    return torch.distributed.is_available() and torch.distributed.is_initialized()
