"""What the experiments of `paramedic diagnose` show together; see lab/ for how they are run.

The most telling comparison is with permuted labels: there a model can learn only how often each target occurs, in the
script's own loss. A run that ends no better has learnt nothing from its inputs.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from functools import cached_property
from itertools import pairwise
from statistics import median, pstdev
from typing import Any, Literal

from paramedic.record.facts import Batch, Fact, Loader, LogProb, LossCall, Model, Optimizer, Trial
from paramedic.rules import Abstain, Evidence, Run, Where
from paramedic.rules.curves import loss_curves
from paramedic.rules.loss_terms import frees
from paramedic.rules.outcome import guess

Trouble = Literal["none", "flat", "diverges", "memorises", "lags", "unclear"]
CLEARLY = 0.05  # of the loss: what counts as better
BY_HEART = 0.5  # of what guessing gives: what a batch learnt by heart must be below
NOT_AT_ALL = 0.8
FEWEST_PAIRED = 50  # steps of two runs that are compared step by step
RAN = ("ended", "stopped")
CLEAR_SKILL = 0.6  # of simple models: from there on a network that knows less than a third of it is in trouble
THIRD = 0.35
OFTEN = 4  # times that a model is built anew
OTHER_LOSS = ("simple-loss", "turned-round", "linear-model")  # experiments that change what the loss is made of
PLAINLY = 0.7  # of guessing: where a plain loss ends that is learnt in the place of one written by hand
SWEEP = (1e-3, 1e3)  # factors of the learning rate in a range test, as in lab/catalogue.py


class Tried:
    """One experiment, from the record."""

    def __init__(self, data: Trial) -> None:
        self.name: str = data.name
        self.data = data
        self.ran = data.status in RAN and data.last is not None
        self.first: float = data.first if data.first is not None else math.nan
        self.last: float = data.last if data.last is not None else math.nan
        self.lowest: float = data.lowest if data.lowest is not None else math.nan
        self.noise: float = data.noise
        self.steps: int = data.steps
        self.finite: bool = data.finite
        self.exam: float | None = data.exam
        self.answer: Mapping[str, Any] = data.answer or {}
        self.noted: Mapping[str, Any] = data.noted or {}

    def better_than(self, other: Tried, by: float = CLEARLY) -> bool:
        """Whether it ends clearly lower, beyond batch noise."""
        margin = max(by * max(abs(other.last), 1e-12), 3 * self.noise_against(other))
        return self.finite and (not other.finite or self.last < other.last - margin)

    def noise_against(self, other: Tried) -> float:
        """The standard error of the difference; less where both saw the same batches, whose luck they share."""
        apart = math.hypot(self.noise, other.noise)
        ours, theirs = self.data.values, other.data.values
        if len(ours) != len(theirs) or len(ours) < FEWEST_PAIRED:
            return apart
        tail = max(5, len(ours) // 5)
        differences = [a - b for a, b in zip(ours[-tail:], theirs[-tail:], strict=True)]
        return min(apart, 1.5 * pstdev(differences) / math.sqrt(tail))

    @property
    def fell(self) -> bool:
        return self.finite and self.first - self.last > max(CLEARLY * abs(self.first), 3 * self.noise)

    @property
    def exploded(self) -> bool:
        return not self.finite or self.last > max(2 * abs(self.first), self.first + 1) or self.bottomless

    @property
    def bottomless(self) -> bool:
        """A loss that keeps falling below zero."""
        return self.first < 0 and self.last < 20 * self.first

    def evidence(self, limit: str = "") -> Evidence:
        shown = f"{self.first:.4g} → {self.last:.4g}" if self.finite else f"{self.first:.4g} → not finite"
        return Evidence(name=f"loss with {self.name}", value=shown, limit=limit)


class Lab:
    """All experiments of a run."""

    def __init__(self, run: Run) -> None:
        self.run = run
        self.tried = {event.name: Tried(event) for event in run.facts(Trial)}
        if "baseline" not in self.tried:
            raise Abstain("the baseline was not run")
        self.base = self.tried["baseline"]
        if not self.base.ran and self.base.finite:
            raise Abstain("the script itself did not get far enough")
        if self.base.data.losses > 1:
            raise Abstain("several losses are trained together or against each other")
        if _hovers(self.base.data.values):
            raise Abstain("the loss keeps changing its sign, so its value does not show how well the script learns")
        if follows_a_policy(run) or self.base.noted.get("policy"):
            raise Abstain("it is a policy gradient, whose loss does not show how well the script learns")

    def get(self, name: str) -> Tried | None:
        """An experiment that was run and is informative."""
        tried = self.tried.get(name)
        if tried is None or not (tried.ran or tried.answer):
            return None
        return None if self._changed_nothing(tried) else tried

    def _changed_nothing(self, tried: Tried) -> bool:
        """For example permuted labels that are never used: the curve is identical to the baseline's."""
        if tried.name not in ("permuted-labels", "zeroed-inputs", "twin"):
            return False
        return tried.first == self.base.first and tried.last == self.base.last

    @cached_property
    def control(self) -> Tried | None:
        """What is learnt without any information in the inputs.

        Empty inputs are the second choice: if the input is also the target, they are easier than real ones.
        """
        permuted, zeroed = self.get("permuted-labels"), self.get("zeroed-inputs")
        if permuted is not None and permuted.finite:
            return permuted
        if zeroed is None or not zeroed.finite:
            return None
        return zeroed if self.without_target or self.base.better_than(zeroed) else None

    @property
    def without_target(self) -> bool:
        """Whether inputs are compared only with each other, as in triplets: empty ones are then all the same."""
        noted = self.base.noted
        return noted.get("targets") == 0 and not noted["drawn_again"]

    @cached_property
    def guessing(self) -> float:
        """The loss of a model that knows only how often each target occurs; the lowest known estimate."""
        if self.control is None:
            return self.base.first
        known = [self.control.last, self.prior]
        zeroed = self.get("zeroed-inputs")
        if self.control.name == "permuted-labels" and zeroed is not None and zeroed.finite:
            known.append(zeroed.last)
        return min(value for value in known if value is not None)

    @cached_property
    def prior(self) -> float | None:
        """What the targets alone tell of the loss of guessing, where they are known."""
        curves = loss_curves(self.run)
        return guess(self.run, curves[0]) if len(curves) == 1 and curves[0].task is not None else None

    @cached_property
    def trouble(self) -> Trouble:
        if self.base.exploded:
            return "diverges"
        if self.control is None:
            return "none" if self.base.fell else "unclear"
        if self.beats_guessing(self.base):
            return "memorises" if self._fails_exam else "lags" if self.lags else "none"
        if self.on_a_par or _takes_its_time(self):
            return "none"  # there is little to know, or it comes later
        if self.beats_guessing(self.base, by=0.0) and self.signal != "none":
            return "unclear"  # better, but not by much
        return "flat"

    def beats_guessing(self, tried: Tried, by: float = CLEARLY) -> bool:
        noise = tried.noise_against(self.control) if self.control is not None else tried.noise
        return tried.finite and tried.last < self.guessing - max(by * abs(self.guessing), 3 * noise)

    @property
    def _fails_exam(self) -> bool:
        exam = self.get("held-out")
        if exam is None or exam.exam is None or self.control is None:
            return False
        by_heart = exam.exam > 0.97 * self.guessing and self.base.last < 0.9 * self.guessing
        return by_heart or (self.signal == "none" and exam.exam >= self.guessing)

    @property
    def lags(self) -> bool:
        """Whether simple models do far better on unseen samples than the script's own model."""
        return self._is_behind and (self.base.data.status == "ended" or "longer" in self.tried)

    @property
    def on_a_par(self) -> bool:
        """Whether the inputs carry little information, and the script's model finds as much as simple models do."""
        known, simple = self.skill, self.simple_skill
        return known is not None and simple is not None and 0.02 < simple < 0.35 and known > 0.7 * simple

    @property
    def _is_behind(self) -> bool:
        known, simple = self.skill, self.simple_skill
        if known is None or simple is None or simple < CLEAR_SKILL or known > THIRD * simple:
            return False
        return self.base.last > 0.4 * self.guessing  # else it has learnt its own samples, and overfits

    @cached_property
    def skill(self) -> float | None:
        """The share by which the script's model lowers the guessing loss on held-out samples."""
        held = self.get("held-out")
        curves = loss_curves(self.run)
        if held is None or held.exam is None or self.control is None or self.guessing <= 0:
            return None
        if len(curves) != 1 or curves[0].task is None:  # a sum of terms may never come near zero
            return None
        longer = self.get("longer")
        more = [longer.last if longer.exam is None else longer.exam] if longer is not None else []
        reached = min([held.exam, *more])
        return 1 - reached / self.guessing

    @cached_property
    def simple_skill(self) -> float | None:
        """The same for the best simple model, by cross-validation."""
        answer = self.tried["simple-models"].answer if "simple-models" in self.tried else {}
        skills = [model.get("skill") for model in answer.get("models", {}).values()]
        return max((skill for skill in skills if skill is not None), default=None)

    @cached_property
    def rebuilt(self) -> tuple[str, int] | None:
        """The line that builds optimizers for one model after another, and how many."""
        lines = Counter(event.line for event in self.run.facts(Optimizer))
        (line, times), *_ = lines.most_common(1) or [("", 0)]
        return (line, times) if times >= OFTEN and len(self.run.facts(Model)) >= OFTEN else None

    @property
    def is_small(self) -> bool:
        """Whether the model has so few weights that it could not memorise a batch."""
        models = self.run.facts(Model)
        weights = max((sum(p.numel for p in m.parameters if p.requires_grad) for m in models), default=0)
        sizes = [loader.batch_size or 0 for loader in self.run.facts(Loader)]
        sizes += [call.target.shape[0] for call in self.run.facts(LossCall, phase="train")
                  if call.target and call.target.shape]  # fmt: skip
        return weights < 10 * max(sizes, default=0)

    @property
    def needs_time(self) -> bool:
        """Whether the script was stopped early, so that its outcome is unknown."""
        if self.base.data.status != "stopped" or "longer" in self.tried:
            return False
        return self.trouble == "flat" or self._is_behind

    # Abilities ------------------------------------------------------------------------------------------------------

    @cached_property
    def learns_one_batch(self) -> bool | None:
        """None: unknown."""
        tried = self.get("one-batch")
        if tried is None or tried.steps < 50 or self.guessing <= 0:
            return None
        if tried.last < BY_HEART * self.guessing or tried.lowest < BY_HEART * self.guessing:
            return True
        return False if tried.last > NOT_AT_ALL * min(self.guessing, max(tried.first, tried.last)) else None

    @cached_property
    def one_batch_at_any_rate(self) -> bool | None:
        """Whether some learning rate lets it learn the batch."""
        tried = self.get("one-batch-range")
        if tried is None or self.guessing <= 0:
            return None
        return tried.lowest < 0.7 * min(self.guessing, tried.first)

    @cached_property
    def learns_twin(self) -> bool | None:
        tried = self.get("twin")
        if tried is None or not tried.finite:
            return None if tried is None else False
        if tried.last < 0.7 * self.guessing:
            return True
        return False if tried.last > 0.93 * self.guessing else None

    @cached_property
    def alike(self) -> tuple[int, int] | None:
        """How many samples were kept and how few inputs differ, if equal inputs have different targets.

        A falling loss does not matter if all inputs are the same, or are texts of one word that differ in length.
        """
        answer = self.tried["simple-models"].answer if "simple-models" in self.tried else {}
        kept, different = answer.get("kept", 0), answer.get("different_inputs", 0)
        if kept < 50 or answer["different_targets"] < 2 or different > 0.1 * kept:
            return None
        if different == 1 or answer.get("one_token") is not None:
            return (kept, different) if answer["told"] < 0.9 else None
        return (kept, different) if self.trouble != "none" and answer["told"] <= 0.15 else None

    @cached_property
    def signal(self) -> Literal["none", "some", "strong"] | None:
        """What simple models find in the captured samples."""
        answer = self.tried["simple-models"].answer if "simple-models" in self.tried else {}
        if not answer.get("task"):
            return None
        strongest = max(answer["models"].values(), key=lambda model: model["z"])
        # The most that could still be there: every simple model may have missed a signal of this strength.
        hidden = min(max(model["strength"], 0.0) + 2 * model["error"] for model in answer["models"].values())
        limit = 0.25 if answer["task"] == "classes" else 0.07  # real values are often told to half a per cent only
        if strongest["z"] < 2.5 and answer["samples"] >= 300 and hidden < limit:
            return "none"
        return "strong" if strongest["z"] > 6 and strongest["strength"] > 0.35 else "some"

    def useful_factor(self, sweep: Tried) -> float | None:
        """The learning-rate factor of a range test at which the loss falls fastest, if it falls at all."""
        values = smooth(sweep.data.values)
        low, high = SWEEP
        if len(values) < 20 or min(values) > 0.8 * min(self.guessing, sweep.first):
            return None
        lowest = values.index(min(values))
        width = max(2, len(values) // 15)
        drops = [(values[i] - values[i + width], i + width // 2) for i in range(max(lowest - width, 0) + 1)]
        where = max(drops)[1] if drops else lowest
        return float(low * (high / low) ** (where / max(sweep.steps - 1, 1)))

    def helps(self, name: str) -> bool:
        """Whether this change makes the script learn."""
        if name.startswith("term-"):
            return frees(self, name)  # what is trained is no longer the sum
        tried = self.get(name)
        if tried is not None and (plain := tried.noted.get("plain")):
            return bool(plain["last"] < PLAINLY * plain["guessing"]) and self.trouble != "none"
        if tried is None or not tried.better_than(self.base, by=0.1):
            return False
        if name in OTHER_LOSS and tried.last < 0 <= min(self.base.data.values, default=0.0):
            return False  # no longer the same quantity
        if name.startswith("linear-") and _by_heart(self):
            return False
        if self.trouble == "lags":
            return tried.last < 0.5 * self.base.last
        return self.beats_guessing(tried, by=0.1) if self.control is not None else tried.fell


def _by_heart(lab: Lab) -> bool:
    """Whether a linear model may have learnt its samples only, since it has a weight for each of them: the script's own
    model learns what there is a rule for, and a batch, but here hardly more than with permuted labels."""
    known = lab.trouble not in ("flat", "unclear") or lab.signal is not None
    if known or not (lab.learns_twin and lab.learns_one_batch):
        return False
    size = next((loader.size for loader in lab.run.facts(Loader) if loader.size), None)
    first = lab.run.first(Batch)
    shapes = [tensor.shape for tensor in first.tensors if len(tensor.shape) > 1] if first is not None else []
    return size is not None and bool(shapes) and math.prod(shapes[0][1:]) >= size


def _takes_its_time(lab: Lab) -> bool:
    """Whether more steps are enough. Samples seen that often may be memorised: unseen ones decide."""
    longer = lab.get("longer")
    if longer is None:
        return False
    if longer.exam is not None:
        return longer.exam < 0.97 * lab.guessing - 3 * longer.noise if lab.guessing > 0 else longer.fell
    held = lab.get("held-out")
    if held is not None and held.exam is not None and held.exam >= lab.guessing > 0:
        return False
    return lab.signal != "none" and lab.beats_guessing(longer)


def follows_a_policy(run: Run) -> bool:
    """Whether choices are made likelier and less likely by how good they were: they are the model's own, not labels."""
    events = run.facts(LogProb)
    return bool(events) and all(event.both_ways for event in events)


def _hovers(values: Sequence[float], share: float = 0.15) -> bool:
    """Around zero, as the loss of a policy gradient does."""
    changes = sum((a < 0) != (b < 0) for a, b in pairwise(values))
    return len(values) > 20 and changes > share * len(values)


def smooth(values: Sequence[float]) -> list[float]:
    """The running median, which a single bad batch does not move."""
    width = max(3, len(values) // 20)
    return [median(values[i : i + width]) for i in range(len(values) - width + 1)]


def at(event: Fact | None) -> Where:
    """The place of a fact, if there is one."""
    return event.where if event is not None else Where()
