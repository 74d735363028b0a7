"""A small process beside the run: it tells of the run's death and collects its stacks.

It has no torch, is no child of the run (the script may wait for its own children), and ends with it.
"""

from __future__ import annotations

import contextlib
import json
import os
import select
import shlex
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

from paramedic import notify
from paramedic.findings import Finding
from paramedic.findings.words import shortest
from paramedic.paths import ENDED_BY, open_private, write_private
from paramedic.postmortem import following, kernel, lookout, stacks
from paramedic.postmortem.blackbox import Reader, State
from paramedic.postmortem.places import (
    ENDINGS,
    answer_file,
    box_file,
    crash_file,
    ending_file,
    request_file,
    size_of,
    stacks_file,
    text_of,
    tidy,
)  # fmt: skip
from paramedic.reports.screen import clean, speaks_unicode

POLL = 0.25  # seconds
JUST_NOW = 5.0  # seconds between a signal and the end of the process
PATIENCE = 3.0  # seconds that the interpreter has to answer


class Attendant:
    """Watches one process."""

    def __init__(self, folder: Path, pid: int, speak: int) -> None:
        self.folder, self.pid, self.speak = folder, pid, speak
        self.box = Reader(box_file(folder, pid))
        self.process = os.pidfd_open(pid)
        self.killed_before = kernel.out_of_memory_kills()
        self.notified = os.environ.get(notify.VARIABLE)  # who is to be told of the first alarm, and of the end
        self.alarmed = False
        self.read = 0  # bytes of the stacks file that have been told

    def attend(self) -> None:
        waiting = select.poll()
        waiting.register(self.process, select.POLLIN)
        waiting.register(self.speak, select.POLLHUP)
        while not waiting.poll(POLL * 1000):
            with contextlib.suppress(OSError):
                self._look()
        waiting.unregister(self.speak)
        if not self.box.state().ended:
            waiting.poll()  # the process has hung up, and is about to be gone
        state = self.box.state()
        if not state.ended:
            self._died(state)
            tidy(self.folder, {self.pid})

    def announce(self, finding: Finding, aloud: bool) -> None:
        if self.box.state().ended:
            return  # the verdict is about to say it
        text = lookout.line(finding)
        if aloud:
            say(clean(text, unicode=speaks_unicode(sys.stderr)) + "\n")
        if self.notified is not None and not self.alarmed:
            notify.send(self.notified, "alarm", text, run=self.folder.name, findings=[finding.code])
        self.alarmed = True

    def _look(self) -> None:
        request = request_file(self.folder, self.pid)
        size = size_of(stacks_file(self.folder, self.pid))
        if request.exists():
            self._keep(self._dump())
            request.unlink(missing_ok=True)
        elif size > self.read:
            time.sleep(POLL)  # it may still be writing
            say(self._keep(self._dump(asked=False)))

    # Death ------------------------------------------------------------------------------------------------------

    def _died(self, state: State) -> None:
        told = text_of(crash_file(self.folder, self.pid))
        cause, threads = stacks.parse(told)
        if cause:
            lines = [f"paramedic: the run has crashed: {cause}", *_last_known(state), ""]
            text = "\n".join([*lines, *stacks.shown(threads, crashed=True)])
        elif kernel.out_of_memory_kills() > self.killed_before:
            lines = ["paramedic: the run was killed, probably by the kernel: memory ran out", *_last_known(state)]
            text = "\n".join([*lines, *kernel.memory_figures()])
        elif (name := self._ended_by()) is not None:
            self._give_verdict(name, state)
            return
        else:
            return  # it left by os._exit, or was killed by somebody: python says nothing then, and neither do we
        path = self.folder / "crash.txt"
        write_private(path, f"{text}\n\n{told}")
        crash_file(self.folder, self.pid).unlink(missing_ok=True)
        say(f"\n{text}\n\n  kept in  {path}\n  verdict  paramedic report {shlex.quote(shortest(str(self.folder)))}\n")

    def _ended_by(self) -> str | None:
        """The signal that has just left its note; a fork that was ended at its very birth may have left one earlier."""
        notes = [(name, ending_file(self.folder, self.pid, name)) for name in ENDINGS]
        written = [(path.stat().st_mtime, name) for name, path in notes if size_of(path)]
        last, name = max(written, default=(0.0, None))
        return name if time.time() - last < JUST_NOW else None

    def _give_verdict(self, name: str, state: State) -> None:
        write_private(self.folder / ENDED_BY, name)
        at = f" at step {state.step:,}" if state.step else ""  # a launcher of ranks takes none
        say(f"\nparamedic: the run was ended by {name}{at}. The verdict so far:\n")
        command = [sys.executable, "-P", "-m", "paramedic", "report", str(self.folder)]
        subprocess.run(command, stdin=subprocess.DEVNULL, stdout=2, check=False)
        if self.notified is not None:
            text = f"paramedic: {self.folder.name} was ended by {name} at step {state.step:,}"
            notify.send(self.notified, "end", text, run=self.folder.name)

    # Stacks -----------------------------------------------------------------------------------------------------

    def _dump(self, *, asked: bool = True) -> str:
        """The process's own answer with values; from native code, where python is stuck, the bare stacks."""
        answer = answer_file(self.folder, self.pid)
        answer.unlink(missing_ok=True)
        with contextlib.suppress(OSError):
            os.write(self.speak, b"d")
        text = ""
        if _wait(answer.exists):
            text = text_of(answer)
            answer.unlink(missing_ok=True)
        elif not asked or self._ask(self.pid):
            _, threads = stacks.parse(text_of(stacks_file(self.folder, self.pid))[self.read :])
            head = "\nparamedic: where the run is now"
            text = "\n".join(
                [
                    head,
                    "  python does not respond: it is busy in native code",
                    *_last_known(self.box.state()),
                    "",
                    *stacks.shown(threads, crashed=False),
                    "",
                ]
            )
        else:
            text = "\nparamedic: the run does not answer, and has SIGUSR1 for itself\n"
        self.read = size_of(stacks_file(self.folder, self.pid))
        return text + self._workers()

    def _ask(self, pid: int) -> bool:
        if (pid == self.pid and not self.box.state().takes_signal) or not kernel.catches(pid, signal.SIGUSR1):
            return False
        path = stacks_file(self.folder, pid)
        before = size_of(path)
        os.kill(pid, signal.SIGUSR1)
        return _wait(lambda: size_of(path) > before)

    def _workers(self) -> str:
        text = ""
        for pid in kernel.descendants(self.pid):
            path = stacks_file(self.folder, pid)
            if path.exists() and self._ask(pid):
                time.sleep(POLL)
                written = text_of(path)
                _, threads = stacks.parse(written[written.rfind("Current thread") - 10_000 :])
                text += "\n".join([f"\nDataLoader worker {pid}", *stacks.shown(threads[:1], crashed=False), ""])
        return text

    def _keep(self, text: str) -> str:
        with open_private(self.folder / "dump.txt", "a", encoding="utf-8") as stream:
            stream.write(text)
        return text


def say(text: str) -> None:
    with contextlib.suppress(OSError, ValueError):
        sys.stderr.write(text)
        sys.stderr.flush()


def _last_known(state: State) -> list[str]:
    lines = [f"  step     {state.step:,}"]
    lines += [f"  module   {state.module}"] if state.module else []
    return lines + ([f"  batch    {state.batch}"] if state.batch else [])


def _wait(true: Callable[[], bool]) -> bool:
    end = time.monotonic() + PATIENCE
    while not true():
        if time.monotonic() > end:
            return False
        time.sleep(0.02)
    return True


def main() -> None:
    folder, pid, speak, *order = sys.argv[1:]
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.SIG_IGN)  # it ends when the run ends
    with contextlib.suppress(OSError):
        attendant = Attendant(Path(folder), int(pid), int(speak))
        if order:
            wanted = json.loads(order[0])
            if wanted["say"] or wanted["notify"]:
                lookout.start(Path(folder), wanted, lambda finding: attendant.announce(finding, wanted["say"]))
            if wanted["tensorboard"]:
                following.start(Path(folder), Path(wanted["tensorboard"]))
        attendant.attend()


if __name__ == "__main__":
    main()
