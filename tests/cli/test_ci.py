"""Builds: files, annotations and baselines from the command line, and the exit codes a build server acts on."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from xml.etree import ElementTree as Xml

import pytest
import yaml

from workshop import ROOT, TRAIN, Workshop


@pytest.fixture
def sick(warm_shop: Workshop) -> Workshop:
    warm_shop.write(
        "train.py", TRAIN + "import os\nos.makedirs('deep', exist_ok=True)\nos.chdir('deep')\ntrain(12, softmax=True)\n"
    )
    return warm_shop


def test_every_format_is_written_where_the_command_was_given(sick: Workshop) -> None:
    done = sick.paramedic(
        "run", "--sarif", "out.sarif", "--junit", "out.xml", "--annotations", "github", "--fail-on", "error", "train.py"
    )
    assert done.code == 1 and "\n::error file=train.py,line=" in done.stderr and done.stdout == ""
    (run,) = json.loads((sick.folder / "out.sarif").read_text())["runs"]
    assert run["results"][0]["ruleId"] == "PM502"
    (suite,) = Xml.parse(sick.folder / "out.xml").getroot()
    assert suite.get("failures") == "1"


def test_only_new_findings_fail_a_build(sick: Workshop) -> None:
    options = ("--baseline", "known.json")
    without = sick.paramedic("check", *options, "train.py")
    assert without.code == 2 and "--update-baseline" in without.stderr and "Traceback" not in without.stderr
    assert sick.paramedic("check", *options, "--update-baseline", "train.py").code == 0
    (entry,) = json.loads((sick.folder / "known.json").read_text())["findings"]
    assert (entry["code"], entry["file"], entry["function"]) == ("PM502", "train.py", "train")
    again = sick.paramedic("check", *options, "train.py")
    assert again.code == 0 and "Verdict: sick. 1 error (1 in the baseline)" in again.stderr
    assert "Known, from the baseline" in again.stderr and "\n  why " not in again.stderr
    script = sick.folder / "train.py"
    script.write_text("# a line above\n" + script.read_text())
    assert sick.paramedic("run", *options, "--fail-on", "error", "train.py").code == 0
    (sick.folder / "known.json").write_text('{"version": 1, "findings": []}')
    assert sick.paramedic("run", *options, "--fail-on", "error", "train.py").code == 1
    assert sick.paramedic("report", *options).code == 1


@pytest.mark.parametrize(
    "content", ["", "[]", '{"version": 2, "findings": []}', '{"version": 1}', '{"version": 1, "findings": [3]}']
)
def test_a_broken_baseline_is_refused_before_the_script_runs(warm_shop: Workshop, content: str) -> None:
    warm_shop.write("train.py", "print('ran')")
    (warm_shop.folder / "known.json").write_text(content)
    done = warm_shop.paramedic("run", "--baseline", "known.json", "train.py")
    assert done.code == 2 and "known.json" in done.stderr and "expected" in done.stderr and done.stdout == ""


def test_an_update_needs_a_file(warm_shop: Workshop) -> None:
    warm_shop.write("train.py", "print('ran')")
    done = warm_shop.paramedic("check", "--update-baseline", "train.py")
    assert done.code == 2 and "--baseline" in done.stderr and done.stdout == ""


def test_gitlab_gets_its_file(sick: Workshop) -> None:
    assert sick.paramedic("check", "--annotations", "gitlab", "train.py").code == 1
    (entry,) = json.loads((sick.folder / "gl-code-quality-report.json").read_text())
    assert entry["location"]["path"] == "train.py"


def test_report_prints_any_format(sick: Workshop) -> None:
    sick.paramedic("check", "-q", "train.py")
    assert json.loads(sick.paramedic("report", "--format", "sarif").stdout)["version"] == "2.1.0"
    assert Xml.fromstring(sick.paramedic("report", "--format", "junit").stdout).tag == "testsuites"


def test_the_action_runs_what_it_is_given(shop: Workshop) -> None:
    """Its shell script as GitHub would run it, inputs in variables."""
    shop.write("train.py", TRAIN + "import sys\nprint(sys.argv[1:])\ntrain(12, softmax=True)\n")
    action = yaml.safe_load((ROOT / "action.yml").read_text())
    step = action["runs"]["steps"][-1]
    inputs = {
        "command": "check",
        "options": "--steps 6",
        "sarif": "out.sarif",
        "script": "train.py --epochs 1 $(touch x)",
    }
    given = {name: inputs[value.split(".")[1].split()[0]] for name, value in step["env"].items()}
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    done = subprocess.run(
        ["bash", "-e", "-c", step["run"]], cwd=shop.folder, env=shop.env | given | {"PATH": path},
        capture_output=True, text=True, timeout=300, check=False,
    )  # fmt: skip
    assert done.returncode == 1 and done.stdout.strip() == "['--epochs', '1', '$(touch', 'x)']", done.stderr
    assert "::error file=train.py" in done.stderr and (shop.folder / "out.sarif").exists()
    assert not (shop.folder / "x").exists()
