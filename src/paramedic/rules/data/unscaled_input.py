"""PM301."""

import math
from collections.abc import Iterator

from paramedic.record.facts import Input, Loader, ModuleCall, TrainForward
from paramedic.record.site import Site
from paramedic.rules import Abstain, Evidence, Finding, Run, rule
from paramedic.rules.outcome import outcome
from paramedic.rules.support import at


@rule("PM301", "unscaled-input", severity="warning", needs=[Input], causes=["PM2", "PM512"])
def check(run: Run, *, pixels: float = 50.0, deviation: float = 100.0, failing: float = 20.0) -> Iterator[Finding]:
    """The first layer gets inputs on a scale that networks do not handle well.

    Measured where it matters, at the first layer with weights: scaling inside the model or the loop counts.

    ## Why it hurts
    The first outputs are hundreds of times too large: units saturate or die, the learning rate that suits one feature
    is far off for the next, and the loss starts huge or is stuck.

    ## What to try first
    Images: divide by 255 (`ToTensor` only does that for uint8 arrays). Tables: subtract the mean of each column and
    divide by its standard deviation, both of the training part.

    ## When this is wrong
    When a norm layer comes right behind the first layer nothing is reported. Otherwise large inputs can be harmless if
    the weights are initialised for them.

    ## Options
    `pixels`: the largest value of an image that is still fine; `deviation`: the largest standard deviation of a column;
    `failing`: the largest standard deviation of any input, when nothing is learnt.
    """
    for event in run.facts(Input, phase="train"):
        if event.samples < 16 or _normalised_next(run, event):
            continue
        finding = _image(event, pixels) if event.class_.startswith("Conv") else _table(event, deviation)
        finding = finding or _narrow(run, event)
        if finding is None and event.std > failing and _fails(run):
            finding = _large(event)
        if finding is not None:
            what, why, remedy = finding
            yield Finding(
                what=what,
                why=why,
                remedy=remedy,
                where=at(event, _reader(run)),
                evidence=(
                    Evidence(name="min", value=event.min),
                    Evidence(name="max", value=event.max, limit=f"≤ {pixels:g}"),
                    Evidence(name="std", value=event.std, limit="about 1"),
                ),
                confidence=0.88,
            )
            return


def _image(event: Input, pixels: float) -> tuple[str, str, str] | None:
    if event.class_ != "Conv2d" or event.features not in (1, 3, 4):
        return None
    spans = f"the images that reach {event.module} go from {event.min:.4g} to {event.max:.4g}"
    raw = event.min >= 0 and event.whole_numbers == 1.0 and event.max <= 255
    # Pixels that only had a mean subtracted, as models of old want them, go far below zero as well.
    if event.max > pixels and (raw or (event.features == 3 and event.min > -10)):
        if raw:
            return spans, "these are raw pixels of 0 to 255", "divide by 255, and normalise if the model expects it"
        shifted = "0 to 255 was probably normalised with the mean and deviation of images from 0 to 1"
        return f"{spans} (deviation {event.std:.3g})", shifted, "divide by 255 before the images are normalised"
    if event.min >= 0 and 0 < event.max <= 1.01 / 255 and event.features in (1, 3):
        return spans, "images from 0 to 1 were divided by 255 a second time", "scale only once"
    return None


def _narrow(run: Run, event: Input) -> tuple[str, str, str] | None:
    """Images that hardly differ, far from zero. A single channel may be some other measurement."""
    spread, offset = event.largest_feature_std, event.largest_feature_mean
    if event.class_ != "Conv2d" or event.features not in (1, 3, 4) or not 0 < 50 * spread < offset:
        return None
    if spread > 0.02 or (event.features == 1 and not _fails(run)):
        return None
    return (
        f"the images that reach {event.module} go from {event.min:.4g} to {event.max:.4g}, "
        f"and a channel's standard deviation is at most {spread:.2g}",
        "images from 0 to 1 were probably normalised with the mean and deviation of images from 0 to 255",
        "take the mean and deviation of images from 0 to 1, or scale the images back first",
    )


def _table(event: Input, deviation: float) -> tuple[str, str, str] | None:
    largest, median = event.largest_feature_std, event.median_feature_std
    if event.class_ != "Linear" or len(event.shape) != 2 or not deviation <= largest < math.inf:
        return None  # a deviation that is not finite has a cause of its own: PM105, PM102
    uneven = f", {largest / median:,.0f} times that of the median column" if median and largest > 10 * median else ""
    return (
        f"a column of the input of {event.module} has a standard deviation of {largest:,.4g}{uneven}",
        "features on such a scale dominate the others and make the first layer's gradients huge",
        "standardise each column: (x - mean) / std, with the statistics of the training part",
    )


def _fails(run: Run) -> bool:
    try:
        return outcome(run).bad
    except Abstain:
        return False


def _large(event: Input) -> tuple[str, str, str]:
    return (
        f"the input of {event.module} goes from {event.min:.4g} to {event.max:.4g} "
        f"(deviation {event.std:.3g}), and nothing is learnt",
        "the first outputs, and so the first gradients, are too large by the same factor",
        "scale it to a deviation of about 1: (x - mean) / std, with the statistics of the training part",
    )


def _normalised_next(run: Run, event: Input) -> bool:
    """Whether the layer right behind the first one is a norm, which takes any scale away."""
    calls = [c for c in run.facts(ModuleCall) if c.grad and (c.module or "").split(".")[0] == _root(event)]
    order = sorted(calls, key=lambda call: call.order)
    names = [call.module for call in order]
    if event.module not in names:
        return False
    after = order[names.index(event.module) + 1 : names.index(event.module) + 2]
    return bool(after) and "Norm" in after[0].class_


def _root(event: Input) -> str:
    return (event.module or "").split(".")[0]


def _reader(run: Run) -> Site | None:
    """The dataset's own code, where the repair belongs, when there is exactly one that was trained from."""
    used = {event.loader for event in run.facts(TrainForward)}
    readers = [loader.reader for loader in run.facts(Loader) if loader.number in used]
    return readers[0] if len(readers) == 1 else None
