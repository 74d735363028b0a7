"""All experiments, in the order in which they are worth trying."""

from __future__ import annotations

import re

from paramedic.errors import ParamedicError
from paramedic.lab.experiment import Experiment
from paramedic.rules.experiments import SWEEP

LOWEST, HIGHEST = SWEEP
RANGE_STEPS = 150
EXAM = 40  # steps at the end of the held-out experiment


def _sweep(before: str = "") -> str:
    return f"{before}rate_range={LOWEST}:{HIGHEST}:{RANGE_STEPS}"


BASELINE = Experiment(name="baseline", changed="nothing", order="capture", asks="does the script learn?")

ALL = (
    Experiment(
        name="permuted-labels",
        changed="the targets of every batch shuffled",
        order="permuted_labels",
        asks="do the labels matter?",
    ),
    Experiment(
        name="one-batch",
        changed="the same batch at every step, no dropout, no weight decay",
        order="one_batch",
        asks="can the model learn anything at all?",
    ),
    Experiment(
        name="simple-models",
        changed="the model: linear, forest, kernel machine on the captured samples",
        order="",
        asks="do the inputs carry any information about the target?",
    ),
    Experiment(
        name="twin",
        changed="synthetic data of the same shapes and classes that follows a simple rule",
        order="twin",
        asks="can the model learn a rule?",
    ),
    Experiment(
        name="held-out",
        changed="a fifth of the samples held out for the last steps",
        order="held_out",
        asks="is it learnt, or memorised?",
    ),
    Experiment(name="zeroed-inputs", changed="inputs set to zero", order="zeroed_inputs", asks="do the inputs matter?"),
    Experiment(
        name="longer",
        changed="four times as many steps, a fifth of the samples held out for the last ones",
        order="held_out",
        asks="does it learn with more steps?",
    ),
    Experiment(
        name="lr-down",
        changed="a tenth of the learning rate",
        order="learning_rate=0.1",
        asks="are the steps too large?",
    ),
    Experiment(
        name="lr-up", changed="ten times the learning rate", order="learning_rate=10", asks="are the steps too small?"
    ),
    Experiment(
        name="one-batch-range",
        changed="one batch, and a learning rate that grows a millionfold",
        order=_sweep("one_batch,"),
        asks="is there any rate at which the model learns?",
        steps=RANGE_STEPS,
    ),
    Experiment(
        name="no-regularisation",
        changed="no dropout, no weight decay",
        order="no_regularisation",
        asks="is the model over-regularised?",
    ),
    Experiment(
        name="steady-rate",
        changed="the learning rate held at its first value",
        order="steady_rate",
        asks="is it the schedule?",
    ),
    Experiment(
        name="plain-optimizer",
        changed="eps, betas and momentum at the optimizer's defaults",
        order="plain_optimizer",
        asks="is it an optimizer setting?",
    ),
    Experiment(
        name="turned-round",
        changed="positive and negative of the triplet loss swapped",
        order="turned_round",
        asks="are the arguments of the loss in the right order?",
    ),
    Experiment(
        name="turned-edges",
        changed="the edges of the graph turned round",
        order="turned_edges",
        asks="do messages run the right way?",
    ),
    Experiment(
        name="uphill",
        changed="every step in the opposite direction",
        order="learning_rate=-1",
        asks="is the sign of the loss right?",
    ),
    Experiment(
        name="standardised",
        changed="inputs scaled to mean 0 and standard deviation 1",
        order="standardised",
        asks="is it the scale of the inputs?",
    ),
    Experiment(
        name="twin-range",
        changed="the synthetic data, and a learning rate that grows a millionfold",
        order=_sweep("twin,"),
        asks="is there any rate at which it learns a rule?",
        steps=RANGE_STEPS,
    ),
    Experiment(
        name="clipped",
        changed="gradients clipped to a norm of 1",
        order="clipped",
        asks="are single gradients too large?",
    ),
    Experiment(
        name="fresh-start", changed="torch's own initialisation", order="fresh_start", asks="is it the initialisation?"
    ),
    Experiment(
        name="linear-model",
        changed="a linear model instead of yours, in your own loop with your own loss",
        order="linear_model",
        asks="is it inside the model?",
    ),
    Experiment(
        name="training-mode",
        changed="evaluations in training mode: eval() has no effect",
        order="training_mode",
        asks="is it the switch from training to evaluation?",
    ),
    Experiment(name="no-batchnorm", changed="BatchNorm does nothing", order="no_batchnorm", asks="is it BatchNorm?"),
    Experiment(
        name="batch-x4", changed="batches four times as large", order="batch_size=x4", asks="are the batches too small?"
    ),
    Experiment(
        name="simple-loss", changed="the plain loss of the same task", order="simple_loss", asks="is it the loss?"
    ),
    Experiment(name="fp32", changed="full precision", order="fp32", asks="is it the precision?"),
    Experiment(name="eager", changed="no torch.compile", order="eager", asks="is it the compiler?"),
    Experiment(
        name="batch-1",
        changed="batches of one sample",
        order="batch_size=1",
        asks="do samples in a batch affect each other?",
    ),
    Experiment(
        name="rate-range",
        changed="a learning rate that grows a millionfold",
        order=_sweep(),
        asks="which learning rate works best?",
        steps=RANGE_STEPS,
    ),
    Experiment(name="again", changed="nothing, once more", order="capture", asks="is the run reproducible?"),
)
BY_NAME = {experiment.name: experiment for experiment in ALL}


PARTS = {"linear": "a linear map instead of {}", "frozen": "{} is not trained", "skipped": "{} is skipped"}
TERMS = {"off": ("{} removed from the loss", 0), "turned": ("{} with the opposite sign in the loss", -1)}


def of_part(kind: str, path: str) -> Experiment:
    """A part of the model replaced, frozen or skipped, by its path in the model: `linear-part-encoder`."""
    asks = "is the fault in this part?" if kind == "linear" else "what does this part contribute?"
    changed = PARTS[kind].format(path)
    return Experiment(name=f"{kind}-part-{path}", changed=changed, order=f"part={kind}:{path}", asks=asks)


def of_term(number: int, kind: str, name: str = "") -> Experiment:
    """A term of the loss left out or turned round, counted from 1: `term-2-off`."""
    words, factor = TERMS[kind]
    return Experiment(
        name=f"term-{number}-{kind}",
        changed=words.format(name or f"term {number}"),
        order=f"loss_term={number - 1}:{factor}",
        asks="does a term of the loss work against the others?",
    )


def chosen(names: tuple[str, ...]) -> tuple[Experiment, ...]:
    """The experiments of these names."""
    return tuple(_named(name) for name in names)


def _named(name: str) -> Experiment:
    if name in BY_NAME:
        return BY_NAME[name]
    if (part := re.fullmatch(rf"({'|'.join(PARTS)})-part-(.+)", name)) is not None:
        return of_part(part[1], part[2])
    if (term := re.fullmatch(rf"term-([1-9])-({'|'.join(TERMS)})", name)) is not None:
        return of_term(int(term[1]), term[2])
    raise ParamedicError(
        f"there is no experiment {name!r}",
        expected=f"some of: {', '.join(BY_NAME)}; or linear-part-NAME, frozen-part-NAME, skipped-part-NAME of a part "
        "of the model, term-1-off, term-1-turned of the loss",
        fix="paramedic diagnose --only one-batch,twin train.py",
    )


def folds(number: int) -> tuple[Experiment, ...]:
    """The script's own model, cross-validated: one experiment per fold."""
    return tuple(
        Experiment(
            name=f"fold-{fold + 1}",
            changed=f"fold {fold + 1} of {number} held out for the last steps",
            order=f"held_out=:{fold}:{number}",
            asks="how much does the result depend on which samples are held out?",
        )
        for fold in range(number)
    )
