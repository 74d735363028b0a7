"""Diagnoses as the rules would give them, for the tests of all reports."""

from __future__ import annotations

import math
from collections.abc import Iterator

from paramedic.findings import Abstention, Crash, Diagnosis, Evidence, Finding, LossCurve, RunFacts, TimeShare, Where
from paramedic.record.facts import LossCall
from paramedic.rules.rule import Rule, rule

SOFTMAX = Finding(
    code="PM502",
    name="softmax-before-cross-entropy",
    severity="error",
    confidence=0.99,
    what="F.cross_entropy received probabilities: 32 of 32 rows sum to 1.000",
    why="cross-entropy applies log-softmax itself; the loss cannot fall below 1.46 here",
    remedy="return the Linear output of net.head without softmax",
    where=Where(file="train.py", line=41, function="train", module="net.head (Softmax)", step=0),
    evidence=(
        Evidence(name="row_sum", value=1.0, limit="1 ± 0.001"),
        Evidence(name="rows", value=32),
        Evidence(name="smallest_value", value=1.2345678e-05, limit="≥ 0"),
    ),
)
STUCK = Finding(
    code="PM207",
    name="loss-not-decreasing",
    severity="warning",
    confidence=0.8,
    what="the training loss went from 2.303 to 2.301 in 120 steps",
    why="it stays at the entropy of the labels, so the network has learnt nothing about its input",
    remedy="repair the other findings first, then train on one batch only: its loss must go to 0",
    where=Where(file="train.py", line=44, function="train", step=1120),
    evidence=(Evidence(name="last_loss", value=float("nan"), limit="2.303 × 0.95"),),
    consequence_of="PM502",
)
CLIP = Finding(
    code="PM604",
    name="ineffective-clipping",
    severity="warning",
    confidence=0.95,
    what="clip_grad_norm_ ran after optimizer.step() in 120 of 120 steps",
    why="the step has already used the unclipped gradients",
    remedy="move the call between loss.backward() and optimizer.step()",
    where=Where(file="train.py", line=47, function="train", step=0),
    evidence=(Evidence(name="largest_norm", value=float("inf"), limit="1.0"),),
)


def note(number: int) -> Finding:
    return Finding(
        code=f"PM{700 + number}",
        name=f"small-matter-{number}",
        severity="note",
        what=f"matter {number} is worth knowing",
        why="it may matter later",
        remedy="read about it",
        where=Where(file="train.py", line=number + 1),
    )


LOSSES = (
    LossCurve(
        label="train.py:44",
        steps=tuple(range(120)),
        values=tuple(math.nan if 60 <= s < 64 else math.inf if s == 90 else 2.4 - 0.001 * s for s in range(120)),
    ),
    LossCurve(label="val.py:9", steps=(0, 40, 80, 119), values=(2.5, 2.2, 2.3, 2.25)),
)

RUN = RunFacts(
    id="train-7",
    record=".paramedic/runs/train-7",
    script="train.py",
    command="paramedic run train.py --lr 0.1",
    steps=120,
    seconds=9.1,
    exit_code=0,
    overhead=0.009,
    first_look=0.06,
    steady=0.003,
    started=1_700_000_000.0,
    versions={"python": "3.11.7", "torch": "2.7.0"},
    losses=LOSSES,
    times=(
        TimeShare(part="data", seconds=0.0312, share=0.6),
        TimeShare(part="forward", seconds=0.0091, share=0.15),
        TimeShare(part="backward", seconds=0.0104, share=0.2),
        TimeShare(part="optimizer", seconds=0.0026, share=0.05),
    ),
    models=("net: MLP, 85,002 parameters (85,002 trainable)",),
    optimizers=("Adam, lr 0.001, 6 tensors",),
    notices=("the probe memory failed and was detached at step 3: RuntimeError: no device",),
    source={"train.py:41": "loss = F.cross_entropy(net(x), y)"},
)

ABSTAINED = (
    Abstention(code="PM306", reason="no DataLoader is used"),
    Abstention(code="PM307", reason="only 3 steps; 20 are needed"),
    Abstention(code="PM701", reason="no DataLoader is used"),
)
CRASH = Crash(
    code="PM999",
    error="KeyError: 'shape'",
    traceback="Traceback (most recent call last):\n  File \"rule.py\", line 3, in check\nKeyError: 'shape'\n",
)

SICK = Diagnosis(
    verdict="sick",
    findings=(SOFTMAX, STUCK, CLIP, note(6)),
    clear=("PM101", "PM402", "PM601"),
    abstained=ABSTAINED,
    crashed=(CRASH,),
    run=RUN,
)
HEALTHY = Diagnosis(
    verdict="healthy",
    findings=(),
    clear=tuple(f"PM{code}" for code in range(401, 439)),
    abstained=ABSTAINED,
    crashed=(),
    run=RunFacts(
        id="train-8", record=".paramedic/runs/train-8", steps=120, exit_code=0, overhead=0.0001, first_look=0.9
    ),
)
INCONCLUSIVE = Diagnosis(
    verdict="inconclusive",
    reason="no optimizer step was seen",
    findings=(),
    clear=("PM401",),
    abstained=ABSTAINED,
    crashed=(),
    run=RunFacts(id="train-9", record=".paramedic/runs/train-9", exit_code=0),
)


@rule("PM502", "softmax-before-cross-entropy", severity="error", needs=[LossCall])
def softmax_rule(run: object, *, tolerance: float = 1e-3, reductions: tuple[str, ...] = ("mean",)) -> Iterator[Finding]:
    """Probabilities reach a loss that expects logits.

    ## Why it hurts

    `F.cross_entropy` applies log-softmax itself. Given probabilities, it squeezes them a second time: the gradient
    shrinks and the loss can't reach zero.

    ## What to try first

    - return the output of the last `Linear` layer, without softmax
    - for probabilities at inference, call `softmax(dim=1)` there:

    ```python
    probabilities = model(x).softmax(dim=1)
    ```

    ## When this is wrong

    Rows that sum to 1 by accident <script>alert(1)</script>, such as a distillation target used as input.
    """
    yield from ()


@rule("PM207", "loss-not-decreasing", severity="warning", symptom=True)
def stuck_rule(run: object) -> Iterator[Finding]:
    """The training loss | shows no improvement."""
    yield from ()


RULES: tuple[Rule, ...] = (stuck_rule, softmax_rule)
