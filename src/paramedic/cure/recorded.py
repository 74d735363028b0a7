"""An earlier run to begin with: whether its record is one of this very program, and what was found in it.

A record may come from anywhere, so nothing that it names is run: the script and its arguments are the user's words.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from paramedic.aliases import Kwargs
from paramedic.cure.proof import Trial
from paramedic.diagnosis import diagnose
from paramedic.errors import ParamedicError
from paramedic.lab.experiment import Experiment
from paramedic.lab.outcome import measure
from paramedic.launch import Target
from paramedic.past_runs import folders
from paramedic.record.ending import UNDER_WAY, cut_short
from paramedic.record.facts import Audited
from paramedic.record.reader import Run, reading
from paramedic.reports.screen import clean
from paramedic.rules.rule import Rule
from paramedic.settings import Settings


def last_run_of(target: Target, runs: Path, here: Path) -> Path:
    """The newest run of this command in this folder."""
    for folder in reversed(folders(runs)):
        try:
            with reading(folder) as found:
                if (_command(found), found[0].meta.get("cwd")) == (target.command, str(here)):
                    return folder
        except ParamedicError:  # damaged, or of another version: not what is looked for
            continue
    raise ParamedicError(
        f"no run of {target.command} is recorded in {runs}",
        expected="a run of this script with these arguments, started in this folder (paramedic runs lists all)",
        fix=f"paramedic run {_words(target)}; or paramedic cure {_words(target)}, which makes one",
    )


def recorded(folder: Path, target: Target, here: Path, rules: Sequence[Rule], options: Mapping[str, Kwargs]) -> Trial:
    """What is known of that run, if it was one of this program as it is now."""
    with reading(folder) as runs:
        _check_kind(folder, runs, target)
        _check_program(folder, runs, target, here)
        seconds = float(runs[0].meta.get("seconds", 0.0))
    asked = Experiment(name="recorded", changed="nothing", order="", asks="")
    result = measure(asked, folder, "ended", reason="", seconds=seconds, wanted=Settings())
    return Trial(result=result, diagnosis=diagnose(folder, rules, options))


def _check_kind(folder: Path, runs: Sequence[Run], target: Target) -> None:
    """Refuse what is not the finished run of one script."""
    if runs[0].first(Audited) is not None:
        raise _refusal(folder, "is the record of an audit", "the record of a training script", target)
    if cut_short(folder, runs[0]) == UNDER_WAY:
        raise _refusal(folder, "is still under way", "a run that has ended", target)
    ranks = [run for run in runs if run.meta.get("world_size", 1) > 1]
    if len(ranks) == len(runs) > 1:  # else the process that started them has a record, and its command starts them
        raise _refusal(
            folder,
            f"is that of {len(ranks)} ranks, which a launcher had started",
            "a command that starts them, such as paramedic run -m torch.distributed.run …",
            target,
        )


def _check_program(folder: Path, runs: Sequence[Run], target: Target, here: Path) -> None:
    """Refuse the run of another program, or of this one before it was changed."""
    meta = runs[0].meta
    command, place = _command(runs), Path(str(meta.get("cwd", "")))
    if command != target.command:
        raise _refusal(folder, f"is one of {clean(command) or 'a notebook'}", f"a run of {target.command}", target)
    if place != here and not place.is_dir():
        words = f"was started in {clean(str(place))}, a folder of another machine or a copy that is gone"
        raise _refusal(folder, words, f"a run that was started in {here}", target)
    if place != here:
        words = f"was started in {clean(str(place))}"
        raise _refusal(folder, words, f"a run that was started in {here}, or this command in that folder", target)
    changed = _changed(meta, here, target)
    if changed is not None:
        raise _refusal(
            folder, f"is older than the last change of {clean(changed)}", "a run of the code as it is", target
        )


def _changed(meta: Kwargs, here: Path, target: Target) -> str | None:
    """A file that is not as it was. A run that was killed has not kept what it was made of: then its time tells."""
    for file, text in meta.get("code", {}).items():
        try:
            if (here / file).read_text(encoding="utf-8", errors="replace") != text:
                return str(file)
        except OSError:
            return str(file)
    script = here / target.name
    if "code" not in meta and script.is_file() and script.stat().st_mtime > float(meta.get("started", 0.0)):
        return target.name
    return None


def _command(runs: Sequence[Run]) -> str:
    return str(runs[0].meta.get("command", ""))


def _words(target: Target) -> str:
    return target.command.removeprefix("python ")


def _refusal(folder: Path, what: str, expected: str, target: Target) -> ParamedicError:
    return ParamedicError(
        f"run {folder.name} {what}", expected=expected, fix=f"paramedic cure {_words(target)}, which makes a run"
    )
