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


def shown(value: object, most: int = 80) -> str:
    """A value of the user's in a message: as python writes it, cut where it gets long."""
    try:
        text = repr(value)
    except (RecursionError, ValueError):  # nested too deeply; an integer of too many digits
        return f"a {type(value).__name__} too large to show"
    return text if len(text) <= most else f"{text[: most - 1]}…"


def message_of(error: BaseException) -> str:
    """What an exception says; one of the user's own making may fail to say it."""
    try:
        return str(error)
    except Exception:
        return ""
