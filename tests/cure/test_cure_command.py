"""`paramedic cure` in real processes: nothing is touched unasked, and what is written cures."""

from __future__ import annotations

import json
import subprocess

import pytest

from workshop import TRAIN, Workshop

SICK = TRAIN + "\nprint('accuracy', 0.5, 'loss', train(40, softmax=True))\n"
FILES = ["--json", "out.json", "--html", "out.html", "--diff", "fix.patch", "--sarif", "out.sarif"]
GIT = ["git", "-c", "user.name=a", "-c", "user.email=a@example.org"]


def test_the_fix_is_shown_proved_written_and_final(warm_shop: Workshop) -> None:
    script = warm_shop.write("train.py", SICK)
    script.write_bytes(script.read_bytes().replace(b"\n", b"\r\n"))
    script.chmod(0o755)
    before = script.read_bytes()
    shown = warm_shop.paramedic("cure", *FILES, "--jobs", "1", "train.py")
    assert shown.code == 1 and script.read_bytes() == before
    assert "-            out = out.softmax(dim=1)" in shown.stderr
    assert "finding gone; no new alarm" in shown.stderr and "Nothing was written" in shown.stderr
    assert shown.stdout == ""  # it belongs to the script
    [edit] = shown.found["edits"]
    assert edit["confirmed"] and edit["safety"] == "safe" and edit["file"] == "train.py"
    assert edit["before"]["alarms"] == ["PM502"] and edit["after"]["alarms"] == []
    assert edit["after"]["last_loss"] < edit["before"]["last_loss"]
    page = (warm_shop.folder / "out.html").read_text()
    assert (
        '<span class="removed">-            out = out.softmax(dim=1)' in page and "finding gone; no new alarm" in page
    )
    assert "Loss before and after the edit" in page and "confirmed</span> · safe" in page
    sarif = json.loads((warm_shop.folder / "out.sarif").read_text())
    [change] = sarif["runs"][0]["results"][0]["fixes"][0]["artifactChanges"]
    [piece] = change["replacements"]
    at, length = piece["deletedRegion"]["charOffset"], piece["deletedRegion"]["charLength"]
    assert change["artifactLocation"]["uri"] == "train.py" and piece["insertedContent"]["text"] == "out"
    assert before.decode()[at : at + length] == "out.softmax(dim=1)"
    assert shown.found["findings"][0]["code"] == "PM502" and shown.found["after"]["alarms"] == []

    wrote = warm_shop.paramedic("cure", "--write", "-q", "--jobs", "1", "train.py")
    assert wrote.code == 0 and "Wrote train.py" in wrote.stderr
    assert script.read_bytes() == before.replace(b"out = out.softmax(dim=1)", b"out = out")
    assert script.stat().st_mode & 0o777 == 0o755
    again = warm_shop.paramedic("cure", "--write", "train.py")
    assert again.code == 0 and "nothing to cure" in again.stderr
    script.write_bytes(before)
    subprocess.run(["git", "apply", "fix.patch"], cwd=warm_shop.folder, check=True)
    assert b"softmax(dim=1)" not in script.read_bytes()


def test_a_value_of_the_command_line_is_said_and_nothing_is_written(warm_shop: Workshop) -> None:
    head = "import sys\nlr = float(sys.argv[2])\n"
    script = warm_shop.write("train.py", head + TRAIN.replace("lr=0.1", "lr=lr") + "\nprint('loss', train(60))\n")
    before = script.read_bytes()
    options = ["--unsafe", "--write", "--jobs", "1", "--json", "out.json"]
    done = warm_shop.paramedic("cure", *options, "train.py", "--lr", "3000", "--token", "hf_abcdefgh12345678")
    [edit] = done.found["edits"]
    assert done.code == 1 and script.read_bytes() == before
    assert edit["command"].startswith("python train.py --lr ") and float(edit["command"].split()[3]) < 3000
    assert f"Type {edit['command']}" in " ".join(done.stderr.split())
    assert "abcdefgh12345678" not in done.stderr + json.dumps(done.found)


def test_the_edits_are_tried_on_a_ray_cluster(shop: Workshop) -> None:
    pytest.importorskip("ray")
    shop.write("train.py", SICK)
    program = """
    import ray, sys
    ray.init(num_cpus=2, include_dashboard=False, logging_level="ERROR", log_to_driver=False)
    sys.argv = "paramedic cure --on ray --steps 40 --json out.json train.py".split()
    from paramedic.__main__ import main
    main()
    """
    done = shop.python(shop.write("on_ray.py", program))
    [edit] = done.found["edits"]
    assert edit["confirmed"] and edit["after"]["alarms"] == [], done.stderr


def test_nothing_is_proposed_for_a_healthy_script(warm_shop: Workshop) -> None:
    script = warm_shop.write("train.py", TRAIN + "\ntrain(30)\n")
    before = script.read_bytes()
    done = warm_shop.paramedic("cure", "--unsafe", "--write", "--json", "out.json", "train.py")
    assert done.code == 0 and done.found["edits"] == [] and script.read_bytes() == before


def test_a_dirty_tree_and_a_missing_script_are_clear_errors(warm_shop: Workshop) -> None:
    script = warm_shop.write("train.py", SICK)
    for words in (["init", "-q"], ["add", "-A"], ["commit", "-qm", "first"]):
        subprocess.run([*GIT, *words], cwd=warm_shop.folder, check=True)
    script.write_text(SICK + "\n")
    done = warm_shop.paramedic("cure", "--write", "train.py")
    assert done.code == 2 and "not committed" in done.stderr and "--force" in done.stderr
    assert script.read_text() == SICK + "\n"
    assert warm_shop.paramedic("cure", "missing.py").code == 2


def test_a_script_that_does_not_train_is_a_clear_error(warm_shop: Workshop) -> None:
    warm_shop.write("train.py", "print('no training here')\n")
    done = warm_shop.paramedic("cure", "train.py")
    assert done.code == 2 and "no optimizer step" in done.stderr
