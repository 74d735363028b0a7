"""The training loop as a sequence of calls: zero_grad, backward, unscale, clip, step, scheduler."""

from __future__ import annotations

import weakref
from collections.abc import Hashable
from typing import Any, ParamSpec

import torch
from torch import nn
from torch.optim import Optimizer
from torch.optim.optimizer import register_optimizer_step_post_hook, register_optimizer_step_pre_hook

from paramedic.capture import moments
from paramedic.capture.bus import on
from paramedic.capture.code.closures import guarded, has_closure
from paramedic.capture.milestones import Milestones
from paramedic.capture.moments import Moment
from paramedic.capture.rhythm import Beat, Rhythm
from paramedic.capture.sources.clock import Clock
from paramedic.capture.sources.ledger import Account, Backward
from paramedic.capture.sources.ops import OpMode
from paramedic.capture.sources.optimizers import (
    describe_optimizer,
    holds_only,
    note_rates,
    stood_for,
    tell_discard,
    tell_end,
    tell_stale,
    tell_step,
)
from paramedic.capture.sources.owners import Owners, held_by
from paramedic.capture.sources.reached_optimizers import ReachedOptimizers
from paramedic.capture.watcher import FIRST_STEPS, Watcher
from paramedic.program import anatomy
from paramedic.program.where import built_at, user_site
from paramedic.record import facts
from paramedic.record.writer import NOWHERE, Site

P = ParamSpec("P")
MOST_OPS = 200  # per cycle


class Loop:
    """Follows optimizers and the gradients they live on."""

    def __init__(self, watcher: Watcher, ops: OpMode, clock: Clock) -> None:
        self.watcher = watcher
        self.ops = ops
        self.clock = clock
        self.accounts: weakref.WeakKeyDictionary[Optimizer, Account] = weakref.WeakKeyDictionary()
        self.owners = Owners()
        self.births: weakref.WeakKeyDictionary[Optimizer, Site] = weakref.WeakKeyDictionary()
        self._born_at: weakref.WeakKeyDictionary[Optimizer, int] = weakref.WeakKeyDictionary()
        self.scaled: bool | None = None  # gradients now carry a loss scale; None: no scaler in use
        self.scale = 1.0  # the loss scale that the scaler started with
        self.in_scaler_step = False
        self._clears: dict[Hashable, list[weakref.ref[Optimizer]]] = {}
        self._touches = ReachedOptimizers()
        self._reached: dict[Site, set[int]] = {}
        self._written: set[int] = set()  # ids of tensors that this cycle's backward passes reached
        self.count = 0
        self.stepped_last: Account | None = None
        self._passes = 0  # backward passes so far
        self._private: set[Site] = set()  # backward passes whose gradients serve something else than an optimizer
        self._last: Backward | None = None
        self._ops: list[tuple[Any, ...]] = []
        self._told: set[int] = set()
        self._paused = False  # nobody listens to single calls, while torch's own optimizer steps
        self._before: Any = None  # the handle of a hook
        self.rhythm = Rhythm()
        self.milestones = Milestones(watcher)

    def install(self) -> None:
        watcher = self.watcher
        watcher.patches.on_undo(lambda: self.hook_steps(False))
        self.hook_steps(True)
        watcher.patches.on_undo(register_optimizer_step_post_hook(self._after_step).remove)
        watcher.turns.alone, watcher.turns.on_turn = lambda: not self.births, self._turned

        def watched_zero(original: Any) -> Any:
            def zero_grad(holder: Any, *args: Any, **kwargs: Any) -> Any:
                if not (watcher.matching and self.as_before("zero_grad", id(holder))) and not watcher.elsewhere():
                    watcher.ask("loop", self._clearing, holder)
                if watcher.examining:
                    return self.ops.unheard(original, holder, *args, **kwargs)
                return original(holder, *args, **kwargs)

            return zero_grad

        watcher.on_watch_again.append(self._catch_up)
        watcher.patches.follow(Optimizer, "__init__", lambda made: watcher.ask("loop", self._born, made))
        watcher.patches.follow(Optimizer, "__setstate__", lambda made: watcher.ask("loop", self._restored, made))
        watcher.patches.wrap(Optimizer, "zero_grad", watched_zero, light=True)
        watcher.patches.wrap(nn.Module, "zero_grad", watched_zero)

    def hook_steps(self, steps: bool) -> None:
        """Whether to look at optimizers before their steps; while skipping, nobody need ask."""
        if self._before is not None:
            self._before.remove()
        self._before = register_optimizer_step_pre_hook(self._before_step) if steps else None

    # Optimizers -------------------------------------------------------------------------------------------------

    def _born(self, optimizer: Optimizer) -> None:
        self.births[optimizer] = built_at(optimizer)
        self._born_at[optimizer] = self.watcher.step
        if self.watcher.turning:
            self.watcher.news(FIRST_STEPS)

    def _restored(self, optimizer: Optimizer) -> None:
        """Unpickled or copied: nobody called its constructor, and its steps count from here on."""
        self._born_at.setdefault(optimizer, self.watcher.step)

    def account(self, optimizer: Optimizer) -> Account:
        account = self.accounts.get(optimizer)
        if account is None:
            account = self.accounts[optimizer] = Account(number=self.count)
            account.offset = self._born_at.get(optimizer, 0)
            self.count += 1
            self.watcher.expect([p for group in optimizer.param_groups for p in group["params"]])
            self.watcher.news(FIRST_STEPS)
            self.watcher.budget.begins_anew()
        return account

    def account_behind(self, optimizer: Any) -> Account | None:
        """The account of an optimizer, or of the one that a wrapper such as accelerate's holds."""
        for _ in range(4):
            if isinstance(optimizer, Optimizer) and optimizer in self.accounts:
                return self.accounts[optimizer]
            optimizer = getattr(optimizer, "optimizer", None)
        return None

    def held(self) -> dict[int, int]:
        """id of a parameter -> number of the optimizer that holds it."""
        return held_by({optimizer: account.number for optimizer, account in self.accounts.items()})

    def accounts_of(self, identity: int) -> list[Account]:
        """The accounts of the optimizers that hold the parameter with this id."""
        return [self.accounts[optimizer] for optimizer in self.owners.of(identity) if optimizer in self.accounts]

    # Matching ---------------------------------------------------------------------------------------------------

    def as_before(self, op: str, on: Hashable = None) -> Site | None:
        """While matching: the line this call came from the last time. None: it is new here, and matching is over."""
        if self.watcher.skipping or self.watcher.elsewhere():
            return NOWHERE
        site = self.rhythm.follow((op, on))
        if site is None:
            self.watcher.changed()
        return site

    def _catch_up(self) -> None:
        """Matching is over, perhaps amid a step: bring the books up to date with the calls that nobody looked at."""
        # Whether gradients were cleared by hand is not known any more, so nothing is held against anybody.
        written = any(beat.call[0] == "backward" for beat in self.rhythm.path)
        for account in self.accounts.values():
            stepped = account is self.stepped_last
            account.matched(blind=not stepped, used=stepped and not written)
            account.passes = self._passes
        if self.scaled is not None:
            self.scaled = written
        for beat in self.rhythm.path:
            op, on = beat.call
            if op == "backward":
                backward = self._pass(beat.site)
                for optimizer in self._optimizers_behind(beat.site):
                    self.accounts[optimizer].booked(backward)
                self._passes += 1
            elif op == "zero_grad":
                for optimizer in self._cleared_by(on):
                    self.accounts[optimizer].cleared()
            self._ops += beat.entries
        self.rhythm.path.clear()

    def _turned(self) -> list[Beat]:
        """A round without a step, where no optimizer is at work: the next call begins a pattern."""
        self._ops, self._written = [], set()
        return self.rhythm.close()

    def note(self, op: str, site: Site, who: int | None = None, *, on: Hashable = None, **flags: Any) -> None:
        """Add a call to the current cycle of the loop; `on` is what it was called on."""
        self._learn(op, on, site, [(op, who, site.file, site.line, tuple(n for n, value in flags.items() if value))])

    def _learn(self, op: str, on: Hashable, site: Site, entries: list[tuple[Any, ...]]) -> None:
        self.rhythm.learn((op, on), site, entries)
        if len(self._ops) < MOST_OPS:
            self._ops += entries

    # Backward ---------------------------------------------------------------------------------------------------

    def backward_began(self, site: Site, leaves: list[torch.Tensor] | None) -> None:
        if len(self.accounts) < len(self.births):
            for optimizer in [o for o in self.births if o not in self.accounts]:
                self.account(optimizer)
        if self.watcher.examining:
            self.owners.index(list(self.accounts))
        if leaves is not None:
            self._reached[site] = {id(leaf) for leaf in leaves}
            self._written |= self._reached[site]
            touched = self._touches.followed(site, [o for leaf in leaves for o in self.owners.get(id(leaf), [])])
        else:
            touched = self._optimizers_behind(site)
        if leaves is not None and self.is_private(leaves):
            self._private.add(site)
        backward = self._pass(site, certain=leaves is not None)
        for optimizer in [o for o in touched if o in self.accounts]:
            self.accounts[optimizer].wrote(backward, self._reached.get(site), may_wait=self.watcher.examining)
        self._last = backward
        self._passes += 1
        self.note("backward", site)
        if self.scaled is not None:
            self.scaled = True

    def _pass(self, site: Site, *, certain: bool = False) -> Backward:
        certain = certain or self._touches.certain(site)
        return Backward(site=site, step=self.watcher.step, private=site in self._private, certain=certain)

    def _optimizers_behind(self, site: Site) -> list[Optimizer]:
        """The optimizers whose gradients a backward pass from this line may write; all, when that is not known."""
        known = self._touches.may_reach(site)
        return [o for o in (self.accounts if known is None else known) if o in self.accounts]

    def is_private(self, leaves: list[torch.Tensor]) -> bool:
        """Whether gradients go to tensors that nobody trains, such as the inputs of an adversarial attack."""
        names = self.watcher.registry.parameter_names()
        return any(id(leaf) not in self.owners and id(leaf) not in names for leaf in leaves)

    def grads_read(self) -> None:
        """The user's own code has looked at the gradients of the last backward pass: that is use enough."""
        if self._last is not None:
            self._last.private = True
            self._private.add(self._last.site)

    def backward_failed(self) -> None:
        """Out of memory, perhaps: whatever the last backward pass wrote was not meant to be used."""
        if self._last is not None:
            self._last.private = True

    # Clearing ---------------------------------------------------------------------------------------------------

    def _clearing(self, holder: Any) -> None:
        site = user_site()
        if isinstance(holder, Optimizer):
            cleared = [holder] if holder in self.accounts else stood_for(holder, self.accounts)
        else:
            identities = {id(p) for p in anatomy.parameters(holder)}
            cleared = [o for o in self.accounts if holds_only(o, identities)]
        self._clears[id(holder)] = [weakref.ref(optimizer) for optimizer in cleared]
        for optimizer in cleared:
            account = self.accounts[optimizer]
            lost = account.cleared()
            for backward in [] if account.in_closure else lost:
                self._lost(account, backward, site)
        numbers = [self.accounts[optimizer].number for optimizer in cleared]
        self._learn("zero_grad", id(holder), site, [("zero_grad", n, site.file, site.line, ()) for n in numbers])

    def _cleared_by(self, holder: Hashable) -> list[Optimizer]:
        """What clearing this holder (its id) cleared when it was last watched."""
        alive = [optimizer for reference in self._clears.get(holder, []) if (optimizer := reference()) is not None]
        return [optimizer for optimizer in alive if optimizer in self.accounts]

    def _lost(self, account: Account, backward: Backward, site: Site) -> None:
        if backward.told or backward.private or not backward.certain:
            return
        # Another optimizer may still be about to use it (a GAN clears the critic's share), so it waits.
        if any(backward in other.pending for other in self.accounts.values()):
            return
        backward.told = True
        tell_discard(self.watcher, account, backward, site)

    # Steps ------------------------------------------------------------------------------------------------------

    def _before_step(self, optimizer: Optimizer, args: Any, kwargs: Any) -> Any:
        if torch.compiler.is_compiling() or self.watcher.elsewhere():
            return None
        closure = has_closure(args, kwargs)
        self.watcher.end_turns()
        if closure:
            self.watcher.watch_again()  # its calls differ from step to step
        if not self.watcher.matching:
            self.watcher.ask("loop", self._about_to_step, optimizer, closure)
            if not closure:
                self._look_at_gradients(optimizer)
        elif self.watcher.sampling:
            self.watcher.ask("statistics", self._sample, moments.step_sampled, optimizer, closure)
        self.clock.step_began()
        if not closure and type(optimizer).__module__.startswith("torch.optim"):
            self._paused = self.ops.pause()  # of thousands of parameters each is asked for its gradient
        return guarded(args, kwargs, lambda: self._look_at_gradients(optimizer)) if closure else None

    def _look_at_gradients(self, optimizer: Optimizer) -> None:
        self.watcher.ask("alarm", self.watcher.known.alarm.about_to_step, optimizer)
        self.watcher.check_alarm()

    def _after_step(self, optimizer: Optimizer, args: Any, kwargs: Any) -> None:
        if self.watcher.skipping:
            self.watcher.known.skipping.stepped(optimizer)
            return
        if self._paused:
            self._paused = False
            self.ops.resume()
        if torch.compiler.is_compiling() or self.watcher.elsewhere():
            return
        self.clock.step_ended()
        if self.watcher.matching and self._still_matches(optimizer):
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
        if self.watcher.sampling:
            self.watcher.ask("statistics", self._sample, moments.step_sampled_after, optimizer, False, account.taken)
        account.steps += 1
        self.stepped_last = account
        self.watcher.matched(account.taken, len(self.accounts))
        if self.milestones.due(account.steps):
            self.watcher.ask("loop", self.watcher.news, 1)
        if not self.watcher.matching:
            account.stale = True  # what is there now has just been used
        elif self.watcher.matching_left() > 1:
            self.watcher.ask("skipping", self.watcher.known.skipping.consider, optimizer, account, path)
        return True

    def _about_to_step(self, optimizer: Optimizer, closure: bool) -> None:
        account = self.account(optimizer)
        if account.steps == 0:
            account.empty = not optimizer.state
        self.watcher.writer.start()
        if self.watcher.examining:
            self.clock.follow(optimizer.param_groups[0]["params"])
            self.owners.index(list(self.accounts))
            self.watcher.bus.tell(moments.step_examined, optimizer, account.number, closure)
        if self.watcher.sampling:
            self._sample(moments.step_sampled, optimizer, closure)
        account.in_closure, account.entered = closure, self._passes
        if not closure:
            self._check_gradients(optimizer, account)

    def _check_gradients(self, optimizer: Optimizer, account: Account) -> None:
        if account.blind:
            return
        site = user_site()
        some = any(p.grad is not None for group in optimizer.param_groups for p in group["params"])
        state = account.gradients(some, self._passes)
        tell_step(self.watcher, account, site, state, scaled=bool(self.scaled) and not self.in_scaler_step)

    def _stepped(self, optimizer: Optimizer, closure: bool) -> None:
        account = self.account(optimizer)
        site = user_site()
        if closure:
            tell_step(self.watcher, account, site, "new", closure=True)
        self.note("step", site, account.number, on=id(optimizer))
        if self.watcher.sampling:
            self._sample(moments.step_sampled_after, optimizer, closure, account.taken)
        if self.watcher.examining:
            if id(optimizer) not in self._told:
                self._told.add(id(optimizer))
                born = self.births.get(optimizer)
                describe_optimizer(self.watcher, optimizer, account, born or site, born is not None)
            held = self.held()
            self.watcher.bus.tell(moments.step_examined_after, optimizer, account.number, held, self._written)
        if self.watcher.examining or not account.sentinels:
            account.choose_sentinels([p for group in optimizer.param_groups for p in group["params"]])
        used, soiled = account.stepped()
        self.stepped_last = account
        # A closure without a backward pass of its own (a framework's) leaves the gradients as they were.
        if used and not account.unsure and not (closure and self._passes > account.entered):
            tell_stale(self.watcher, account, used[0], soiled)
        account.in_closure = False
        account.passes = self._passes
        note_rates(self.watcher, optimizer, account)
        self._close_cycle()
        steps = [a.taken for a in self.accounts.values()]
        self.watcher.stepped(max(steps), milestone=self.milestones.due(account.steps), actors=len(self.accounts))

    def _sample(self, moment: Moment[P], *told: P.args, **named: P.kwargs) -> None:
        """Tell of a step that is sampled: what listeners do then is booked as sampling."""
        self.watcher.book_sampling(lambda: self.watcher.bus.tell(moment, *told, **named))

    @on(moments.run_over)
    def finish(self) -> None:
        """What only the end of the run can tell of the optimizers."""
        for optimizer, account in self.accounts.items():
            tell_end(self.watcher, optimizer, account)

    def _close_cycle(self) -> None:
        self.rhythm.close()
        ops, self._ops = tuple(self._ops), []
        self._written = set()
        self.watcher.state(facts.Loop(ops=ops), phase="train", key=ops)
