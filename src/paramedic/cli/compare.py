"""`paramedic compare`: two models, checkpoints, runs or commits, and the first place where they diverge."""

from __future__ import annotations

import shutil
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from paramedic import voice
from paramedic.cli.options import Quiet, Runs
from paramedic.cli.report import find_run
from paramedic.cli.verdicts import Html
from paramedic.config import load_config
from paramedic.errors import ParamedicError
from paramedic.reports.screen import speaks_unicode, wants_color

if TYPE_CHECKING:
    from paramedic.parity.report import Story

MODELS = (".onnx", ".npz")
Things = Annotated[list[str] | None, typer.Argument(metavar="A B", help="FILE.py:NAME, checkpoints, runs or dumps.")]
Input = Annotated[
    list[str] | None, typer.Option(metavar="INPUT", help="A shape (2,3,32,32 or 2,16:int100), a file, FILE.py:NAME.")
]
Map = Annotated[list[str] | None, typer.Option(metavar="A=B", help="Layers that belong together, by name.")]
Backward = Annotated[bool, typer.Option("--backward", help="Compare gradients as well.")]
Weights = Annotated[Path | None, typer.Option(metavar="OUT", help="Only write A's weights as B holds them, to a file.")]
Dump = Annotated[Path | None, typer.Option(metavar="OUT.npz", help="Only write A's forward pass to a file.")]
Git = Annotated[str | None, typer.Option(metavar="COMMIT", help="A script at this commit and as it is now.")]
Steps = Annotated[int, typer.Option(min=1, metavar="N", help="Optimizer steps that --git looks at.")]
Json = Annotated[Path | None, typer.Option("--json", metavar="FILE", help="Write the result as JSON.")]


def add_to(app: typer.Typer) -> None:
    app.command("compare", rich_help_panel="After training")(compare)


def compare(
    things: Things = None,
    input: Input = None,
    map: Map = None,
    backward: Backward = False,
    copy_weights: Weights = None,
    dump: Dump = None,
    git: Git = None,
    steps: Steps = 20,
    json: Json = None,
    html: Html = None,
    runs: Runs = None,
    quiet: Quiet = False,
) -> None:
    """Find the first place where two models, checkpoints, runs or commits diverge, and why.

    Models may be of torch, Keras, Flax or ONNX, a TensorFlow SavedModel, or a dump made elsewhere. Exits with 0 when
    they agree, up to rounding, and with 1 when they differ.

    Examples:

      paramedic compare old.py:build new.py:build --input 2,3,32,32

      paramedic compare model.py:build model.onnx --input batch.pt

      paramedic compare epoch3.pt epoch4.safetensors

      paramedic compare 20260101-1200 20260102-0900

      paramedic compare --git HEAD~1 train.py -- --epochs 1
    """
    words = things or []
    for path in (json, html, copy_weights, dump):
        if path is not None and not path.absolute().parent.is_dir():
            raise ParamedicError(f"the folder {path.parent} does not exist", fix=f"mkdir -p {path.parent}")
    if dump is not None:
        return _write_dump(words, input or [], dump)
    if copy_weights is not None:
        return _write_weights(*_two(words), copy_weights, _pairs(map))
    story = _story(words, input or [], _pairs(map), git, steps, runs, backward=backward)
    _tell(story, json, html, quiet=quiet)
    raise typer.Exit(0 if story.verdict != "differ" else 1)


def _story(
    words: list[str], inputs: list[str], names: dict[str, str], git: str | None, steps: int, runs: str | None,
    *, backward: bool,
) -> Story:  # fmt: skip
    if git is not None:
        if not words:
            raise ParamedicError("no script was given", fix=f"paramedic compare --git {git} train.py")
        from paramedic.parity.commits import compare_commits

        return compare_commits(git, words[0], words[1:], steps=steps)
    a, b = _two(words)
    if all(_is_checkpoint(word) for word in (a, b)):
        from paramedic.parity.checkpoints import compare_checkpoints

        return compare_checkpoints(Path(a), Path(b))
    if any(_is_model(word) for word in (a, b)):
        from paramedic.comparing import compare as compare_models
        from paramedic.parity.inputs import read_inputs
        from paramedic.parity.report import story_of

        return story_of(compare_models(_model(a), _model(b), read_inputs(inputs), map=names or None, backward=backward))
    from paramedic.parity.runs import compare_runs

    config = load_config()
    return compare_runs(find_run(a, config, runs), find_run(b, config, runs))


def _two(words: list[str]) -> tuple[str, str]:
    if len(words) != 2:
        raise ParamedicError(
            f"{len(words)} things were given to compare",
            expected="two models (FILE.py:NAME, .onnx, SavedModels, dumps), two checkpoints or two runs",
            fix="paramedic compare a.pt b.pt",
        )
    return words[0], words[1]


def _is_model(word: str) -> bool:
    path = Path(word)
    return word.endswith(MODELS) or _is_dump(path) or (path / "saved_model.pb").exists() or _is_factory(word)


def _is_factory(word: str) -> bool:
    return ":" in word and not Path(word).exists()


def _is_checkpoint(word: str) -> bool:
    from paramedic.parity import SUFFIXES

    return word.endswith(SUFFIXES) and not _is_dump(Path(word))


def _is_dump(path: Path) -> bool:
    """A .safetensors file may be a checkpoint or a dump: its first bytes say which."""
    if path.suffix == ".npz":
        return True
    if path.suffix != ".safetensors" or not path.is_file():
        return False
    with path.open("rb") as file:
        size = int.from_bytes(file.read(8), "little")
        return b'"layers/' in file.read(min(size, 1_000_000))


def _model(word: str) -> Any:
    if not _is_factory(word):
        return word
    from paramedic.synth.factory import load

    return load(word)()


def _pairs(words: list[str] | None) -> dict[str, str]:
    pairs = [word.partition("=") for word in words or []]
    for name, equals, _ in pairs:
        if not equals:
            raise ParamedicError(f"--map {name} lacks a partner", expected="A=B", fix=f"--map {name}=its.name.in.b")
    return {name: other for name, _, other in pairs}


def _write_dump(words: list[str], inputs: list[str], out: Path) -> None:
    from paramedic.parity.inputs import read_inputs
    from paramedic.parity.sides import dump
    from paramedic.parity.sides.side import convert_inputs, open_side

    if len(words) != 1:
        raise ParamedicError("--dump writes one model", fix="paramedic compare --dump a.npz a.py:build --input 2,16")
    side = open_side(_model(words[0]), label="a")
    args, kwargs = convert_inputs(read_inputs(inputs), side, side)
    dump.write(side.trace(args, kwargs), args, out)
    voice.say(f"paramedic: wrote {out}")


def _write_weights(a: str, b: str, out: Path, names: dict[str, str]) -> None:
    from paramedic.parity.weights.files import convert

    copied = convert(_model(a), _model(b), out, names)
    print(copied)
    voice.say(f"paramedic: wrote {out}")
    raise typer.Exit(0 if copied.complete else 1)


def _tell(story: Story, json: Path | None, html: Path | None, *, quiet: bool) -> None:
    from paramedic.parity.report import as_html, as_json, render

    stream = sys.stdout
    width = min(shutil.get_terminal_size((80, 24)).columns, 100) if stream.isatty() else 80
    unicode = speaks_unicode(stream)
    print(render(story, width=width, color=wants_color(stream), unicode=unicode, quiet=quiet), end="")
    for path, text in ((json, as_json), (html, as_html)):
        if path is not None:
            path.write_text(text(story), encoding="utf-8")
            voice.say(f"paramedic: wrote {path}")
