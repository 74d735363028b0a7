"""PM105."""

from __future__ import annotations

import ast
import math
from collections.abc import Iterator
from typing import TYPE_CHECKING

from paramedic.record.facts import BadInput, Batch, Forward, LossCall, NonFinite
from paramedic.rules import Abstain, Evidence, Finding, Run, rule
from paramedic.rules.bad_values import cases, moment
from paramedic.rules.curves import non_finite_steps
from paramedic.rules.lines import edited_at, first_link, loop_history, model_input_history, part_of
from paramedic.rules.support import listed, many
from paramedic.static.history import Link
from paramedic.static.program import called, own_nodes
from paramedic.static.signs import can_break

if TYPE_CHECKING:
    from paramedic.audit.audit import Audit, Split

_CLEANS = ("nan_to_num", "nan_to_num_", "fillna", "fill_nan")


@rule("PM105", "non-finite-input", severity="error", causes=["PM101", "PM102", "PM103", "PM104", "PM208"], lasting=True)
def check(run: Run) -> Iterator[Finding]:
    """A batch contains NaN or infinity, and the loss or its gradient becomes NaN.

    ## Why it hurts
    One bad value makes the loss NaN, the gradients NaN, and after the next step every weight NaN. Where an activation
    saturates (sigmoid, tanh, the gates of an RNN), infinity leaves the loss finite, and only the gradient becomes NaN.

    ## What to try first
    Look at the samples named here. Clean the data (drop, impute, fix the division that produced it), or mask the values
    before they reach the model.

    ## When this is wrong
    NaN used to mark missing values that the model masks is not reported in a run, because loss and gradients stay
    finite.
    `paramedic audit` names every sample that contains one.
    """
    bad = run.facts(BadInput)
    targets = [call for call in run.facts(LossCall) if call.values is not None and call.values.target_nan]
    inquests = [event for event in run.facts(NonFinite) if event.reached != "gradient"]
    if any(event.origin == "op" for event in inquests):
        return  # running the step again has shown that an operation made the bad value, from good ones
    spoilt = [
        case.event for case in cases(run, "PM105") if case.event.reached == "gradient" and case.severity != "note"
    ]
    inquests += spoilt
    broken = non_finite_steps(run)
    harm = "loss"
    if spoilt and spoilt[0].step < min(broken, default=math.inf):
        broken, harm = [spoilt[0].step], "gradient"
    if not bad and not targets:
        if not run.facts(Batch) and not run.facts(Forward):
            raise Abstain("neither a batch nor a model's input was seen")
        yield from (_variable(event) for event in inquests[:1] if event.origin == "variable" and event.name)
        return
    found = sorted(bad, key=lambda e: (e.source != "loader", e.step))
    if not broken or min(broken) < (found or targets)[0].step:
        return
    yield _input(run, found[0], min(broken), harm) if found else _target(targets[0], min(broken), harm)


def _target(first: LossCall, broken: int, harm: str) -> Finding:
    return Finding(
        what=f"{int(first.numbers.target_nan)} target values are NaN in the batch of step {first.step}",
        why=f"the {harm} is NaN from step {broken} on",
        remedy="remove or mask samples without a valid target",
        where=first.where,
        evidence=(Evidence(name="nan_targets", value=int(first.numbers.target_nan), limit="0"),),
        confidence=0.95,
    )


def _input(run: Run, first: BadInput, broken: int, harm: str) -> Finding:
    kind = "NaN" if first.nan else "infinite"
    count = int(first.nan or first.inf)
    which = f" (dataset index {listed([str(s) for s in first.samples])})" if first.samples else ""
    which = which or (f" (row {listed([str(r) for r in first.rows])} of the batch)" if first.rows else "")
    source = f"the batch{first.path}" if first.source == "loader" else f"the input of {first.module}"
    return Finding(
        what=f"{count} {kind} value{'s' * (count > 1)} in {source} at step {first.step}{which}",
        why=f"the {harm} is not finite from step {broken} on; the values were bad before they reached the model",
        remedy="clean or drop these samples; look for a division by zero or a missing value in the preprocessing",
        **edited_at(first.where, _breaking(run, first)),
        evidence=(
            Evidence(name="nan", value=int(first.nan), limit="0"),
            Evidence(name="inf", value=int(first.inf), limit="0"),
            Evidence(name=f"first_bad_{harm}", value=broken),
        ),
        confidence=0.96,
    )


def _breaking(run: Run, first: BadInput) -> Link | None:
    """The preprocessing statement that can turn finite values into such a value."""
    loader = first.source == "loader"
    made = loop_history(run, first.where, part_of(first.path)) if loader else model_input_history(run, first.where)
    return next((link for link in made if _left_as_it_is(link)), None) or first_link(made, can_break)


def _left_as_it_is(link: Link) -> bool:
    """`y = self.values[j]` beside `x = nan_to_num(self.values[i])`: for another use the same values are cleaned."""
    calls = [node for node in own_nodes(link.scope.body) if isinstance(node, ast.Call) and called(node) in _CLEANS]
    given = [part for call in calls for part in (*call.args[:1], call.func)]
    clean = {text for node in given for text in _sources(node)}
    own = [called(node) for node in ast.walk(link.node) if isinstance(node, ast.Call)]
    return bool(clean & _sources(link.node)) and not set(own) & set(_CLEANS)


def _sources(node: ast.AST) -> set[str]:
    """What an expression takes parts of: `self.values` of `self.values[i:j]`."""
    return {ast.unparse(inner.value) for inner in ast.walk(node) if isinstance(inner, ast.Subscript)}


def _variable(event: NonFinite) -> Finding:
    nan, inf = (event.outside.nan, event.outside.inf) if event.outside is not None else (0, 0)
    harm = "gradient" if event.reached == "gradient" else "loss"
    return Finding(
        what=f"{event.name!r} contains {nan or inf:,} {'NaN' if nan else 'infinite'} values before the model sees it",
        why=f"the {harm} is not finite{moment(event) or f' at step {event.step}'}"
        + ("; in a re-run it starts here" if event.reproduced else ", and this was given to the step that computed it"),
        remedy="look at how this tensor is computed; clean or drop the affected samples",
        where=event.where,
        evidence=(Evidence(name="nan", value=nan, limit="0"), Evidence(name="inf", value=inf, limit="0")),
        confidence=0.9,
    )


# In an audit: the data itself, before any training.


def in_data(audit: Audit) -> Iterator[Finding]:
    """An error in data fed to a network; a note in a table, whose blanks are usually filled before training."""
    for split in audit.splits:
        for name, sketch in split.sketch.inputs.items():
            if sketch.bad_count:
                yield _input_in_data(split, name)
        missing = split.sketch.target.missing
        if missing:
            yield Finding(
                what=f"{many(len(missing), 'sample')} of {split.name} have no valid target: {split.samples(missing)}",
                why="a target that is NaN or empty makes the loss NaN, or is learnt as an extra class",
                remedy="drop these samples, or supply their targets",
                evidence=(Evidence(name="missing_targets", value=len(missing), limit="0"),),
                confidence=0.97,
                severity="error" if split.source.kind != "table" else "warning",
                split=split.name,
                samples=tuple(missing),
            )


def _input_in_data(split: Split, name: str) -> Finding:
    sketch = split.input(name)
    kind = "missing or NaN" if split.source.kind == "table" else "NaN"
    kind = "infinite" if sketch.infinite == sketch.bad_count else kind
    lacking = _lacking(split, name)
    columns = _columns(split, name, lacking)
    fed = split.source.kind != "table"
    rows = sketch.bad_rows
    return Finding(
        what=f"{many(sketch.bad_count, f'{kind} value')} in {many(len(rows), 'sample')} of {split.name}{columns}: "
        f"{split.samples(rows)}",
        why="a single one makes the loss NaN and, after the next step, every weight"
        if fed
        else "fed to a network, they make the loss NaN",
        remedy="clean or drop these samples; look for a division by zero or a file that failed to load"
        if fed
        else "before training, fill them with a value computed on the training split (fill_null), or drop the rows",
        evidence=(
            Evidence(name="not_finite", value=sketch.bad_count, limit="0"),
            Evidence(name="infinite", value=sketch.infinite, limit="0"),
        ),
        severity="error" if fed or sketch.infinite else "note",
        confidence=0.97,
        split=split.name,
        samples=tuple(rows),
        columns=split.columns(name, lacking),
    )


def _lacking(split: Split, name: str) -> list[int]:
    """Columns with such values, worst first; none if samples are not table rows."""
    import numpy as np

    moments = split.input(name).moments
    if moments is None or len(moments.mean) == 1 or len(split.input(name).shape) != 1 or split.pixel_like:
        return []
    missing = split.input(name).count - moments.count
    return [int(i) for i in np.argsort(-missing, kind="stable") if missing[i] > 0]


def _columns(split: Split, name: str, places: list[int]) -> str:
    if not places:
        return f" ({name})" if name not in ("", "numbers") else ""
    return f" (column{'s' * (len(places) > 1)} {listed([split.feature(name, i) for i in places])})"
