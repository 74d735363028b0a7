"""PM201."""

import ast
import math
from collections.abc import Iterator
from itertools import pairwise
from statistics import median

from paramedic.findings import Where
from paramedic.record.facts import Backward, Model
from paramedic.rules import Abstain, Evidence, Finding, Run, rule
from paramedic.rules.layers import built_at, depth_order
from paramedic.rules.lines import edited_at
from paramedic.rules.outcome import outcome
from paramedic.static.history import Link, history
from paramedic.static.program import calls_at, program


@rule(
    "PM201",
    "vanishing-gradient",
    severity="warning",
    needs=[Backward, Model],
    causes=["PM206", "PM207", "PM209", "PM213", "PM305"],
    symptom=True,
)
def check(
    run: Run, *, fewest_layers: int = 4, failing: float = 1e-3, remarkable: float = 1e-5, cliff: float = 0.6
) -> Iterator[Finding]:
    """Gradients shrink by orders of magnitude on their way to the first layers.

    ## Why it hurts
    The first layers get so little gradient that they stay as initialised: everything after them works on random
    features, and the loss stays near that of guessing.

    ## What to try first
    ReLU or GELU instead of sigmoid or tanh; a normalisation layer or a skip connection in every block; an
    initialisation with the gain of the activation (`nn.init.kaiming_normal_`).

    ## When this is wrong
    Small gradients alone are not reported: Adam divides by their size. It is an alarm only if the loss has not moved
    away from guessing; otherwise a note.

    ## Options
    `fewest_layers`: weight matrices in a row; `failing`: ratio of typical gradients of the first to the last layers
    below which it is blamed for a failed training; `remarkable`: ratio that is noted even when training goes well;
    `cliff`: share of the drop that occurs at a single layer, above which depth is not to blame.
    """
    judged = outcome(run)
    order = depth_order(run)
    if len(order) < fewest_layers:
        raise Abstain(f"the model has only {len(order)} layers in a row; {fewest_layers} are needed")
    part = max(1, len(order) // 4)
    ratios, first, last, cliffs = [], [], [], []
    for sample in run.samples("gradient"):
        sizes = [(s.norm / s.count**0.5) for name in order if (s := sample.summaries.get(name)) and s.count]
        if len(sizes) < len(order) or not all(size > 0 for size in sizes):
            continue
        first.append(median(sizes[:part]))
        last.append(median(sizes[-part:]))
        ratios.append(first[-1] / last[-1])
        steps = [math.log(later / earlier) for earlier, later in pairwise(sizes)]
        cliffs.append(max(steps) / max(-math.log(ratios[-1]), 1e-9))
    if len(ratios) < 3:
        raise Abstain("fewer than three steps with gradients in every layer were sampled")
    ratio = median(ratios)
    if not (ratio <= failing and judged.bad) and ratio > remarkable:
        return
    if median(cliffs) > cliff:
        return  # lost at one place, not on the way: something there removes the signal
    module = order[0].rpartition(".")[0]
    shown = built_at(run, module)
    yield Finding(
        what=f"gradients shrink by a factor of {1 / ratio:.1e} from the last to the first layer: {median(last):.1e} in "
        f"{order[-1].rpartition('.')[0]}, {median(first):.1e} in {module}",
        why=f"the first layers hardly move; {judged}" if judged.bad else "training goes well despite it",
        remedy="use ReLU or GELU between the layers, add normalisation or skip connections, or use fewer layers",
        **edited_at(shown, _handed_in(run, shown)),
        evidence=(
            Evidence(name="ratio", value=float(f"{ratio:.3g}"), limit=f"> {failing:g}"),
            Evidence(name="layers", value=len(order)),
        ),
        confidence=0.92,
        severity="warning" if judged.bad else "note",
    )


def _handed_in(run: Run, built: Where) -> Link | None:
    """`[nn.Linear(…), activation()]`, where the kind of activation is an argument: the call that chooses it."""
    code = program(run)
    scope = code.scope(built.file, built.line)
    calls = calls_at(scope, built.line) if scope is not None and built.line is not None else []
    for call in calls:
        if scope is not None and isinstance(call.func, ast.Name):
            given = [link for link in history(code, scope, call.func) if link.kind == "given"]
            if given:
                return given[0]
    return None
