"""Which experiment comes next: the cheap and telling ones first, others only where they may change the verdict."""

from __future__ import annotations

from collections.abc import Mapping

from paramedic.lab.catalogue import BY_NAME, of_part, of_term
from paramedic.lab.experiment import Experiment, Result
from paramedic.lab.reasoning import USUAL_SETTINGS, answered
from paramedic.record.facts import Forward, Model, Trial
from paramedic.record.reader import Run
from paramedic.rules.experiments import CLEAR_SKILL, Lab, Tried
from paramedic.rules.loss_terms import terms_of
from paramedic.rules.model_parts import parts_of
from paramedic.rules.own_metrics import has_room, improving, metrics_of
from paramedic.rules.rule import Abstain
from paramedic.rules.standing import DECIDING, IN_THE_WAY, LITTLE, demonstrated, untold

FIRST = ("permuted-labels", "one-batch", "simple-models", "twin", "held-out")
# In this order: what speaks for the code says so only where no setting has helped.
WHEN_ILL = (
    "longer", "turned-round", "lr-down", "lr-up", "steady-rate", "plain-optimizer", "no-regularisation",
    "standardised", "fresh-start", "one-batch-range", "simple-loss", "linear-model",
)  # fmt: skip
OF_RATE = ("lr-down", "lr-up", "no-regularisation")
AT_ONCE = 3  # then it is asked whether that was enough
WHEN_STILL_UNKNOWN = ("no-batchnorm", "batch-x4", "clipped", "fp32", "eager")
CONFIRM = ("one-batch", "twin")  # where a rule has already found the fault


def stage(run: Run, results: Mapping[str, Result], *, named: bool, found: bool) -> tuple[Experiment, ...]:
    """The experiments to make now; none when the verdict will not change any more.

    `named` says that the baseline alone shows an error, `found` that the rules have a cause by now.
    """
    wanted: tuple[str, ...]
    if named:
        wanted = CONFIRM
    elif not _can_be_compared(run):
        wanted = ("longer",) if _prints_too_little(run) else _by_metric(run)
    elif not _done(results, FIRST):
        wanted = FIRST
    elif Lab(run).control is None and "zeroed-inputs" not in results:
        wanted = ("zeroed-inputs",)  # without targets to permute, empty inputs have to do
    elif found and Lab(run).helps("linear-model") and "no-regularisation" not in results:
        wanted = ("no-regularisation",)  # decay may be all that holds every part back: it is tried first
    elif found:
        return tuple(part for part in _parts(run) if part.name not in results)
    elif Lab(run).needs_time:
        wanted = ("longer",)
    elif Lab(run).trouble == "none":
        return tuple(experiment for experiment in _when_it_learns(run) if experiment.name not in results)[:AT_ONCE]
    elif _nothing_to_compare(run) or (Lab(run).trouble == "unclear" and demonstrated(Lab(run)) is not None):
        wanted = ()
    elif terms := [term for term in _terms(run) if term.name not in results]:
        return tuple(terms)
    else:
        wanted = tuple(name for name in _when_ill(run, results) if name not in results)[:AT_ONCE]
    return tuple(BY_NAME[name] for name in wanted if name not in results)


def _by_metric(run: Run) -> tuple[str, ...]:
    """Where losses cannot be compared but a metric is printed, and does not get better."""
    tried = {trial.name: Tried(trial) for trial in run.facts(Trial)}
    base = tried.get("baseline")
    if base is None or not base.ran or not metrics_of(base, 3):
        return ()
    if any(one.ran and improving(one) is not None for name, one in tried.items() if name in ("baseline", "longer")):
        return ()
    ended = base.data.status == "ended"
    return (*(("uphill",) if base.data.losses == 1 else ()), *(("lr-up", "lr-down") if ended else ()))


def _done(results: Mapping[str, Result], names: tuple[str, ...]) -> bool:
    return all(name in results for name in names)


def _when_ill(run: Run, results: Mapping[str, Result]) -> tuple[str, ...]:
    """What may change the verdict on this script."""
    lab, useless = Lab(run), set()
    if results["baseline"].status != "stopped":
        useless.add("longer")  # it has come to its own end
    if not lab.base.noted.get("triplets"):
        useless.add("turned-round")
    if lab.learns_twin is not False:
        useless.add("twin-range")
    if lab.trouble == "unclear" and "linear-model" not in results:
        return ("linear-model",)  # is there more to learn at all?
    if untold(lab) is not None:
        return tuple(name for name in ("longer", *USUAL_SETTINGS) if name not in useless)  # nothing else could help
    return tuple(name for name in (*WHEN_ILL, "twin-range", *WHEN_STILL_UNKNOWN) if name not in useless)


def _when_it_learns(run: Run) -> tuple[Experiment, ...]:
    """What may hold a script back that learns all the same, unless it is shown to do what its data allow."""
    lab = Lab(run)
    wanted = [BY_NAME["training-mode"]] if _evaluates_otherwise(run) else []
    wanted += [BY_NAME["turned-edges"]] if _is_given_edges(run) else []
    if has_room(lab.base) is not None and lab.base.data.status == "ended" and (lab.skill or 0) < LITTLE:
        wanted += [BY_NAME[name] for name in OF_RATE]
    if lab.control is None and lab.prior is not None:
        wanted += [BY_NAME[name] for name in IN_THE_WAY]
    elif lab.control is not None and demonstrated(lab) is None:
        wanted += [BY_NAME[name] for name in DECIDING]
        wanted += _terms(run) if (lab.simple_skill or 0) >= CLEAR_SKILL else ()
    return tuple(wanted)


def _terms(run: Run) -> tuple[Experiment, ...]:
    """Each term of the loss left out; where the loss has no lower end, each turned round as well."""
    lab = Lab(run)
    kinds = ("off", "turned") if lab.base.exploded else ("off",)
    named = [(i + 1, term.name) for i, term in enumerate(terms_of(lab.base))]
    return tuple(of_term(number, kind, name) for kind in kinds for number, name in named)


def _parts(run: Run) -> tuple[Experiment, ...]:
    """Where a linear model learns and the script's own does not: the same for its parts, one by one."""
    if not _can_be_compared(run) or not Lab(run).helps("linear-model") or Lab(run).helps("no-regularisation"):
        return ()
    if any(Lab(run).helps(term.name) for term in _terms(run)):
        return ()  # it is the loss
    return tuple(of_part("linear", path) for path in parts_of(run))


def _is_given_edges(run: Run) -> bool:
    """Whether a model is given pairs of node numbers, and its own metric of unseen samples is far from perfect."""
    shapes = [tensor.shape for call in run.facts(Forward) for tensor in call.inputs if "int" in tensor.dtype]
    pairs = any(len(shape) == 2 and shape[0] == 2 and shape[1] > 2 for shape in shapes)
    return pairs and has_room(Lab(run).base) is not None


def _evaluates_otherwise(run: Run) -> bool:
    """Whether the script prints metrics of a model in which evaluation mode changes what BatchNorm does."""
    norm = any(part.norm for model in run.facts(Model) for part in model.modules)
    return norm and bool(Lab(run).base.noted.get("printed"))


def _can_be_compared(run: Run) -> bool:
    try:
        Lab(run)
    except Abstain:
        return False
    return True


def _prints_too_little(run: Run) -> bool:
    """Whether the script was stopped before the metrics that it prints could tell anything."""
    base = next((Tried(trial) for trial in run.facts(Trial) if trial.name == "baseline"), None)
    if base is None or base.data.status != "stopped":
        return False
    return bool(base.noted.get("printed")) and improving(base) is None


def _nothing_to_compare(run: Run) -> bool:
    """A loss that says little, and experiments that could not be tried: more of them will not help."""
    lab = Lab(run)
    return lab.trouble == "unclear" and lab.control is None and answered(lab) < 2
