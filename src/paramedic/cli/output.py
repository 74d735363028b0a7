"""Put a diagnosis where it belongs: the verdict on stderr, files where they were asked for."""

from __future__ import annotations

import importlib
import shutil
from pathlib import Path
from typing import Any, TextIO

from paramedic import voice
from paramedic.errors import ParamedicError
from paramedic.findings import Diagnosis
from paramedic.paths import write_text
from paramedic.reports.screen import knows_links, speaks_unicode, wants_color


def write_verdict(diagnosis: Diagnosis, *, verbose: int, quiet: bool = False, stream: TextIO | None = None) -> None:
    from paramedic.reports.terminal import render

    stream = stream or voice.stream()
    width = min(shutil.get_terminal_size((80, 24)).columns, 100) if stream.isatty() else 80
    text = render(
        diagnosis,
        width=width,
        color=wants_color(stream),
        verbose=-1 if quiet else verbose,
        unicode=speaks_unicode(stream),
        links=knows_links(stream),
    )
    text = text if quiet else f"\n{text}"
    if stream is voice.stream():
        voice.say(text, end="")
    else:
        print(text, file=stream, end="", flush=True)


def write_file(diagnosis: Diagnosis, path: Path | None, kind: str, **more: Any) -> None:
    """Render the diagnosis in this format; to the file, or nowhere when none was asked for."""
    if path is None:
        return
    text = rendered(diagnosis, kind, **more)
    write_text(path, text, fix=f"paramedic report {diagnosis.run.record} --{kind} elsewhere.{kind}")
    voice.say(f"paramedic: wrote {path}")


def rendered(diagnosis: Diagnosis, kind: str, **more: Any) -> str:
    """The report of a run in this format; a page shows what the record holds beside the diagnosis."""
    render = importlib.import_module(f"paramedic.reports.{kind}").render
    if kind == "html":
        from paramedic.reports.pictures import of_audit, of_record

        more["pictures"] = of_record(Path(diagnosis.run.record))
        if diagnosis.run.samples is not None:
            more["data"] = of_audit(Path(diagnosis.run.record))
    return str(render(diagnosis, **more))


def write_event_files(record: Path, folder: Path | None) -> None:
    """TensorBoard's files of this run; nothing when no folder was given for them."""
    if folder is None:
        return
    from paramedic.reports import tensorboard

    try:
        tensorboard.write(record, folder)
    except OSError as error:
        raise ParamedicError(
            f"cannot write into {folder}: {error.strerror}",
            expected="a folder that may be written to",
            fix=f"paramedic report {record} --tensorboard elsewhere",
        ) from None
    voice.say(f"paramedic: wrote event files; look at them with: tensorboard --logdir {folder}")
