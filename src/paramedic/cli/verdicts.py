"""What a verdict leaves behind when asked to: files, annotations, a baseline. Shared by run, check and report."""

from __future__ import annotations

from dataclasses import fields, replace
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from paramedic import voice
from paramedic.cli import panels
from paramedic.cli.output import write_event_files, write_file
from paramedic.errors import ParamedicError
from paramedic.frozen import dataclass
from paramedic.paths import check_folder, check_outputs, write_text

if TYPE_CHECKING:
    from paramedic.findings import Diagnosis


class Annotations(StrEnum):
    auto = "auto"
    github = "github"
    gitlab = "gitlab"
    lines = "lines"


Json = Annotated[
    Path | None, typer.Option("--json", metavar="FILE", help="Write the verdict as JSON.", rich_help_panel=panels.FILES)
]
Html = Annotated[
    Path | None,
    typer.Option("--html", metavar="FILE", help="Write the report as one HTML file.", rich_help_panel=panels.FILES),
]
Sarif = Annotated[
    Path | None,
    typer.Option("--sarif", metavar="FILE", help="Write the findings as SARIF 2.1.0.", rich_help_panel=panels.FILES),
]
Junit = Annotated[
    Path | None,
    typer.Option("--junit", metavar="FILE", help="Write JUnit XML, one test per rule.", rich_help_panel=panels.FILES),
]
Board = Annotated[
    Path | None,
    typer.Option("--tensorboard", metavar="DIR", help="Write TensorBoard event files.", rich_help_panel=panels.FILES),
]
Annotate = Annotated[
    Annotations | None,
    typer.Option(
        "--annotations",
        metavar="auto|github|gitlab|lines",
        help="Annotate lines: on stderr for github and editors (lines), in gl-code-quality-report.json for gitlab.",
        rich_help_panel=panels.FILES,
    ),
]
Baseline = Annotated[
    Path | None,
    typer.Option(metavar="FILE", help="Findings listed in this file do not fail.", rich_help_panel=panels.VERDICT),
]
Update = Annotated[
    bool,
    typer.Option("--update-baseline", help="List this run's findings in the baseline.", rich_help_panel=panels.VERDICT),
]


@dataclass(frozen=True, slots=True, kw_only=True)
class Wanted:
    """What was asked for. `start` is where the command began: the script may change the folder."""

    json: Path | None = None
    html: Path | None = None
    sarif: Path | None = None
    junit: Path | None = None
    tensorboard: Path | None = None
    baseline: Path | None = None
    annotations: Annotations | None = None
    update_baseline: bool = False
    start: Path = Path()

    def checked(self) -> Wanted:
        """Before hours of work: with absolute paths, each of which can be written to."""
        from paramedic import baseline

        if self.update_baseline and self.baseline is None:
            raise ParamedicError(
                "--update-baseline was given without --baseline",
                expected="the file to write the findings to",
                fix="--baseline paramedic-baseline.json --update-baseline",
            )
        check_outputs(self.json, self.html, self.sarif, self.junit, self.baseline if self.update_baseline else None)
        if self.baseline is not None and not self.update_baseline:
            baseline.read(self.baseline)
        if self.tensorboard is not None:
            check_folder(self.tensorboard, fix="--tensorboard some-other-folder")
            from paramedic.reports import tensorboard

            tensorboard.check_installed()
        given: dict[str, Any] = {each.name: getattr(self, each.name) for each in fields(self)}
        seen_from_anywhere = {name: path.absolute() for name, path in given.items() if isinstance(path, Path)}
        return replace(self, **(given | seen_from_anywhere))

    def judged(self, diagnosis: Diagnosis) -> Diagnosis:
        """Known findings marked as such; after an update, all of them are."""
        if self.baseline is None:
            return diagnosis
        from paramedic import baseline

        if self.update_baseline:
            text = baseline.text_of(diagnosis, self.start)
            write_text(self.baseline, text, fix="--baseline some-other-file --update-baseline")
            voice.say(f"paramedic: wrote {self.baseline}")
        return baseline.marked(diagnosis, baseline.read(self.baseline), self.start)

    def write(self, diagnosis: Diagnosis, record: Path) -> None:
        for kind in ("json", "html"):
            write_file(diagnosis, getattr(self, kind), kind)
        for kind in ("sarif", "junit"):
            write_file(diagnosis, getattr(self, kind), kind, base=self.start)
        write_event_files(record, self.tensorboard)
        self._annotate(diagnosis)

    def _annotate(self, diagnosis: Diagnosis) -> None:
        if self.annotations is None:
            return
        from paramedic.reports import annotations

        chosen = annotations.service() if self.annotations is Annotations.auto else self.annotations.value
        text: str = getattr(annotations, chosen)(diagnosis, self.start)
        if chosen == "gitlab":
            file = self.start / annotations.GITLAB_FILE
            write_text(file, text, fix="--annotations gitlab in a folder that may be written to")
            voice.say(f"paramedic: wrote {file}")
        elif text:
            voice.say(text, end="")
