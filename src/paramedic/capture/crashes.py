"""Inside the training process: be ready to die with a message, and to say where it is when asked.

Python's faulthandler writes stacks into the run's folder on a fatal signal and on SIGUSR1, even from native code. A
small process beside the run, the attendant, turns that into a message, because a dead process cannot.
"""

from __future__ import annotations

import contextlib
import faulthandler
import json
import os
import signal
import socket
import subprocess
import sys
import threading
from pathlib import Path

from paramedic import descriptors, notify
from paramedic.aliases import Function
from paramedic.capture.watcher import Watcher
from paramedic.paths import append_private, make_private_folder, write_private
from paramedic.postmortem.blackbox import BlackBox
from paramedic.postmortem.kernel import descendants, out_of_memory_kills
from paramedic.postmortem.places import (
    ENDINGS,
    answer_file,
    box_file,
    crash_file,
    ending_file,
    size_of,
    stacks_file,
    tidy,
)
from paramedic.record.last_stacks import stood_file


class Crashes:
    """Everything that has to be in place before something happens."""

    def __init__(self, watcher: Watcher, folder: Path) -> None:
        self.watcher = watcher
        self.folder = folder
        self.box: BlackBox | None = None
        self.killed_before = 0  # processes that the kernel had killed for want of memory when the run began
        self._process = os.getpid()
        self._files: list[int] = []
        self._endings: list[int] = []  # signals that are noted when they end the process
        self._stood: Path | None = None  # the note of a rank that was not prepared from the beginning
        self._ours = False  # faulthandler writes where we told it to
        self._socket: socket.socket | None = None  # to the attendant
        # Process 1 takes all others with it when it dies: there would be nobody left to speak. And who is told of the
        # end of every child would be told of one that is not theirs.
        alone = self._process == 1 or (hasattr(signal, "SIGCHLD") and callable(signal.getsignal(signal.SIGCHLD)))
        self._attended = hasattr(os, "pidfd_open") and bool(sys.executable) and not alone

    def install(self) -> None:
        """Fails silently where the folder cannot be written: the record's writer says so."""
        try:
            make_private_folder(self.folder)
            self.box = BlackBox(box_file(self.folder, self._process))
        except OSError:
            return
        self.killed_before = out_of_memory_kills()
        self._catch()
        self.box.stepped(self.watcher.step)
        self._print_native_stacks()
        if self._attended:
            self._note_endings()
            self._call_attendant()
        self.watcher.gears.on_count = self._stepped

    def in_worker(self, set_torchs_handlers: Function) -> None:
        """In a DataLoader worker, which has signal handlers of torch's: ours come first, then torch's."""
        ours = self._ours or not faulthandler.is_enabled()
        if ours:
            faulthandler.disable()
        set_torchs_handlers()
        if ours and self.folder.is_dir():
            self._files = []
            self._catch()

    def given(self, shapes: list[tuple[str, tuple[int, ...], str]]) -> None:
        """A batch has reached the script."""
        if self.box is not None and os.getpid() == self._process:
            self.box.batch(shapes)

    def entered(self, module: str) -> None:
        """A module is being called; empty when it is no longer known which."""
        if self.box is not None and os.getpid() == self._process:
            self.box.module(module)

    def _catch(self) -> None:
        pid = os.getpid()
        with contextlib.suppress(OSError, RuntimeError, ValueError):
            if not faulthandler.is_enabled():  # the script, or the user by -X faulthandler, has it where they want it
                if self._attended or pid != self._process:
                    faulthandler.enable(self._open(crash_file(self.folder, pid)))
                else:
                    faulthandler.enable()
                self._ours = True
            if hasattr(signal, "SIGUSR1") and signal.getsignal(signal.SIGUSR1) is signal.SIG_DFL:
                # No chaining: what comes next in the chain is the default action, death.
                faulthandler.register(signal.SIGUSR1, self._open(stacks_file(self.folder, pid)), chain=False)
                if self.box is not None:
                    self.box.takes_signal = True

    def _open(self, path: Path) -> int:
        self._files.append(descriptors.keep(append_private(path)))
        return self._files[-1]

    def _print_native_stacks(self) -> None:
        """Torch can print the native stacks of all threads, demangled, on stderr; it then calls faulthandler."""
        import torch

        switch = getattr(torch._C, "_set_print_stack_traces_on_fatal_signal", None)
        if switch is None or not self._ours or threading.current_thread() is not threading.main_thread():
            return
        interrupt = signal.getsignal(signal.SIGINT)
        switch(True)
        if interrupt is not None:
            signal.signal(signal.SIGINT, interrupt)  # for torch Ctrl-C is fatal too; for us it is not

    def _stepped(self, step: int) -> None:
        if self.box is not None:
            if step % 16 == 0 and self.box.takes_signal and signal.getsignal(signal.SIGUSR1) is not signal.SIG_DFL:
                self.box.takes_signal = False  # the script has taken it for itself
            self.box.stepped(step)

    def _note_endings(self) -> None:
        """A signal ends the process as ever, at once and without any code of ours; it leaves a note on its way.

        The process that the run began with gives the verdict then. Others may be ranks: where they stood is read by
        whoever judges them, even if they were held up in native code.
        """
        if threading.current_thread() is not threading.main_thread():
            return
        for name in ENDINGS if self.watcher.writer.path.stem == "main" else ("SIGTERM",):
            number = getattr(signal, name)
            if signal.getsignal(number) is signal.SIG_DFL:
                faulthandler.register(number, self._open(self._note(name)), chain=True)
                self._endings.append(number)

    def _note(self, name: str) -> Path:
        if self.watcher.writer.path.stem == "main":
            return ending_file(self.folder, self._process, name)
        return stood_file(self.folder, self._process)

    def in_rank(self) -> None:
        """This process has joined others. One that multiprocessing has started was not prepared for its end so far."""
        if self._endings or not hasattr(faulthandler, "register"):
            return
        if threading.current_thread() is threading.main_thread() and signal.getsignal(signal.SIGTERM) is signal.SIG_DFL:
            with contextlib.suppress(OSError, RuntimeError, ValueError):
                make_private_folder(self.folder)
                self._stood = stood_file(self.folder, os.getpid())
                faulthandler.register(signal.SIGTERM, self._open(self._stood), chain=True)
                self._endings = [signal.SIGTERM]

    def _leave_rank(self) -> None:
        if self._stood is not None and self._stood.name == stood_file(self.folder, os.getpid()).name:
            self._forget_endings()
            if not size_of(self._stood):
                self._stood.unlink(missing_ok=True)

    def forked(self) -> None:
        """In a fork: its end is not the run's."""
        self._forget_endings()

    def _forget_endings(self) -> None:
        for number in self._endings:
            if signal.getsignal(number) is signal.SIG_DFL:  # else the script has a handler of its own by now
                faulthandler.unregister(number)
        self._endings = []

    # The attendant ----------------------------------------------------------------------------------------------

    def _call_attendant(self) -> None:
        self._socket, other = socket.socketpair()
        descriptors.keep(self._socket.fileno())
        environment = {name: value for name, value in os.environ.items() if name != "PARAMEDIC_CHILD"}
        if self.watcher.settings.notify is not None:
            environment[notify.VARIABLE] = self.watcher.settings.notify
        command = [sys.executable, "-P", "-m", "paramedic.postmortem.attendant"]
        command += [str(self.folder), str(self._process), str(other.fileno()), *self._order()]
        try:
            # The shell is gone at once, and the attendant nobody's child: the script may wait for its own children.
            subprocess.run(
                ["/bin/sh", "-c", '"$@" &', "sh", *command],
                pass_fds=[other.fileno()],
                env=environment,
                start_new_session=True,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                check=False,
            )
        except OSError:
            return
        finally:
            other.close()
        threading.Thread(target=self._listen, name="paramedic-listener", daemon=True).start()

    def _order(self) -> list[str]:
        """What the attendant is to tell at once, if anything: one of several processes speaks for all."""
        settings, writer = self.watcher.settings, self.watcher.writer
        wanted = {"say": settings.announce, "notify": settings.notify is not None, "tensorboard": settings.tensorboard}
        if not any(wanted.values()) or writer.path.stem != "main":
            return []
        order = {**wanted, "cwd": os.getcwd(), "select": settings.select, "ignore": settings.ignore}
        return [json.dumps(order)]

    def _listen(self) -> None:
        with contextlib.suppress(OSError):
            while self._socket is not None and self._socket.recv(1):
                with contextlib.suppress(Exception):
                    self._answer()

    def _answer(self) -> None:
        from paramedic.postmortem.dumps import all_threads

        path = answer_file(self.folder, self._process)
        half = path.with_suffix(".half")
        write_private(half, all_threads())
        half.replace(path)

    def dead_workers(self, errors: list[BaseException]) -> list[tuple[str, str]]:
        """What is known of the DataLoader workers whose death is behind these exceptions, as labels and texts."""
        from paramedic.postmortem.workers import obituaries

        return list(obituaries(self.folder, errors, self.killed_before))

    def finish(self) -> None:
        """Nothing happened: leave no trace."""
        self._leave_rank()
        if self.box is None or os.getpid() != self._process:
            return
        self.box.end()
        if self._ours:
            faulthandler.disable()
        self._forget_endings()
        with contextlib.suppress(OSError, RuntimeError, ValueError):
            if hasattr(signal, "SIGUSR1"):
                faulthandler.unregister(signal.SIGUSR1)
        for file in self._files:
            descriptors.close(file)
        tidy(self.folder, {self._process, *descendants(self._process)})
        if self._socket is not None and not descriptors.is_ours(self._socket.fileno()):
            self._socket.detach()  # the number is somebody else's by now
        elif self._socket is not None:
            descriptors.forget(self._socket.fileno())
            with contextlib.suppress(OSError):
                self._socket.shutdown(socket.SHUT_RDWR)
