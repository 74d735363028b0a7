"""Run the user's script in this process, as `python script.py` would, with the watcher waiting for torch."""

from __future__ import annotations

import builtins
import contextlib
import importlib.machinery
import importlib.util
import io
import os
import runpy
import shutil
import signal
import sys
import threading
import time
import traceback
import types
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import psutil

from paramedic import descriptors, shelf, startup, together, voice
from paramedic.boot import changed_surroundings, load_what_runs_need, tell_children
from paramedic.config import new_run_id
from paramedic.errors import ParamedicError
from paramedic.frozen import dataclass
from paramedic.masking import masked_words
from paramedic.own_code import own_code
from paramedic.paths import check_input
from paramedic.postmortem import children, shell, tracebacks
from paramedic.settings import Settings
from paramedic.startup import RunHandle
from paramedic.torch_import import when_torch_is_imported

if TYPE_CHECKING:
    from paramedic.capture.attach import Attachment


LAUNCHERS = ("torch", "accelerate", "deepspeed")  # packages run with -m that start the user's script, and are not it


@contextlib.contextmanager
def _no_record_of_a_refusal(attachments: list[Attachment], folder: Path) -> Iterator[None]:
    """A run that never began is not listed; torch may have been imported, and its record begun."""
    try:
        yield
    except ParamedicError:
        for attachment in attachments:
            attachment.watcher.writer.close()
        shutil.rmtree(folder, ignore_errors=True)
        raise


@dataclass(frozen=True, slots=True, kw_only=True)
class Target:
    """What to run: a script, or a module as with `python -m`."""

    name: str
    args: tuple[str, ...]
    is_module: bool = False

    @property
    def command(self) -> str:
        """As one would type it; secrets among the arguments are masked, for this is written down."""
        return " ".join(["python", *(["-m"] if self.is_module else []), self.name, *masked_words(self.args)])


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """How the script ended."""

    exit_code: int
    folder: Path
    torch_seen: bool
    refused: bool = False  # torch was imported, but the run could not be watched
    record_failed: str | None = None  # why the record could not be written to its end
    interrupted: bool = False
    loaders: tuple[Any, ...] = ()  # what the script has built, where an audit was asked for


def launch(target: Target, *, runs: Path, settings: Settings, name: str | None = None) -> Outcome:
    """Run the target to its end. Never raises what the script raises; returns what python would have returned."""
    check(target)
    folder = runs.absolute() / (new_run_id() if name is None else name)
    meta = {"script": target.name, "command": target.command, "cwd": os.getcwd()}
    attachments: list[Attachment] = []
    attempts: list[bool] = []
    process = os.getpid()

    def attach() -> None:
        began = time.perf_counter()
        with shelf.ours():
            load_what_runs_need()
            from paramedic.capture.attach import attach as attach_here
            from paramedic.program import where

            where.start_from(meta["cwd"])
            if target.is_module and target.name.partition(".")[0] not in LAUNCHERS:
                where.claim(_package_folder(target.name))
            changed, record = changed_surroundings(settings, folder), together.record_name()
            attachments.append(attach_here(folder, name=record, meta=meta, settings=settings, surroundings=changed))
            tracebacks.offer(main=False)  # what ends the main thread is shown below
        attachments[-1].around = before + time.perf_counter() - began

    descriptors.fill_gaps()
    descriptors.spare()
    voice.keep()
    children.install()
    passed_on = replace(settings, notify=None).as_dict()
    tell_children(folder, {"script": target.name, "command": target.command, "settings": passed_on})
    before = _age()  # seconds until the script begins, but for what is called next
    when_torch_is_imported(lambda: attempts.append(_harmless(attach)))
    with shelf.theirs():
        if settings.startup is not None:
            with _no_record_of_a_refusal(attachments, folder):
                startup.call(settings.startup, RunHandle(folder=folder, script=target.name, command=target.command))
        code, error, interrupted = _run(target, pdb=settings.pdb)
        if os.getpid() != process:
            sys.exit(code)  # a fork of the script: it is not for this process to report
        _wait_for_threads()
    for attachment in attachments:
        ended = time.perf_counter()
        attachment.watcher.writer.set_meta(exit_code=code, **own_code(meta["cwd"], target.name))
        attachment.around += time.perf_counter() - ended
        attachment.finish(error)
    if error is not None:
        tracebacks.release(error)
    return Outcome(
        exit_code=code,
        folder=folder,
        torch_seen=bool(attachments) or folder.exists(),
        refused=False in attempts,
        record_failed=attachments[0].watcher.writer.failed if attachments else None,
        interrupted=interrupted,
        loaders=tuple(built for attachment in attachments for built in attachment.known.loaders.known.built()),
    )


def _age() -> float:
    """Seconds since this process was started."""
    return max(0.0, time.time() - psutil.Process().create_time())


def _harmless(attach: Callable[[], None]) -> bool:
    try:
        attach()
    except Exception as error:
        voice.say(
            f"paramedic: cannot watch this run ({type(error).__name__}: {error}). The script continues unwatched."
        )
        return False
    return True


def check(target: Target) -> None:
    if target.is_module:
        return
    if not target.name:
        raise ParamedicError("the script's name is empty", expected="a path", fix="paramedic run path/to/train.py")
    usage = "paramedic run path/to/train.py, or paramedic run -m package.module"
    check_input(Path(target.name), what="script", fix=usage)


def _package_folder(module: str) -> str:
    spec = importlib.util.find_spec(module.partition(".")[0])
    origin = spec.origin if spec is not None else None
    return os.path.dirname(origin) if origin else os.getcwd()


def _run(target: Target, *, pdb: bool) -> tuple[int, BaseException | None, bool]:
    """Execute the target; returns exit code, the exception that ended it, and whether that was Ctrl-C."""
    sys.argv = [target.name, *target.args]
    sys.excepthook = sys.__excepthook__  # the command line library has put its own there
    try:
        if target.is_module:
            _set_path(os.getcwd())
            if not _module_exists(target.name):
                _say_as_python(f"{sys.executable}: No module named {target.name}")
                return 1, None, False
            runpy.run_module(target.name, run_name="__main__", alter_sys=True)
        elif Path(target.name).is_file():
            _set_path(os.path.dirname(os.path.realpath(target.name)))
            _run_file(target.name)
        elif os.path.isfile(main := os.path.join(os.path.abspath(target.name), "__main__.py")):
            _set_path(os.path.abspath(target.name))
            _run_file(main, folder=True)
        else:
            runpy.run_path(target.name, run_name="__main__")
    except SystemExit as exit:
        return _exit_code(exit), None, False
    except KeyboardInterrupt as interrupt:
        _show(interrupt)
        return 130, None, True
    except BaseException as error:
        _show(error, pdb=pdb)
        return 1, error, False
    return 0, None, False


def _set_path(first: str) -> None:
    # The first entry is paramedic's own: the folder of its executable, or the working directory with -m.
    if sys.flags.safe_path:
        return
    sys.path[0] = first
    shelf.make_room(first)


def _run_file(name: str, *, folder: bool = False) -> None:
    path = os.path.join(os.getcwd(), name)  # as python does it: ./train.py stays /folder/./train.py
    with io.open_code(path) as stream:
        source = stream.read()
    module = types.ModuleType("__main__")
    module.__dict__.update(
        __file__=path,
        __builtins__=builtins,
        __loader__=importlib.machinery.SourceFileLoader("__main__", path),
        __spec__=importlib.util.spec_from_file_location("__main__", path) if folder else None,
        __package__="" if folder else None,
        __cached__=None,
        __annotations__={},
    )
    sys.modules["__main__"] = module
    exec(compile(source, path, "exec", dont_inherit=True), module.__dict__)


def _exit_code(exit: SystemExit) -> int:
    if exit.code is None:
        return 0
    if isinstance(exit.code, int):
        return exit.code & 0xFF
    _say_as_python(exit.code)
    return 1


def _say_as_python(words: object) -> None:
    if sys.stderr is not None:
        print(words, file=sys.stderr)


def _show(error: BaseException, *, pdb: bool = False) -> None:
    """The traceback as python shows it, without frames of ours; then the values behind it."""
    tracebacks.drop_our_frames(error)
    with contextlib.suppress(Exception):
        sys.stdout.flush()
    pythons_own = sys.excepthook is sys.__excepthook__  # a hook of the script's own has the last word
    with _undisturbed():
        try:
            sys.excepthook(type(error), error, error.__traceback__)
        except Exception:
            if sys.stderr is not None:
                traceback.print_exception(error)
        if pythons_own and not isinstance(error, KeyboardInterrupt):
            tracebacks.show(error)
    if pdb and not isinstance(error, KeyboardInterrupt):
        shell.debug(error)


@contextlib.contextmanager
def _undisturbed() -> Iterator[None]:
    """A DataLoader raises when a worker dies, wherever python is just then: not in the middle of a traceback."""
    in_main = threading.current_thread() is threading.main_thread() and hasattr(signal, "SIGCHLD")
    if not in_main or not callable(signal.getsignal(signal.SIGCHLD)):
        yield
        return
    handler = signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    try:
        yield
    finally:
        signal.signal(signal.SIGCHLD, handler)


def _module_exists(name: str) -> bool:
    try:
        return importlib.util.find_spec(name) is not None
    except (ModuleNotFoundError, ValueError):
        return False


def _wait_for_threads() -> None:
    """Python waits for the script's own threads before it exits, and so do we."""
    pools = sys.modules.get("concurrent.futures.thread")
    if pools is not None:
        pools._python_exit()  # as python does: workers of a pool finish their work, and only then do they end
    for thread in threading.enumerate():
        if thread is not threading.main_thread() and not thread.daemon:
            thread.join()
