"""Where every thread of this process is right now, with the values its lines use."""

from __future__ import annotations

import contextlib
import sys
import threading

from paramedic.postmortem.circumstances import add_now
from paramedic.postmortem.frames import of_thread, spots
from paramedic.postmortem.page import Page

MOST_FRAMES = 5


def all_threads() -> str:
    """The threads that run code of the user, each with its values; accelerators are not touched."""
    page = Page()
    idle = 0
    with _accelerators_spared():
        for thread in sorted(threading.enumerate(), key=lambda thread: thread is not threading.main_thread()):
            if thread.name.startswith("paramedic-") or thread.ident is None:
                continue
            frames = of_thread(thread.ident)
            found = spots(frames, most=MOST_FRAMES)
            if found:
                page.spots(found, title=f"thread {thread.name}", again=True)
            else:
                idle += 1
        add_now(page)
    if idle:
        page.label("besides", f"{idle} thread{'s' if idle > 1 else ''} without code of yours")
    return page.render("the run", ending="is now")


def _accelerators_spared() -> contextlib.AbstractContextManager[None]:
    if "torch" not in sys.modules:
        return contextlib.nullcontext()
    from paramedic.postmortem.tensors import accelerators_spared

    return accelerators_spared()
