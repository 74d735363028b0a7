"""`assert_quality`: a metric may not become worse than its stored band, which several seeds have drawn."""

from __future__ import annotations

import json
import statistics
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import cast

from paramedic.aliases import Fields
from paramedic.errors import ParamedicError
from paramedic.testing import updating
from paramedic.testing.failure import Cause, CheckFailed
from paramedic.testing.restore import restored

RARE = 0.005  # how often an unchanged program may fail


def assert_quality(
    metric: Callable[[int], float],
    baseline: str | Path | Sequence[float],
    *,
    runs: int = 5,
    higher_is_better: bool = True,
) -> None:
    """`metric(seed)` trains and returns a number; it must lie within what chance gives, or be better.

    `baseline` is the name of a stored reference, or its values. `pytest --paramedic-update` measures `runs` seeds and
    stores them; afterwards one new seed is measured and compared with the band of those.
    """
    __tracebackhide__ = True
    path = (
        None
        if isinstance(baseline, Sequence) and not isinstance(baseline, str)
        else updating.reference_file(str(baseline))
    )
    if path is not None and updating.wanted():
        values = [_measure(metric, seed) for seed in range(runs)]
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps({"values": values, "higher_is_better": higher_is_better}, indent=1) + "\n")
        return
    known = _known(path) if path is not None else [float(value) for value in cast(Sequence[float], baseline)]
    if len(known) < 3:
        raise ParamedicError(f"the baseline has {len(known)} values", expected="3 or more, one per seed", fix="runs=5")
    value = _measure(metric, len(known))
    edge = band(known, higher_is_better)
    if not (value >= edge if higher_is_better else value <= edge):
        mean, spread = statistics.mean(known), statistics.stdev(known)
        cause = Cause(
            code="PM904",
            what=f"{len(known)} seeds gave {mean:.4g} ± {spread:.2g}; the limit is {edge:.4g}",
            remedy="find the change that did it (git bisect run pytest …); if it is meant, pytest --paramedic-update",
        )
        raise CheckFailed("assert_quality", f"the metric is {value:.4g}", [cause])


def band(values: Sequence[float], higher_is_better: bool) -> float:
    """The worst value that one more run of the same program may have: the edge of a prediction interval."""
    from scipy.stats import t

    count = len(values)
    spread = statistics.stdev(values) * (1 + 1 / count) ** 0.5
    reach = float(t.ppf(1 - RARE, count - 1)) * max(spread, 1e-9 * max(abs(v) for v in values))
    return statistics.mean(values) - reach if higher_is_better else statistics.mean(values) + reach


def _measure(metric: Callable[[int], float], seed: int) -> float:
    with restored(seed=seed):
        return float(metric(seed))


def _known(path: Path) -> list[float]:
    if not path.exists():
        raise ParamedicError(
            f"there is no baseline {path}", expected="one that was stored before", fix="pytest --paramedic-update"
        )
    stored: Fields = json.loads(path.read_text())
    return [float(value) for value in stored["values"]]
