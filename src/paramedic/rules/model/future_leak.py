"""PM417."""

from collections.abc import Iterator

from paramedic.record.facts import Asked, Forecast, Shift
from paramedic.record.site import Site
from paramedic.rules import Abstain, Evidence, Finding, Run, rule
from paramedic.rules.support import at, why_not
from paramedic.static.program import program
from paramedic.static.triangles import is_causal


@rule("PM417", "future-leak", severity="error", needs=[Asked], lasting=True)
def check(run: Run, *, tolerance: float = 1e-4) -> Iterator[Finding]:
    """A model that predicts the next token, or the next value of a series, can see it.

    The labels are the inputs shifted by one, and in a copy of the model early outputs change when only later inputs are
    changed.

    ## Why it hurts
    The loss falls to almost nothing because the answer is in the input. The model never learns to predict, which shows
    when it has to generate.

    ## What to try first
    A causal mask (`is_causal=True`, or `torch.triu(torch.ones(T, T), 1).bool()` as `attn_mask`); no bidirectional
    recurrent layers, no convolutions with padding on both sides.

    ## When this is wrong
    Models whose labels are not the shifted inputs are not judged: they may look in both directions.

    ## Options
    `tolerance`: relative change of an output that still counts as rounding.
    """
    if not run.facts(Shift) and not run.facts(Forecast):
        raise Abstain("no labels were compared with the sequence they belong to")
    asked = [event for event in run.facts(Asked) if event.future is not None or event.later_numbers is not None]
    if not asked:
        raise Abstain(why_not(run) or "no model with an output for each position of a sequence could be probed")
    shifts = [event.agreement for event in run.facts(Shift)]
    if shifts and all(found["1"] > 0.9 for found in shifts):
        yield from _tokens(run, asked, tolerance)
    forecasts = run.facts(Forecast)
    if len(forecasts) > 1 and all(f.next > 0.95 and f.same < 0.5 for f in forecasts):
        yield from _numbers(asked, tolerance)


def _tokens(run: Run, asked: list[Asked], tolerance: float) -> Iterator[Finding]:
    for event in asked:
        change = event.future
        if change is not None and change > tolerance:
            mask, seen = _wrong_mask(run, event), at(event, event.future_at)
            yield Finding(
                what=f"{event.module} predicts the next token, but its outputs change by {change:.1%} when "
                "only later tokens are changed" + (f", from line {seen.line} on" if mask else ""),
                why="information flows backwards in time: the model can see the token it should predict",
                remedy="correct this mask: torch.triu(torch.ones(T, T), diagonal=1).bool() is True for positions to "
                "ignore"
                if mask
                else "mask the future: is_causal=True or a tgt_mask in attention, no bidirectional layers",
                where=at(event, mask) if mask else seen,
                evidence=(Evidence(name="change", value=round(change, 5), limit="0"),),
                confidence=0.95,
            )
            return


def _numbers(asked: list[Asked], tolerance: float) -> Iterator[Finding]:
    for event in asked:
        change = event.later_numbers
        if change is not None and change > tolerance:
            yield Finding(
                what=f"{event.module} predicts the next value of a series, but its outputs change by {change:.1%} "
                "when only later values are changed",
                why="information flows backwards in time: the model can see the value it should predict",
                remedy="pad a convolution on the left only, F.pad(x, (pad, 0)); a causal mask in attention; no "
                "bidirectional layers",
                where=at(event, event.later_numbers_at),
                evidence=(Evidence(name="change", value=round(change, 5), limit="0"),),
                confidence=0.95,
            )
            return


def _wrong_mask(run: Run, event: Asked) -> Site | None:
    """The attention mask, unless its line shows that it is right: then something after it mixes positions."""
    mask = event.future_mask
    scope = program(run).scope(mask.file, mask.line) if mask is not None else None
    return None if scope is not None and mask is not None and is_causal(scope, mask.line or 0) else mask
