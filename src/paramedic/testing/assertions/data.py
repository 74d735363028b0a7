"""`assert_data_ok`: the audit of a data set as an assertion."""

from __future__ import annotations

from collections.abc import Sequence

from paramedic.testing.failure import CheckFailed, cause_of
from paramedic.testing.restore import restored


def assert_data_ok(
    train: object,
    val: object = None,
    *,
    select: Sequence[str] = (),
    ignore: Sequence[str] = (),
    label: str | None = None,
) -> None:
    """No error and no warning in an audit of this loader, data set, or pair of tensors (see `paramedic.audit`)."""
    __tracebackhide__ = True
    from paramedic.auditing import audit

    with restored():
        alarms = audit(train, val, select=select, ignore=ignore, label=label).diagnosis.alarms
    if alarms:
        words = "1 thing is" if len(alarms) == 1 else f"{len(alarms)} things are"
        raise CheckFailed("assert_data_ok", f"{words} wrong with the data", [cause_of(finding) for finding in alarms])
