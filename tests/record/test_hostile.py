"""Records and bundles from elsewhere: damaged, cut short, from the future, or made by somebody who means harm.

Either the report is the right one, or there is a message and exit code 2. Nothing in them runs, nothing hangs.
"""

from __future__ import annotations

import io
import json
import os
import random
import shutil
import sqlite3
import stat
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import torch

from inside import call, refused
from paramedic.masking import is_secret, masked_text, masked_words
from paramedic.record.checking import checksum
from paramedic.record.schema import SCHEMA_VERSION
from workshop import TRAIN, Workshop

SECRET = "hunter2hunter2"
FAILS = """
def fails():
    model = nn.Linear(4, 1)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for step in range(20):
        x = torch.randn(16, 4)
        loss = model(x).pow(2).mean()
        if step == 9:
            loss = (loss - loss).sqrt()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()

"""


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory, warm: Any) -> Workshop:
    """One run that leaves a sick record and a bundle, started with secrets on its command line."""
    shop = Workshop(tmp_path_factory.mktemp("made"), warm)
    shop.write("train.py", TRAIN + FAILS + "train(12, softmax=True)\nfails()\n")
    address = f"https://me:{SECRET}@example.com/data"
    words = (f"--api-key={SECRET}", "--token", SECRET, address, f"AWS_SECRET_ACCESS_KEY={SECRET}", "--epochs", "3")
    assert shop.run("train.py", *words, options=("--html", "out.html")).code == 3
    return shop


@pytest.fixture(scope="module")
def record(made: Workshop) -> Path:
    (found,) = made.records()
    return found


@pytest.fixture(scope="module")
def bundle(made: Workshop) -> Path:
    (found,) = made.folder.glob(".paramedic/runs/*/*.pt")
    return found


# Secrets and rights ---------------------------------------------------------------------------------------------------


def test_a_secret_on_the_command_line_is_in_no_file(made: Workshop) -> None:
    files = [path for path in made.folder.rglob("*") if path.is_file()]
    assert len(files) > 4 and [path for path in files if SECRET.encode() in path.read_bytes()] == []
    command = json.loads((made.folder / "out.json").read_text())["run"]["command"]
    assert command.startswith("python train.py --api-key=*** --token *** https://***@example.com/data")
    assert command.endswith("AWS_SECRET_ACCESS_KEY=*** --epochs 3")


def test_what_looks_like_a_secret_and_what_does_not() -> None:
    secret = (
        "--api-key",
        "--OPENAI_API_KEY",
        "--password",
        "--hf-token",
        "wandb.api_key",
        "AWS_SESSION_TOKEN",
        "secret",
    )
    harmless = (
        "--token-dim",
        "--max-tokens",
        "--tokenizer",
        "--pad-token",
        "--password-file",
        "--bypass",
        "--lr",
        "--key",
    )
    assert [name for name in secret if not is_secret(name)] == [name for name in harmless if is_secret(name)] == []
    assert masked_words(("--script", "a.py --password=x --lr 1")) == ("--script", "a.py --password=*** --lr 1")
    assert masked_words(("--key", "sk-" + "a" * 20)) == ("--key", "***")
    assert masked_text("unknown token: x; token=x") == "unknown token: x; token=***"
    assert masked_text("Authorization: Bearer abc, --lr 0.1") == "Authorization: Bearer ***, --lr 0.1"


def test_files_that_hold_data_are_their_owners_only(record: Path, bundle: Path) -> None:
    assert stat.S_IMODE(record.parent.stat().st_mode) == 0o700
    assert {path.name: oct(stat.S_IMODE(path.stat().st_mode)) for path in record.parent.iterdir()} == dict.fromkeys(
        (path.name for path in record.parent.iterdir()), "0o600"
    )
    assert bundle.parent == record.parent


def test_a_link_in_the_place_of_the_record_is_not_followed(tmp_path: Path) -> None:
    from paramedic.record.facts import HiddenMoved
    from paramedic.record.writer import Writer

    (tmp_path / "run").mkdir()
    (tmp_path / "run" / "main.db").symlink_to(tmp_path / "elsewhere")
    said: list[str] = []
    writer = Writer(tmp_path / "run" / "main.db", meta={}, say=said.append)
    writer.start()
    writer.state(HiddenMoved(), step=0, phase="train")
    writer.close()
    assert len(said) == 1 and not (tmp_path / "elsewhere").exists()


# Records --------------------------------------------------------------------------------------------------------------


def verdict(folder: Path, record: Path) -> dict[str, Any] | None:
    """What a report says of the record; None when it is refused. Anything else is a failure."""
    done = call(folder, "report", record.parent, "--format", "json")
    if refused(done):
        return None
    assert done.code in (0, 1) and "Traceback" not in done.stderr, done.stderr
    found: dict[str, Any] = json.loads(done.stdout)
    return {"findings": found["findings"], "verdict": found["verdict"], "clear": found["rules"]["clear"]}


@pytest.fixture
def copied(tmp_path: Path, record: Path) -> Path:
    (tmp_path / "run").mkdir()
    return Path(shutil.copy(record, tmp_path / "run" / "main.db"))


def damages(data: bytes) -> Iterator[bytes]:
    dice = random.Random(0)
    for share in (0, 0.001, 0.1, 0.5, 0.9, 0.999):
        yield data[: int(share * len(data))]
    for _ in range(20):
        place = dice.randrange(len(data))
        yield data[:place] + bytes([data[place] ^ (1 << dice.randrange(8))]) + data[place + 1 :]
    for place in range(0, 100, 9):  # the header
        yield data[:place] + b"\xff" + data[place + 1 :]
    for _ in range(6):
        start, length = dice.randrange(len(data)), dice.choice((16, 4096))
        yield data[:start] + dice.randbytes(length) + data[start + length :]
        yield data[:start] + data[start + length :]


def test_a_damaged_record_gives_the_right_report_or_none(tmp_path: Path, copied: Path, made: Workshop) -> None:
    whole = copied.read_bytes()
    right = verdict(made.folder, copied)
    assert right is not None and right["verdict"] == "sick"
    outcomes = []
    for damaged in damages(whole):
        copied.write_bytes(damaged)
        for side in ("-wal", "-shm", "-journal"):
            copied.with_name(copied.name + side).unlink(missing_ok=True)
        outcomes.append(verdict(made.folder, copied))
    assert [outcome for outcome in outcomes if outcome not in (None, right)] == []
    assert outcomes.count(None) > len(outcomes) / 4


def changed(copied: Path, *statements: str) -> None:
    """As somebody would who means harm: the checksums fit."""
    connection = sqlite3.connect(copied)
    with connection:
        for statement in statements:
            connection.execute(statement)
    for table in ("meta", "events", "points", "names", "samples"):
        if connection.execute("SELECT type FROM sqlite_master WHERE name = ?", (table,)).fetchone() == ("table",):
            rows = connection.execute(f"SELECT rowid, * FROM {table}").fetchall()
            with connection:
                for number, *row, _ in rows:
                    connection.execute(f"UPDATE {table} SET crc = ? WHERE rowid = ?", (checksum(row), number))
    connection.close()


ENDLESS = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT i, 'a' FROM n"
REFUSED = {
    "a table that is missing": ["DROP TABLE points"],
    "a table more": ["CREATE TABLE more (a)"],
    "an endless view": ["DROP TABLE meta", f"CREATE VIEW meta AS {ENDLESS}"],
    "an endless view of events": ["DROP TABLE events", f"CREATE VIEW events AS {ENDLESS}"],
    "a trigger": ["CREATE TRIGGER t AFTER INSERT ON meta BEGIN DELETE FROM events; END"],
    "a future version": [f"UPDATE meta SET value = '{SCHEMA_VERSION + 1}' WHERE name = 'schema_version'"],
    "a version of another kind": ["UPDATE meta SET value = '[[1]]' WHERE name = 'schema_version'"],
    "no version": ["DELETE FROM meta WHERE name = 'schema_version'"],
    "steps that are a text": ["UPDATE meta SET value = '\"many\"' WHERE name = 'steps'"],
    "steps without end": [f"UPDATE meta SET value = '{10**30}' WHERE name = 'steps'"],
    "a start in another age": ["UPDATE meta SET value = '1e300' WHERE name = 'started'"],
    "meta that is no JSON": ["UPDATE meta SET value = '{' WHERE name = 'versions'"],
    "meta nested deeply": [f"UPDATE meta SET value = '{'[' * 50_000}{']' * 50_000}' WHERE name = 'versions'"],
    "facts that are no table": ["UPDATE events SET data = '[1]'"],
    "facts that are no JSON": ["UPDATE events SET data = 'x'"],
    "a step that is a text": ["UPDATE events SET step = 'x'"],
    "a step below zero": ["UPDATE events SET step = -5"],
    "a phase that there is not": ["UPDATE events SET phase = 'x'"],
    "a file that is a number": ["UPDATE events SET file = x'00ff'"],
    "points that are no numbers": ["UPDATE points SET value = '\"x\"'"],
    "models without parameters": ["UPDATE events SET data = '{}' WHERE kind = 'model'"],
    "models of another kind": ["UPDATE events SET data = '{\"name\": 1, \"parameters\": 5}' WHERE kind = 'model'"],
}


@pytest.mark.parametrize("what", REFUSED)
def test_a_record_that_is_none_is_refused(copied: Path, what: str) -> None:
    changed(copied, *REFUSED[what])
    done = call(copied.parent, "report", copied.parent)
    assert refused(done), (done.code, done.stderr, done.stdout)


@pytest.mark.parametrize("table", ["events", "points", "samples", "names"])
def test_rows_that_are_gone_or_senseless_cost_no_traceback(copied: Path, table: str) -> None:
    for statements in (
        [f"DELETE FROM {table} WHERE rowid % 3 = 0"],
        ["UPDATE events SET data = '{}' WHERE kind != 'model'"],
    ):
        changed(copied, *statements)
        done = call(copied.parent, "report", copied.parent, "-vv")
        assert refused(done) or (done.code in (0, 1) and "Verdict:" in done.stdout), done.stderr


def test_a_record_that_is_a_pipe_or_a_link_is_refused(tmp_path: Path, record: Path) -> None:
    os.mkfifo(tmp_path / "main.db")
    assert refused(call(tmp_path, "report", tmp_path))
    (tmp_path / "main.db").unlink()
    (tmp_path / "main.db").symlink_to(record)
    assert refused(call(tmp_path, "report", tmp_path))


def test_a_record_quotes_no_file_from_elsewhere(copied: Path, tmp_path: Path) -> None:
    private = tmp_path / "private.py"
    private.write_text("password = 'from elsewhere'\n" * 100)
    changed(copied, f"UPDATE events SET file = '{private}'", "DELETE FROM meta WHERE name = 'sources'")
    inside = tmp_path / "project"
    inside.mkdir()
    done = call(inside, "report", copied.parent, "--format", "html")
    assert done.code == 1 and "private.py" in done.stdout and "from elsewhere" not in done.stdout


def test_a_killed_run_says_that_it_was_killed(copied: Path) -> None:
    changed(copied, "DELETE FROM meta WHERE name IN ('exit_code', 'seconds', 'steps', 'overhead', 'coverage')",
            f"UPDATE meta SET value = '{2**22 + 1}' WHERE name = 'pid'")  # fmt: skip
    assert "was killed" in call(copied.parent, "report", copied.parent).stdout


# Bundles --------------------------------------------------------------------------------------------------------------


def replayed(folder: Path, content: Any, *options: object) -> Any:
    torch.save(content, folder / "b.pt")
    return call(folder, "replay", "b.pt", *options)


def test_nothing_that_a_bundle_names_runs_unasked(made: Workshop, bundle: Path) -> None:
    content = torch.load(bundle, weights_only=True)
    harm = made.folder / "harm"
    content["command"] = {"arguments": ["x", f"open({str(harm)!r}, 'w')"], "module": "timeit", "folder": "/"}
    done = replayed(made.folder, content)
    assert refused(done) and "-m timeit" in done.stderr and "--yes" in done.stderr and not harm.exists()
    assert refused(replayed(made.folder, content, "--test", "test_step.py"))
    assert not (made.folder / "test_step.py").exists()


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


@pytest.mark.parametrize("answer", ["n\n", ""])
def test_on_a_terminal_the_user_is_asked(
    made: Workshop, bundle: Path, monkeypatch: pytest.MonkeyPatch, answer: str
) -> None:
    content = torch.load(bundle, weights_only=True)
    content["command"] = {"arguments": ["train.py", "\x1b[2Jred"], "module": None, "folder": str(made.folder)}
    monkeypatch.setattr("sys.stdin", Terminal(answer))
    done = replayed(made.folder, content)
    assert done.code == 2 and "python train.py" in done.stderr and "nothing was run" in done.stderr, done.stderr
    assert "\x1b" not in done.stderr and "step 9 again" not in done.stderr


def test_a_secret_that_was_not_kept_has_to_be_given_again(made: Workshop, bundle: Path) -> None:
    done = call(made.folder, "replay", bundle, "--yes")
    assert refused(done) and "had a secret" in done.stderr and "-- train.py" in done.stderr


def test_no_text_of_a_bundle_becomes_code(made: Workshop, bundle: Path) -> None:
    evil = '"""\nimport os\nos.mkdir("harm")\n"""'
    content = torch.load(bundle, weights_only=True)
    content |= {
        "reason": evil,
        "command": {"arguments": ["train.py", evil], "module": None, "folder": str(made.folder)},
    }
    done = replayed(made.folder, content, "--test", "test_step.py", "--yes")
    assert done.code == 0, done.stderr
    names: dict[str, Any] = {}
    exec((made.folder / "test_step.py").read_text(), names)
    assert names["REASON"] == evil and not (made.folder / "harm").exists() and "os" not in names


WRONG: dict[str, Callable[[dict[str, Any]], object]] = {
    "no command": lambda b: b.pop("command"),
    "no arguments": lambda b: b["command"].pop("arguments"),
    "empty arguments": lambda b: b["command"].update(arguments=[]),
    "arguments that are numbers": lambda b: b["command"].update(arguments=[1]),
    "a module that is a command": lambda b: b["command"].update(module="os; x"),
    "a place of two": lambda b: b.update(place=["a", 1]),
    "a step that is a text": lambda b: b.update(step="1): pass #"),
    "a reason that is a number": lambda b: b.update(reason=3),
    "no random states": lambda b: b.pop("random"),
    "random states of another kind": lambda b: b["random"].update(python=[3, [1], None]),
    "models that are a list": lambda b: b.update(models=[1]),
    "a future format": lambda b: b.update(format=2),
    "a format of another kind": lambda b: b.update(format=[[]]),
    "a tensor that claims the world": lambda b: b.update(loss=torch.zeros(1).expand(10**12)),
    "one list a billion times": lambda b: b.update(variables={"a": billion(), "b": torch.zeros(1).expand(10**12)}),
}


def billion() -> Any:
    found: Any = [torch.zeros(1)]
    for _ in range(40):
        found = [found, found]
    return found


@pytest.mark.parametrize("what", WRONG)
def test_a_bundle_that_is_none_is_refused(made: Workshop, bundle: Path, what: str) -> None:
    content = torch.load(bundle, weights_only=True)
    WRONG[what](content)
    done = replayed(made.folder, content, "--yes")
    assert refused(done) and ("not loaded" in done.stderr or "bundle format" in done.stderr), done.stderr


def test_a_damaged_bundle_is_refused(made: Workshop, bundle: Path) -> None:
    content = torch.load(bundle, weights_only=True)
    content["command"]["arguments"] = ["train.py"]
    assert "--yes" in replayed(made.folder, content).stderr, "whole, it would be run"
    whole = (made.folder / "b.pt").read_bytes()
    for damaged in damages(whole):
        (made.folder / "b.pt").write_bytes(damaged)
        done = call(made.folder, "replay", "b.pt")
        assert refused(done), done.stderr
