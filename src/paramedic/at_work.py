"""The watcher that is at work in this process, for those who can tell or do more where there is one."""

from __future__ import annotations

from typing import Any

_attachments: list[Any] = []  # of capture; the first is the one at work


def current() -> Any:
    """The attachment of this process, or None."""
    return _attachments[0] if _attachments else None


def began(attachment: Any) -> None:
    _attachments.append(attachment)


def ended(attachment: Any) -> bool:
    """Whether it was still at work."""
    if attachment not in _attachments:
        return False
    _attachments.remove(attachment)
    return True
