"""The exception that ended the script."""

from __future__ import annotations

from paramedic.capture import moments
from paramedic.capture.bus import on
from paramedic.capture.failures import exit_codes, raised_at
from paramedic.capture.probe import probe
from paramedic.capture.watcher import Watcher
from paramedic.errors import message_of
from paramedic.masking import masked_text
from paramedic.record import facts


@probe("exception", states=[facts.Ended])
class Ended:
    """Tells which one it was, and which module was running."""

    def __init__(self, watcher: Watcher) -> None:
        self.watcher = watcher

    @on(moments.run_failed, moments.about_to_fail)
    def failed(self, error: BaseException) -> None:
        text = message_of(error).strip().splitlines()
        ended = facts.Ended(
            type=type(error).__name__,
            message=masked_text((text[0] if text else "")[:500]),
            cause=masked_text(message_of(error.__cause__ or Exception())[:200]),
            exit_codes=exit_codes(error),
        )
        self.watcher.state(ended, site=raised_at(error), module=self.watcher.known.calls.inside())
