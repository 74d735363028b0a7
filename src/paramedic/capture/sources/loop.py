"""The training loop as a sequence of calls: zero_grad, backward, unscale, clip, step, scheduler."""

from __future__ import annotations

from collections.abc import Hashable
from typing import ParamSpec

import torch
from torch import nn
from torch.optim import Optimizer
from torch.optim.optimizer import register_optimizer_step_post_hook, register_optimizer_step_pre_hook
from torch.utils.hooks import RemovableHandle

from paramedic.aliases import Args, Function, Kwargs
from paramedic.capture import moments
from paramedic.capture.bus import on
from paramedic.capture.code.closures import guarded, has_closure
from paramedic.capture.milestones import Milestones
from paramedic.capture.moments import Moment
from paramedic.capture.rhythm import Beat, Rhythm
from paramedic.capture.sources.accounts import Accounts
from paramedic.capture.sources.clock import Clock
from paramedic.capture.sources.gradients import Gradients
from paramedic.capture.sources.ledger import Account
from paramedic.capture.sources.ops import OpMode
from paramedic.capture.sources.optimizers import describe_optimizer, note_rates, tell_end, tell_stale, tell_step
from paramedic.capture.watcher import Watcher
from paramedic.program.where import user_site
from paramedic.record import facts
from paramedic.record.writer import NOWHERE, Site

P = ParamSpec("P")
MOST_OPS = 200  # per cycle
MOST_OPTIMIZERS = 100  # described: some programs make one for every step


class Loop:
    """Follows optimizers and the gradients they live on."""

    def __init__(self, watcher: Watcher, ops: OpMode, clock: Clock) -> None:
        self.watcher = watcher
        self.ops = ops
        self.clock = clock
        self.books = Accounts(watcher)
        self.accounts = self.books.accounts
        self.gradients = Gradients(watcher, self.books)
        self.scaled: bool | None = None  # gradients now carry a loss scale; None: no scaler in use
        self.scale = 1.0  # the loss scale that the scaler started with
        self.in_scaler_step = False
        self.stepped_last: Account | None = None
        self._ops: list[tuple[object, ...]] = []
        self._told: set[int] = set()  # numbers of optimizers: ids are used again
        self._paused = False  # nobody listens to single calls, while torch's own optimizer steps
        self._before: RemovableHandle | None = None
        self.rhythm = Rhythm()
        self.milestones = Milestones(watcher)

    def install(self) -> None:
        watcher = self.watcher
        watcher.patches.on_undo(lambda: self.hook_steps(False))
        self.hook_steps(True)
        watcher.patches.on_undo(register_optimizer_step_post_hook(self._after_step).remove)
        watcher.gears.turns.alone, watcher.gears.turns.on_turn = self._no_optimizer, self._turned

        def watched_zero(original: Function) -> Function:
            def zero_grad(holder: nn.Module | Optimizer, *args: object, **kwargs: object) -> object:
                if not (watcher.gears.matching and self.as_before("zero_grad", id(holder))) and not watcher.elsewhere():
                    watcher.ask("loop", self._clearing, holder)
                if watcher.gears.examining:
                    return self.ops.unheard(original, holder, *args, **kwargs)
                return original(holder, *args, **kwargs)

            return zero_grad

        watcher.gears.on_watch_again.append(self._catch_up)
        watcher.patches.follow(Optimizer, "__init__", lambda made: watcher.ask("loop", self.books.born, made))
        watcher.patches.follow(Optimizer, "__setstate__", lambda made: watcher.ask("loop", self.books.restored, made))
        watcher.patches.wrap(Optimizer, "zero_grad", watched_zero, light=True)
        watcher.patches.wrap(nn.Module, "zero_grad", watched_zero)

    def hook_steps(self, steps: bool) -> None:
        """Whether to look at optimizers before their steps; while skipping, nobody need ask."""
        if self._before is not None:
            self._before.remove()
        self._before = register_optimizer_step_pre_hook(self._before_step) if steps else None

    # Matching ---------------------------------------------------------------------------------------------------

    def as_before(self, op: str, on: Hashable = None) -> Site | None:
        """While matching: the line this call came from the last time. None: it is new here, and matching is over."""
        if self.watcher.gears.skipping or self.watcher.elsewhere():
            return NOWHERE
        site = self.rhythm.follow((op, on))
        if site is None:
            self.watcher.gears.changed()
        return site

    def _catch_up(self) -> None:
        """Matching is over, perhaps amid a step: bring the books up to date with the calls that nobody looked at."""
        # Whether gradients were cleared by hand is not known any more, so nothing is held against anybody.
        written = any(beat.call[0] == "backward" for beat in self.rhythm.path)
        for account in self.accounts.values():
            stepped = account is self.stepped_last
            account.matched(blind=not stepped, used=stepped and not written)
            account.passes = self.gradients.passes
        if self.scaled is not None:
            self.scaled = written
        for beat in self.rhythm.path:
            op, on = beat.call
            if op == "backward":
                backward = self.gradients.pass_from(beat.site)
                for optimizer in self.gradients.optimizers_behind(beat.site):
                    self.accounts[optimizer].booked(backward)
                self.gradients.passes += 1
            elif op == "zero_grad":
                for optimizer in self.gradients.cleared_by(on):
                    self.accounts[optimizer].cleared()
            self._ops += beat.entries
        self.rhythm.path.clear()

    def _no_optimizer(self) -> bool:
        """Whether none could step: none was built while we watched, and none that was there before has stepped."""
        return not self.books.births and not self.accounts

    def _turned(self) -> list[Beat]:
        """A round without a step, where no optimizer is at work: the next call begins a pattern."""
        self._ops, self.gradients.written = [], set()
        return self.rhythm.close()

    def note(self, op: str, site: Site, who: int | None = None, *, on: Hashable = None, **flags: object) -> None:
        """Add a call to the current cycle of the loop; `on` is what it was called on."""
        self._learn(op, on, site, [(op, who, site.file, site.line, tuple(n for n, value in flags.items() if value))])

    def _learn(self, op: str, on: Hashable, site: Site, entries: list[tuple[object, ...]]) -> None:
        self.rhythm.learn((op, on), site, entries)
        if len(self._ops) < MOST_OPS:
            self._ops += entries

    def backward_began(self, site: Site, leaves: list[torch.Tensor] | None, *, scaled: bool) -> None:
        self.gradients.written_from(site, leaves)
        self.note("backward", site)
        if self.scaled is not None and scaled:
            self.scaled = True

    def _clearing(self, holder: nn.Module | Optimizer) -> None:
        site = user_site()
        numbers = self.gradients.cleared(holder, site)
        self._learn("zero_grad", id(holder), site, [("zero_grad", n, site.file, site.line, ()) for n in numbers])

    # Steps ------------------------------------------------------------------------------------------------------

    def _before_step(self, optimizer: Optimizer, args: Args, kwargs: Kwargs) -> object:
        if torch.compiler.is_compiling() or self.watcher.elsewhere():
            return None
        closure = has_closure(args, kwargs)
        self.watcher.gears.end_turns()
        if closure:
            self.watcher.gears.watch_again()  # its calls differ from step to step
        if not self.watcher.gears.matching:
            self.watcher.ask("loop", self._about_to_step, optimizer, closure)
            if not closure:
                self._look_at_gradients(optimizer)
        elif self.watcher.gears.sampling:
            self.watcher.ask("statistics", self._sample, moments.step_sampled, optimizer, closure)
        self.clock.step_began()
        if not closure and type(optimizer).__module__.startswith("torch.optim"):
            self._paused = self.ops.pause()  # of thousands of parameters each is asked for its gradient
        return guarded(args, kwargs, lambda: self._look_at_gradients(optimizer)) if closure else None

    def _look_at_gradients(self, optimizer: Optimizer) -> None:
        self.watcher.ask("alarm", self.watcher.known.alarm.about_to_step, optimizer)
        self.watcher.check_alarm()

    def _after_step(self, optimizer: Optimizer, args: Args, kwargs: Kwargs) -> None:
        if self.watcher.gears.skipping:
            self.watcher.known.skipping.stepped(optimizer)
            return
        if self._paused:
            self._paused = False
            self.ops.resume()
        if torch.compiler.is_compiling() or self.watcher.elsewhere():
            return
        self.clock.step_ended()
        if self.watcher.gears.matching and self._still_matches(optimizer):
            self.clock.matched()
            return
        self.watcher.ask("alarm", self.watcher.known.alarm.stepped, optimizer)
        self.watcher.ask("loop", self._stepped, optimizer, has_closure(args, kwargs))
        self.watcher.check_stop()

    def _still_matches(self, optimizer: Optimizer) -> bool:
        """Count a step that followed a known pattern; False if it did not."""
        account = self.accounts.get(optimizer)
        if account is None or self.as_before("step", id(optimizer)) is None:
            return False
        path = self.rhythm.close()
        if self.watcher.gears.sampling:
            self.watcher.ask("statistics", self._sample, moments.step_sampled_after, optimizer, False, account.taken)
        account.steps += 1
        self.stepped_last = account
        self.watcher.gears.matched(account.taken, len(self.accounts))
        if self.milestones.due(account.steps):
            self.watcher.ask("loop", self.watcher.gears.news, 1)
        if not self.watcher.gears.matching:
            account.stale = True  # what is there now has just been used
        elif self.watcher.gears.matching_left() > 1:
            self.watcher.ask("skipping", self.watcher.known.skipping.consider, optimizer, account, path)
        return True

    def _about_to_step(self, optimizer: Optimizer, closure: bool) -> None:
        account = self.books.account(optimizer)
        if account.steps == 0:
            account.empty = not optimizer.state
        self.watcher.writer.start()
        if self.watcher.gears.examining:
            self.clock.follow(optimizer.param_groups[0]["params"])
            self.books.owners.index(list(self.accounts))
            self.watcher.bus.tell(moments.step_examined, optimizer, account.number, closure)
        if self.watcher.gears.sampling:
            self._sample(moments.step_sampled, optimizer, closure)
        account.in_closure, account.entered = closure, self.gradients.passes
        if not closure:
            self._check_gradients(optimizer, account)

    def _check_gradients(self, optimizer: Optimizer, account: Account) -> None:
        if account.blind:
            return
        site = user_site()
        some = any(p.grad is not None for group in optimizer.param_groups for p in group["params"])
        state = account.gradients(some, self.gradients.passes)
        tell_step(self.watcher, account, site, state, scaled=bool(self.scaled) and not self.in_scaler_step)

    def _stepped(self, optimizer: Optimizer, closure: bool) -> None:
        account = self.books.account(optimizer)
        site = user_site()
        if closure:
            tell_step(self.watcher, account, site, self._by_closure(optimizer, account), closure=True)
        self.note("step", site, account.number, on=id(optimizer))
        if self.watcher.gears.sampling:
            self._sample(moments.step_sampled_after, optimizer, closure, account.taken)
        if self.watcher.gears.examining:
            if account.number not in self._told and len(self._told) < MOST_OPTIMIZERS:
                self._told.add(account.number)
                born = self.books.births.get(optimizer)
                describe_optimizer(self.watcher, optimizer, account, born or site, born is not None)
            held = self.books.held()
            self.watcher.bus.tell(moments.step_examined_after, optimizer, account.number, held, self.gradients.written)
        if self.watcher.gears.examining or not account.sentinels:
            account.choose_sentinels([p for group in optimizer.param_groups for p in group["params"]])
        used, soiled = account.stepped()
        self.stepped_last = account
        # A closure without a backward pass of its own (a framework's) leaves the gradients as they were.
        if used and not account.unsure and not (closure and self.gradients.passes > account.entered):
            tell_stale(self.watcher, account, used[0], soiled)
        account.in_closure = False
        account.passes = self.gradients.passes
        note_rates(self.watcher, optimizer, account)
        self._close_cycle()
        steps = [a.taken for a in self.accounts.values()]
        self.watcher.gears.stepped(max(steps), milestone=self.milestones.due(account.steps), actors=len(self.accounts))

    def _by_closure(self, optimizer: Optimizer, account: Account) -> str:
        """Whether a closure gave new gradients. A line search asks it again and again: all answers may be old."""
        asked = max((state.get("func_evals", 0) for state in optimizer.state.values()), default=0)
        again, account.asked = asked - account.asked, asked
        return "old" if again > 1 and self.gradients.passes == account.entered else "new"

    def _sample(self, moment: Moment[P], *told: P.args, **named: P.kwargs) -> None:
        """Tell of a step that is sampled: what listeners do then is booked as sampling."""
        self.watcher.guard.take_statistics(lambda: self.watcher.bus.tell(moment, *told, **named))

    @on(moments.run_over)
    def finish(self) -> None:
        """What only the end of the run can tell of the optimizers."""
        for optimizer, account in self.accounts.items():
            tell_end(self.watcher, optimizer, account)

    def _close_cycle(self) -> None:
        self.rhythm.close()
        ops, self._ops = tuple(self._ops), []
        self.gradients.written = set()
        self.watcher.state(facts.Loop(ops=ops), phase="train", key=ops)
