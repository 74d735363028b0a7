"""PM503."""

from collections.abc import Iterator

from paramedic.record.facts import LossCall
from paramedic.rules import Evidence, Finding, Run, rule
from paramedic.rules.lines import applied_at
from paramedic.rules.support import measured, train_first


@rule(
    "PM503",
    "sigmoid-before-bce-with-logits",
    severity="error",
    needs=[LossCall],
    causes=["PM512", "PM305"],
    lasting=True,
)
def check(run: Run, *, fewest_values: int = 1000) -> Iterator[Finding]:
    """A sigmoid's output reaches a loss that applies the sigmoid itself.

    ## Why it hurts
    `sigmoid(sigmoid(x))` lies between 0.5 and 0.73. The loss has a high floor, and with a threshold of 0.5 every
    prediction is positive.

    ## What to try first
    Return logits, and apply the sigmoid only for the metric. Or keep the sigmoid and use `nn.BCELoss`, which is less
    stable.

    ## When this is wrong
    If the sigmoid itself was not seen, the rule needs many values, all between 0 and 1, before it reports anything.

    ## Options
    `fewest_values`: fewest values in [0, 1] if the sigmoid itself was not seen.
    """
    calls = measured(run.facts(LossCall), "binary_cross_entropy_with_logits")
    reported = False
    for group in train_first(calls):
        call = next((call for call in group if call.made_at), group[0])
        made = call.made_at
        node = call.input.made_by
        seen = bool(made and made[0] in ("sigmoid", "softmax")) or node in _NODES
        if not seen and node is not None and node not in _BY_HAND:
            continue  # made by something else, a Linear layer for example, that happens to give such values
        low = min(call.numbers.input_min for call in group)
        high = max(call.numbers.input_max for call in group)
        values = sum(call.numbers.input_size for call in group)
        wide = max(call.numbers.input_max - call.numbers.input_min for call in group)  # a constant may drift
        if low < 0 or high > 1 or not (seen or (values >= fewest_values and wide > 0.5)):
            continue
        if made and made[0] not in ("sigmoid", "softmax"):
            continue
        if call.phase == "eval" and reported:
            continue  # the same model, evaluated: one line is enough to edit
        reported = True
        yield Finding(
            what=f"F.binary_cross_entropy_with_logits received {'sigmoid outputs' if seen else 'values'} "
            f"between {low:.3f} and {high:.3f}, never a negative logit ({call.phase} phase)",
            why="the loss applies a sigmoid itself; applied twice, it maps everything to between 0.50 and 0.73",
            remedy="remove the sigmoid before the loss, and keep it for metrics only (or use nn.BCELoss)",
            **applied_at(run, call),
            evidence=(
                Evidence(name="input_min", value=low, limit="logits go below 0"),
                Evidence(name="input_max", value=high, limit="logits go above 1"),
                Evidence(name="values", value=int(values)),
            ),
            confidence=0.98 if seen else 0.85,
        )


_NODES = ("SigmoidBackward0", "SoftmaxBackward0")
_BY_HAND = ("DivBackward0", "ReciprocalBackward0", "MulBackward0", "ClampBackward1", "CompiledFunctionBackward")
