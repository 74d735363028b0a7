"""Whether a call stands in the source at all."""

import pytest

from paramedic.capture.code.written import calls_method

BUILT = "scheduler = StepLR(\n    optimizer, 1\n)\n"


@pytest.mark.parametrize(
    ("source", "line", "expected"),
    [
        (BUILT + "if worse:\n    scheduler.step()\n", 2, True),
        (BUILT + "optimizer.step()\n", 1, False),
        (BUILT + "other_scheduler.step()\n", 1, False),
        ("self.plan = StepLR(o, 1)\nself.plan.step()\n", 1, True),
        ("o, plan = Adam(p), StepLR(o, 1)\nplan.step()\n", 1, True),
        ("def make():\n    return StepLR(o, 1)\ndef fit(lr_sched):\n    lr_sched.step()\n", 2, True),
        ("def make():\n    return StepLR(o, 1)\no.step()\n", 2, False),
        ("not python (", 1, False),
    ],
)
def test_step_is_called_somewhere(source: str, line: int, expected: bool) -> None:
    assert calls_method(source, line, "step", "sched") is expected
