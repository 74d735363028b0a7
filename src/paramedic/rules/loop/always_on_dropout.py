"""PM613."""

from collections.abc import Iterator

from paramedic.record.facts import Dropout, ModuleCall, OverwrittenProbability, TrainForward
from paramedic.rules import Evidence, Finding, Run, rule
from paramedic.rules.support import at

_ON_PURPOSE = ("mc", "montecarlo", "monte_carlo", "bayes", "always", "noise")


@rule("PM613", "always-on-dropout", severity="error", coverage=[TrainForward], causes=["PM209"], lasting=True)
def check(run: Run) -> Iterator[Finding]:
    """eval() does not turn this dropout off.

    Or dropout that the first evaluation turns off for good, because `forward` overwrites its own probability.

    `F.dropout(x, p)` drops by default, whatever mode the module is in, and so does `F.scaled_dot_product_attention(…,
    dropout_p=p)`. An `nn.Dropout` built inside `forward` is always new and therefore always in train mode.

    ## Why it hurts
    Evaluation and inference are random: the same input gives a different output each time, and the metric is too low.

    ## What to try first
    `F.dropout(x, p, training=self.training)`, or an `nn.Dropout` built in `__init__`.

    ## When this is wrong
    A call that eval mode never reaches (`if self.training: x = F.dropout(x, p)`) is not reported. If the run never uses
    the module in eval mode, it is only a note.

    Monte-Carlo dropout: say so in the name of the class or function, or pass `training=True` explicitly and evaluate
    several times; or put `# paramedic: ignore[PM613]` on the line.
    """
    reported: set[tuple[str | None, int | None]] = set()
    functional = [op for op in run.facts(Dropout) if op.p and not op.through_module]
    in_eval = [op for op in functional if op.training and op.caller_training is False]
    evaluated = {call.class_ for call in run.facts(ModuleCall) if not call.training}
    untied = [
        op for op in functional if op.training and not op.explicit and op.caller_training and op.caller not in evaluated
    ]  # of a module that was evaluated it is known whether the call is reached in eval mode
    for op in (*in_eval, *untied):
        place = (op.where.file, op.where.line)
        if place in reported or _on_purpose(op):
            continue
        reported.add(place)
        seen = op.caller_training is False
        yield Finding(
            what=f"F.{op.function}(p={op.p:g}) "
            + (f"is active although {op.caller} is in eval mode" if seen else "ignores the mode of the module"),
            why="the evaluation is random, and its metrics too low"
            if seen
            else "without training=, it stays on when the model is evaluated or used",
            remedy=_tied(op),
            where=op.where,
            severity="error" if seen else "note",
            evidence=(
                Evidence(name="p", value=op.p),
                Evidence(name="training_argument", value=op.training, limit="the module's mode"),
            ),
            confidence=0.96 if seen and not op.explicit else 0.88,
        )
    yield from _overwritten(run)
    for call in run.facts(ModuleCall):
        if call.dropout and call.p and call.built_in and call.training:
            place = (call.where.file, call.where.line)
            if place not in reported:
                reported.add(place)
                yield Finding(
                    what=f"a {call.class_} is created again in every forward pass of {call.built_in}",
                    why="a new module is in train mode, so this dropout is also active in evaluation",
                    remedy="build it once in __init__ (self.dropout = nn.Dropout(p)) and call self.dropout(x)",
                    where=at(call, None),
                    evidence=(Evidence(name="p", value=call.p),),
                    confidence=0.95,
                )


def _tied(op: Dropout) -> str:
    if op.function == "scaled_dot_product_attention":
        return f"pass dropout_p={op.p:g} if self.training else 0.0: this function does not know the module's mode"
    return f"pass training=self.training: F.{op.function}(x, {op.p:g}, training=self.training)"


def _overwritten(run: Run) -> Iterator[Finding]:
    for op in run.facts(OverwrittenProbability):
        yield Finding(
            what=f"{op.module}.{op.attribute} went from {op.before:g} to {op.after:g} in an evaluation "
            "and stayed there in training",
            why="the forward pass in eval mode overwrites the attribute, and nothing restores it",
            remedy=f"use a local variable: p = self.{op.attribute} if self.training else 0.0",
            where=op.where,
            evidence=(Evidence(name=op.attribute, value=op.after, limit=str(op.before)),),
            confidence=0.95,
        )


def _on_purpose(op: Dropout) -> bool:
    words = f"{op.caller or ''} {op.where.function or ''}".lower()
    return any(word in words for word in _ON_PURPOSE)
