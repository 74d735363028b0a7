"""report, explain, rules, demo, and the options of run: what a user types and what comes back."""

from __future__ import annotations

import json
import os
import pty
import re
import subprocess
import sys

import pytest
from benchmarks.warm import Warm

from workshop import TRAIN, Workshop


@pytest.fixture(scope="module")
def sick(tmp_path_factory: pytest.TempPathFactory, warm: Warm) -> Workshop:
    """Two recorded runs: a healthy one, then a sick one."""
    shop = Workshop(tmp_path_factory.mktemp("sick"), warm)
    shop.write("train.py", TRAIN + "import sys\ntrain(12, softmax='sick' in sys.argv)\n")
    assert shop.run("train.py").found["verdict"] == "healthy"
    shop.env["PARAMEDIC_RUNS"] = ".paramedic/runs"
    assert shop.run("train.py", "sick").codes == ["PM502"]
    return shop


def ids(shop: Workshop) -> list[str]:
    return sorted(path.name for path in (shop.folder / ".paramedic" / "runs").iterdir())


def test_report_without_a_name_takes_the_last_run(sick: Workshop) -> None:
    done = sick.paramedic("report")
    assert done.code == 1 and done.stderr == "" and "PM502" in done.stdout and "Verdict: sick." in done.stdout


def test_report_by_id_prefix_or_folder(sick: Workshop) -> None:
    healthy, ill = ids(sick)
    assert sick.paramedic("report", healthy).code == 0
    assert sick.paramedic("report", ill).code == 1
    assert sick.paramedic("report", f".paramedic/runs/{healthy}").code == 0
    assert "Verdict: healthy." in sick.paramedic("report", healthy[:-1]).stdout


def test_an_unknown_run_is_answered_with_those_that_exist(sick: Workshop) -> None:
    done = sick.paramedic("report", "nonsense")
    assert done.code == 2 and "nonsense" in done.stderr and ids(sick)[-1] in done.stderr
    assert "Traceback" not in done.stderr


def test_no_runs_at_all(warm_shop: Workshop) -> None:
    done = warm_shop.paramedic("report")
    assert done.code == 2 and "paramedic run" in done.stderr and "Traceback" not in done.stderr


def test_the_verdict_is_the_same_live_and_afterwards(sick: Workshop) -> None:
    live = sick.run("train.py", "sick", options=("--runs", "others")).found
    later = json.loads(sick.paramedic("report", live["run"]["record"], "--format", "json").stdout)
    for found in (live, later):
        del found["run"]["around"]  # seconds; the verdict itself takes some, and goes on while it is written
    assert later == live


def test_the_json_is_the_contract(sick: Workshop) -> None:
    found = json.loads(sick.paramedic("report", "--format", "json").stdout)
    assert {"schema_version", "verdict", "findings", "rules", "run"} <= set(found)
    assert found["schema_version"] == 1 and found["verdict"] == "sick"
    (finding,) = found["findings"]
    assert set(finding) == {
        "code", "name", "severity", "confidence", "what", "why", "try", "evidence", "where", "consequence_of",
        "split", "samples", "known", "columns", "files", "also",
    }  # fmt: skip
    assert set(finding["where"]) == {"file", "line", "function", "module", "step", "rank"}
    assert all({"name", "value", "limit"} <= set(evidence) for evidence in finding["evidence"]) and finding["evidence"]
    assert set(found["rules"]) == {"clear", "abstained", "crashed"}
    assert all(set(rule) == {"code", "reason", "blind", "try"} for rule in found["rules"]["abstained"])
    assert {"id", "steps", "seconds", "exit_code", "overhead", "record"} <= set(found["run"])
    assert (found["run"]["steps"], found["run"]["exit_code"]) == (12, 0)
    assert 0 <= found["run"]["overhead"] < 1 and found["run"]["seconds"] > 0


def test_html_is_one_self_contained_file(sick: Workshop) -> None:
    page = sick.paramedic("report", "--format", "html").stdout
    assert page.lstrip().lower().startswith("<!doctype html>") and "PM502" in page
    assert not re.search(r"""(src|href)=["']?(https?:)?//""", page), "nothing is fetched from anywhere"
    assert "prefers-color-scheme" in page
    text = re.sub(r"<script.*?</script>", "", page, flags=re.DOTALL)
    assert "train.py:17" in text and "row sum" in text, "the text is there without JavaScript"
    assert sick.paramedic("report", "--html", "r.html").code == 1
    assert (sick.folder / "r.html").read_text().strip() == page.strip()


def test_quiet_and_verbose(sick: Workshop) -> None:
    quiet = sick.run("train.py", "sick", options=("-q", "--runs", "others")).stderr
    assert "row_sum" not in quiet and "Verdict: sick." in quiet.replace("\n", " ") and "where" not in quiet
    plain, loud = (sick.paramedic("report", *option).stdout for option in ((), ("-v",)))
    assert "no state dict was loaded" not in plain and "no state dict was loaded" in loud
    assert len(sick.paramedic("report", "-vv").stdout) >= len(loud)


@pytest.mark.parametrize(
    ("kind", "option", "code"),
    [
        ("sick", "error", 1),
        ("sick", "warning", 1),
        ("well", "error", 0),
        ("well", "warning", 0),
    ],
)
def test_fail_on(sick: Workshop, kind: str, option: str, code: int) -> None:
    assert sick.run("train.py", kind, options=("--fail-on", option, "--runs", "others")).code == code


def test_fail_on_keeps_the_scripts_own_failure(warm_shop: Workshop) -> None:
    warm_shop.write("train.py", TRAIN + "train(8, softmax=True)\nraise SystemExit(4)\n")
    assert warm_shop.run("train.py", options=("--fail-on", "error")).code == 4


def test_records_go_where_the_environment_or_the_option_says(warm_shop: Workshop) -> None:
    warm_shop.write("train.py", TRAIN + "train(6)\n")
    warm_shop.env["PARAMEDIC_RUNS"] = "from-environment"
    warm_shop.run("train.py")
    assert len(list(warm_shop.folder.glob("from-environment/*/main.db"))) == 1
    assert warm_shop.paramedic("report").code == 0
    warm_shop.run("train.py", options=("--runs", "from-option"))
    assert len(list(warm_shop.folder.glob("from-option/*/main.db"))) == 1 and not warm_shop.records()


def test_the_terminal_report_fits_in_80_columns_without_colour(sick: Workshop) -> None:
    for env in ({}, {"COLUMNS": "200"}, {"NO_COLOR": "1"}):
        text = sick.paramedic("report", "-vv", env=env).stdout
        assert "\x1b[" not in text
        assert max(len(line) for line in text.splitlines() if not re.search(r"/\S{60,}", line)) <= 80


@pytest.mark.parametrize(
    ("environment", "coloured"), [({}, True), ({"NO_COLOR": "1"}, False), ({"TERM": "dumb"}, False)]
)
def test_colour_on_a_terminal_unless_forbidden(sick: Workshop, environment: dict[str, str], coloured: bool) -> None:
    """On a real pseudo-terminal."""
    master, slave = pty.openpty()
    command = [sys.executable, "-m", "paramedic", "report"]
    with subprocess.Popen(command, cwd=sick.folder, env=sick.env | environment, stdout=slave, stderr=slave) as process:
        os.close(slave)
        text = b""
        while True:
            try:
                part = os.read(master, 4096)
            except OSError:
                break
            if not part:
                break
            text += part
    os.close(master)
    assert process.returncode == 1 and b"PM502" in text
    assert (b"\x1b[" in text) == coloured


def test_ascii_terminals_get_ascii(sick: Workshop) -> None:
    done = sick.paramedic("report", env={"PYTHONIOENCODING": "ascii"})
    assert done.code == 1 and done.stdout.isascii() and "PM502" in done.stdout


@pytest.mark.parametrize("word", ["PM502", "pm502", "softmax-before-cross-entropy"])
def test_explain_by_code_or_name(warm_shop: Workshop, word: str) -> None:
    done = warm_shop.paramedic("explain", word)
    assert done.code == 0 and "\x1b[" not in done.stdout
    for heading in ("Why it hurts", "What to try first", "When this is wrong", "tolerance"):
        assert heading in done.stdout


def test_explain_of_an_unknown_rule(warm_shop: Workshop) -> None:
    done = warm_shop.paramedic("explain", "softmax-before-crossentropy")
    assert done.code == 2 and "did you mean softmax-before-cross-entropy?" in done.stderr


def test_rules_are_listed_and_filtered(warm_shop: Workshop) -> None:
    everything = warm_shop.paramedic("rules").stdout
    some = warm_shop.paramedic("rules", "PM5", "gradients-not-cleared").stdout
    assert all(code in everything for code in ("PM105", "PM502", "PM613"))
    assert "PM502" in some and "PM601" in some and "PM401" not in some and "PM602" not in some


def test_the_demo_finds_the_fault_and_writes_the_report(warm_shop: Workshop) -> None:
    done = warm_shop.paramedic("demo", "tour")
    assert done.code == 0, done.stderr
    assert "PM502" in done.stderr and "Verdict: sick." in done.stderr
    page = (warm_shop.folder / "tour" / "report.html").read_text()
    assert "PM502" in page and "tour/report.html" in done.stdout


def test_the_demo_a_second_time_is_fine(warm_shop: Workshop) -> None:
    assert warm_shop.paramedic("demo", "tour").code == warm_shop.paramedic("demo", "tour").code == 0


def test_the_demo_leaves_my_own_work_alone(warm_shop: Workshop) -> None:
    warm_shop.write("tour/train_digits.py", "print('my own work')")
    again = warm_shop.paramedic("demo", "tour")
    assert again.code == 2 and "my own work" in (warm_shop.folder / "tour" / "train_digits.py").read_text()


def test_help_names_flags_and_arguments_without_the_types_of_python(warm_shop: Workshop) -> None:
    for words in ((), ("run",), ("compare",), ("merge",), ("synth", "ladder")):
        done = warm_shop.paramedic(*words, "--help")
        assert done.code == 0
        for name in ("<bool>", "<str>", "<list[", "<path>", "<int"):
            assert name not in done.stdout


def test_conditions_that_never_went_one_way_are_listed_on_request(shop: Workshop) -> None:
    script = shop.write(
        "branches.py",
        "import torch\n"
        "model = torch.nn.Linear(2, 1)\n"
        "optimizer = torch.optim.SGD(model.parameters(), lr=0.1)\n"
        "for step in range(5):\n"
        "    model(torch.ones(4, 2)).mean().backward()\n"
        "    if step > 1000:\n"
        "        print('warm')\n"
        "    optimizer.step()\n",
    )
    said = shop.paramedic("run", "--branches", script).stderr
    assert "branches.py:6  always false: step > 1000" in said
    assert "never went" not in shop.paramedic("run", script).stderr
