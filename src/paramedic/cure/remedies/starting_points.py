"""PM211, PM301, PM105: weights that start apart, inputs of a usual size. A judgement: the run decides."""

from __future__ import annotations

from collections.abc import Iterator

from paramedic.cure.edit import Edit
from paramedic.cure.remedy import remedy
from paramedic.cure.source import Source
from paramedic.findings import Finding

PIXELS = 255.0


@remedy("PM211", safety="unsafe")
def random_weights(finding: Finding, source: Source) -> Iterator[Edit]:
    """Weights that are all alike are drawn at random."""
    for call in source.calls_at(finding.where.line, ("constant_", "zeros_", "ones_")):
        before, dot, _ = source.code(call.func).rpartition(".")
        if call.args:
            new = f"{before}{dot}xavier_uniform_({source.code(call.args[0].value)})"
            yield source.edit("draw the weights at random", source.replace(call, new))
    for call in source.calls_at(finding.where.line, ("zeros", "ones", "full")):
        if call.args and not source.is_method(call):
            arguments = call.args[:1] if source.called(call) == "full" else call.args
            sizes = ", ".join(source.code(argument) for argument in arguments)
            yield source.edit("draw the weights at random", source.replace(call, f"torch.randn({sizes}) * 0.02"))


@remedy("PM301", safety="unsafe")
def small_pixels(finding: Finding, source: Source) -> Iterator[Edit]:
    """Pixels from 0 to 255 become numbers from 0 to 1."""
    facts = {fact.name: fact.value for fact in finding.evidence}
    most = facts.get("max")
    if not isinstance(most, int | float) or not 1.5 < most <= PIXELS:
        return
    for call in source.calls_at(finding.where.line, ("astype", "float", "from_numpy", "tensor")):
        yield source.edit("divide the pixels by 255", source.replace(call, f"{source.code(call)} / 255"))


@remedy("PM105", safety="unsafe")
def numbers_only(finding: Finding, source: Source) -> Iterator[Edit]:
    """Values that are missing count as 0."""
    for call in source.calls_at(finding.where.line, ("from_numpy", "tensor", "as_tensor")):
        yield source.edit(
            "put 0 where a value is missing", source.replace(call, f"torch.nan_to_num({source.code(call)})")
        )
