"""Get the watcher into a process at the moment it imports torch: the launched one, and the ones it starts."""

from __future__ import annotations

import contextlib
import importlib
import json
import os
import pkgutil
import sys
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from paramedic import shelf, voice
from paramedic.patching import for_good
from paramedic.settings import LOGGING_VARIABLE, Settings
from paramedic.torch_import import OnTorchImport, when_torch_is_imported

if TYPE_CHECKING:
    from paramedic.capture.attach import Attachment
    from paramedic.capture.endings import Surroundings

CHILD_VARIABLE = "PARAMEDIC_CHILD"


def tell_children(folder: Path, options: dict[str, Any]) -> None:
    """Processes started from here find this in their environment and attach themselves."""
    os.environ[CHILD_VARIABLE] = json.dumps({"folder": str(folder.resolve()), "parent": os.getpid(), **options})


def attach_child() -> None:
    """Called at the start of every Python that inherited one of our variables (through paramedic.pth)."""
    if LOGGING_VARIABLE in os.environ and "--multiprocessing-fork" in sys.orig_argv:
        from paramedic.logbook import setup_child

        setup_child()  # only where it trains along: other programs set up their own logging
    try:
        order = json.loads(os.environ[CHILD_VARIABLE])
    except (KeyError, ValueError):
        return
    if order.get("parent") == os.getpid():
        return
    if any(isinstance(finder, OnTorchImport) for finder in sys.meta_path):
        return  # python reads the same folder twice where lib64 is a link to lib
    shelf.make_room(shelf.script_folder(sys.orig_argv))  # Python will look there first, and has not begun to
    if any("multiprocessing" in word for word in sys.orig_argv):
        _show_values()

    def attach() -> None:
        try:
            _attach(order)
        except Exception as error:  # never a reason for a child to fail
            voice.say(f"paramedic: could not watch process {os.getpid()}: {error}")

    when_torch_is_imported(attach)


def load_what_runs_need() -> None:
    """Where names are taken, nothing of ours may be imported while the script runs."""
    if shelf.is_needed():
        for package in ("program", "bundle", "contracts", "postmortem", "record", "capture", "capture.stats"):
            found = importlib.import_module(f"paramedic.{package}")
            for module in pkgutil.iter_modules(found.__path__, prefix=f"{found.__name__}."):
                with contextlib.suppress(ImportError):  # what is for accelerators only
                    importlib.import_module(module.name)
        for name, part in list(sys.modules.items()):
            if name.startswith("psutil.") and hasattr(part, "get_procfs_path"):
                for_good(part, "get_procfs_path", lambda: "/proc")
                # psutil looks itself up by its name, which may be the script's


def _show_values() -> None:
    """In a process that multiprocessing has started, or that will fork such processes."""
    try:
        from paramedic.postmortem import children

        children.install()
    except Exception as error:
        voice.say(f"paramedic: exceptions of process {os.getpid()} will be shown without values: {error}")


def changed_surroundings(settings: Settings, folder: Path) -> Surroundings | None:
    """An experiment's change comes first, so that all that is recorded is what the script really gets."""
    if settings.intervention is None:
        return None
    from paramedic.interventions import install

    return install(settings.intervention, folder)


def _belongs_to_the_training() -> bool:
    """Ranks and multiprocessing children train along with their parent; a script started as its own job does not."""
    return "RANK" in os.environ or "--multiprocessing-fork" in sys.argv


def _attach(order: dict[str, Any]) -> None:
    with shelf.ours():
        load_what_runs_need()
        import atexit

        from paramedic.capture.attach import attach
        from paramedic.capture.probe import all_probes
        from paramedic.postmortem import tracebacks

        all_probes()  # imported here, where nothing of the script's has our names
        settings = Settings.from_dict(order.get("settings", {}))
        surroundings = changed_surroundings(settings, Path(order["folder"]))
    tracebacks.offer(main=True)
    _show_values()
    name = f"rank{os.environ['RANK']}" if "RANK" in os.environ else f"p{os.getpid()}"
    attachment: Attachment = attach(
        Path(order["folder"]),
        name=name,
        meta={"script": order.get("script", ""), "command": order.get("command", "")},
        settings=settings if _belongs_to_the_training() else replace(settings, stop_after=None),
        eager=False,
        surroundings=surroundings,
    )
    atexit.register(attachment.finish)
