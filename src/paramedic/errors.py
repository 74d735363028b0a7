"""paramedic's own failures, told as: what happened, what was expected, how to fix it."""

from __future__ import annotations


class ParamedicError(Exception):
    """Something the user can put right. Shown as a message, never as a traceback."""

    def __init__(self, what: str, *, expected: str = "", fix: str = "") -> None:
        super().__init__(what)
        self.what = what
        self.expected = expected
        self.fix = fix

    def __str__(self) -> str:
        lines = [f"paramedic: {self.what}"]
        if self.expected:
            lines.append(f"  expected  {self.expected}")
        if self.fix:
            lines.append(f"  try       {self.fix}")
        return "\n".join(lines)


def message_of(error: BaseException) -> str:
    """What an exception says; one of the user's own making may fail to say it."""
    try:
        return str(error)
    except Exception:
        return ""
