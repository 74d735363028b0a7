"""Bad input: every path, option and setting that cannot be used is refused with a message, never with a traceback."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as some

from inside import call, refused
from paramedic.config import load_config, rule_options
from paramedic.errors import ParamedicError
from paramedic.rules.catalogue import select
from workshop import TRAIN, Workshop

ALWAYS_THE_SAME = settings(derandomize=True, database=None, deadline=None)
LONG = "x" * 300
ODD = ("missing", "", ".", LONG, f"{LONG}/y.csv", "a-file/below", "pipe", "loop", "dangling", "/dev/null",
       "no\udce9utf8", "line\nbreak", "\x1b[31mred", "-", "~", "%s{}", "folder")  # fmt: skip
FILES = ("a-file", "table.csv", "empty.csv", "noise.npz", "noise.parquet", "noise.jsonl", "noise.json", "noise.pt",
         "objects.npz", "times.npz", "pictures", "pipe.csv")  # fmt: skip
NO_SCRIPTS = ("missing.py", "", LONG, "pipe", "loop", "dangling", "/dev/null", "a-file/below", "no\udce9utf8.py")


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder full of traps."""
    folder = tmp_path_factory.mktemp("traps")
    for name in ("pipe", "pipe.csv"):
        os.mkfifo(folder / name)
    (folder / "loop").symlink_to("loop")
    (folder / "dangling").symlink_to("nowhere")
    (folder / "folder").mkdir()
    (folder / "pictures").mkdir()
    (folder / "pictures" / "bad.png").write_bytes(b"\x89PNG\r\n\x1a\nnothing")
    os.mkfifo(folder / "pictures" / "pipe.png")
    (folder / "a-file").write_text("something")
    (folder / "table.csv").write_text("a,b,label\n" + "".join(f"{i},{i % 7},{i % 2}\n" for i in range(30)))
    (folder / "empty.csv").touch()
    noise = np.random.default_rng(0).bytes(300)
    for kind in ("npz", "parquet", "jsonl", "json", "pt"):
        (folder / f"noise.{kind}").write_bytes(noise)
    np.savez(folder / "objects.npz", x=np.array([{}] * 9, dtype=object), y=np.arange(9))
    np.savez(folder / "times.npz", x=np.arange(40).astype("datetime64[D]"), y=np.arange(40) % 2)
    return folder


ONE_OF_EACH = [
    ("report", LONG), ("report", "loop"), ("report", "pipe"), ("report", "--json", "folder"),
    ("report", "--html", LONG),
    ("run", LONG), ("run", ""), ("run", "pipe"), ("run", "loop"), ("check", "/dev/null"), ("diagnose", LONG),
    ("run", "--json", "folder", "a-file"), ("run", "--html", "missing/x.html", "a-file"),
    ("run", "--json", "pipe", "a-file"), ("run", "--tensorboard", "a-file", "a-file"),
    ("run", "--runs", LONG, "a-file"),
    ("diagnose", "--runs", "a-file", "a-file"),
    ("audit", "objects.npz"), ("audit", "pipe.csv"), ("audit", LONG), ("audit", "loop"), ("audit", "noise.npz"),
    ("audit", "table.csv", "--json", "folder"), ("audit", "table.csv", "--val", "pipe.csv"),
    ("audit", "table.csv", "--subset", "5", "folder"),
    ("audit", "table.csv", "--val", "table.csv", "--clean-val", "folder"),
    ("audit", "--script", "train.py 'half"), ("audit", "--script", ""), ("audit", "--script", "  "),
    ("audit", "--script", LONG), ("demo", "a-file"), ("demo", "a-file/below"), ("demo", "/dev/null"), ("demo", "loop"),
    ("demo", LONG), ("demo", "/proc/paramedic"), ("replay", "pipe"), ("replay", "folder"), ("replay", "noise.pt"),
    ("replay", LONG), ("bundle", LONG), ("dump", "1"), ("dump", str(10**30)), ("synth", "sine", "--out", "a-file"),
    ("synth", "sine", "--out", LONG), ("synth", "ladder", "pipe.py:Net"), ("synth", "ladder", "folder:Net"),
    ("explain", ""), ("rules", "\x1b[31mred"), ("why", LONG), ("why", "--runs", "a-file", "a-file"),
    ("runs", "--runs", LONG), ("journal", "--out", "folder"), ("journal", "--runs", "a-file", "note"),
    ("run", "--notify", "no-such-command", "a-file"),
]  # fmt: skip


@pytest.mark.parametrize("words", ONE_OF_EACH, ids=lambda words: " ".join(words)[:40].encode("unicode_escape").decode())
def test_what_cannot_be_used_is_refused(place: Path, words: tuple[str, ...]) -> None:
    done = call(place, *words)
    assert refused(done), (done.code, done.stderr)
    assert "\x1b" not in done.stderr


def test_points_in_time_are_numbers(place: Path) -> None:
    assert call(place, "audit", "times.npz", "-q").code in (0, 1)


path = some.sampled_from(ODD + FILES)
word = some.one_of(path, some.text(max_size=8).filter(lambda text: "\0" not in text), some.integers().map(str))
OPTIONS: dict[str, tuple[tuple[str, ...], tuple[str, ...]]] = {  # command -> options with a value, and without
    "report": (("--json", "--html", "--tensorboard", "--runs", "--select", "--ignore", "--format"), ("-v", "-vv")),
    "audit": (("--val", "--label", "--task", "--sample", "--json", "--html", "--select", "--on"), ("-q", "-v")),
    "replay": (("--test",), ("--ops", "--shell")),
    "run": (("--json", "--html", "--runs", "--budget", "--every", "--on-nan", "--fail-on", "--trace"), ("-q", "--pdb")),
    "check": (("--steps", "--json", "--runs"), ("-v",)),
    "diagnose": (("--only", "--steps", "--time-limit", "--jobs", "--on", "--json"), ("--in-place",)),
    "bundle": (("--runs", "--wait"), ()),
    "dump": ((), ()),
    "explain": ((), ()),
    "rules": ((), ()),
    "runs": (("--runs", "--keep"), ("--prune",)),
    "merge": (("--json", "--html", "--runs", "--select"), ("-v",)),
    "export": (("--to", "--runs"), ()),
    "journal": (("--runs", "--run", "--out"), ("--assume",)),
    "why": (("--steps", "--time-limit", "--json", "--runs"), ("-q",)),
    "synth": (("--n", "--seed", "--split", "--level", "--format", "--set"), ()),
}


@some.composite
def command_line(draw: some.DrawFn) -> list[str]:
    """Any command with any options. Scripts are none, so that nothing of it ever runs."""
    command = draw(some.sampled_from(sorted(OPTIONS)))
    valued, flags = OPTIONS[command]
    given = [(name, draw(word)) for name in draw(some.lists(some.sampled_from(valued or ("-h",)), max_size=2))]
    words = [part for pair in given for part in pair] + draw(
        some.lists(some.sampled_from(flags or ("-h",)), max_size=1)
    )
    subject = {
        "run": some.sampled_from(NO_SCRIPTS), "check": some.sampled_from(NO_SCRIPTS),
        "diagnose": some.sampled_from(NO_SCRIPTS), "why": some.sampled_from(NO_SCRIPTS), "runs": some.just("-h"),
        "synth": some.sampled_from(("list", "sine", "ladder", "nothing")),
        "bundle": some.sampled_from(ODD[:3]),
    }.get(command, word)  # fmt: skip
    return [command, *words, draw(subject)]


@given(command_line())
@settings(ALWAYS_THE_SAME, max_examples=75)
def test_no_command_line_ends_in_a_traceback(place: Path, words: list[str]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        os.environ["PARAMEDIC_RUNS"] = folder  # what is written goes there
        try:
            done = call(place, *words)
        finally:
            del os.environ["PARAMEDIC_RUNS"]
    assert done.code in (0, 1, 2) and "Traceback" not in done.stderr, (words, done.stderr)
    assert done.code != 2 or refused(done), (words, done.stderr)


# Settings -------------------------------------------------------------------------------------------------------------

literal = some.one_of(
    some.sampled_from(("[]", "{}", '["PM502"]', '"PM5"', "[1, 2]", "true", "nan", "-inf", "1979-05-27", '"\\u0000"',
                       '""',
                       "[[[[]]]]", '{a = {b = [1]}}', str(2**70), '"\\u001b[31m"', "[" * 2000 + "]" * 2000)),
    some.integers().map(str), some.floats(allow_nan=False).map(repr),
)  # fmt: skip
key = some.sampled_from(("select", "ignore", "runs", "rules", "rules.PM502", "rules.PM502.tolerance", "rules.PM999",
                         "rules.nonsense.x", "unknown", "startup", '"a b"'))  # fmt: skip
content = some.one_of(
    some.lists(some.tuples(key, literal), max_size=3).map(
        lambda pairs: "\n".join(f"{name} = {value}" for name, value in dict(pairs).items()).encode()
    ),
    some.binary(max_size=40),
    some.sampled_from((b"\xff\xfe", b"select = ['a\0b']", b"a" * 100, b"[tool]\nparamedic = 3", b"tool = 3")),
)


@given(content, some.booleans())
@settings(ALWAYS_THE_SAME, max_examples=200)
def test_no_settings_file_ends_in_a_traceback(text: bytes, ours: bool) -> None:
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder, "paramedic.toml" if ours else "pyproject.toml")
        file.write_bytes(text if ours else b"[tool.paramedic]\n" + text)
        try:
            config = load_config(Path(folder))
            rule_options(config)
            select(chosen=config.select, ignored=config.ignore)
        except ParamedicError as error:
            assert error.what and error.expected and error.fix


@pytest.mark.parametrize(
    ("name", "text", "said"),
    [
        ("pyproject.toml", b"[tool]\nparamedic = 3", "tool.paramedic is 3"),
        ("paramedic.toml", b"select = ['\xe9']", "utf-8"),
        ("paramedic.toml", b"select = ['a\0b']", "cannot be read"),
        ("paramedic.toml", b"select = " + b"[" * 5000 + b"]" * 5000, "nested too deeply"),
        ("paramedic.toml", b"runs = '\\u0000'\nruns = 3", "cannot be read"),
        ("paramedic.toml", b"[rules.PM502]\ntolerance = nan", "nan"),
    ],
)
def test_a_settings_file_that_cannot_be_used(tmp_path: Path, name: str, text: bytes, said: str) -> None:
    (tmp_path / name).write_bytes(text)
    done = call(tmp_path, "report")
    assert refused(done) and said in done.stderr, done.stderr


def test_a_settings_file_that_is_a_pipe(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "paramedic.toml")
    assert refused(call(tmp_path, "report"))


# Real processes -------------------------------------------------------------------------------------------------------


def test_a_script_whose_name_is_not_utf8_is_watched_like_any_other(shop: Workshop) -> None:
    name = "tr\udce9in.py"
    with open(os.path.join(os.fsencode(shop.folder), os.fsencode(name)), "w") as stream:
        stream.write(TRAIN + "train(8, softmax=True)\n")
    done = shop.run(name, options=("--html", "out.html"))
    assert done.code == 0 and done.codes == ["PM502"] and "cannot watch" not in done.stderr, done.stderr
    assert "out = out.softmax(dim=1)" in done.stderr, "the line is quoted"
    assert call(shop.folder, "report").code == 1 and (shop.folder / "out.html").exists()


def test_experiments_in_a_folder_with_links_that_lead_in_circles(tmp_path: Path) -> None:
    from paramedic.lab.scratch import copy

    (tmp_path / "a").mkdir()
    (tmp_path / "a" / "loop").symlink_to("loop")
    (tmp_path / "a" / "up").symlink_to("..")
    os.mkfifo(tmp_path / "a" / "pipe")
    (tmp_path / "a" / "train.py").write_text("pass")
    copy(tmp_path / "a", tmp_path / "copied")
    assert (tmp_path / "copied" / "train.py").read_text() == "pass"
