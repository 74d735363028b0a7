"""`paramedic diagnose`: real scripts, real experiments, and what becomes of the user's files."""

from __future__ import annotations

import json
import shutil
import signal
import time
from pathlib import Path

import pytest

from workshop import CASES, Done, Workshop

SCRIPT = """
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(0)
centres = torch.randn(3, 12)
y = torch.randint(0, 3, (600,))
x = centres[y] + torch.randn(600, 12)
loader = DataLoader(TensorDataset(x, y), batch_size=32, shuffle=True)
model = nn.Sequential(nn.Linear(12, 32), nn.ReLU(), nn.Linear(32, 3))
optimizer = torch.optim.Adam(model.parameters(), lr=3e-3)
for epoch in range(100):
    for xb, yb in loader:
        optimizer.zero_grad()
        loss = nn.functional.cross_entropy(model(xb), yb)
        loss.backward()
        optimizer.step()
"""


def diagnosed(shop: Workshop, script: object, *options: object) -> Done:
    done = shop.paramedic("diagnose", "--json", "out.json", "--steps", 150, *options, script)
    assert "Traceback" not in done.stderr, done.stderr
    assert "failed and was detached" not in done.stderr
    return done


def case(shop: Workshop, code: str, kind: str) -> Done:
    (folder,) = CASES.glob(f"{code}-*")
    shutil.copy(folder / f"{kind}.py", shop.folder)
    return diagnosed(shop, f"{kind}.py")


@pytest.mark.parametrize(("code", "cause"), [("PM214", "model"), ("PM311", "data")])
def test_the_cause_is_named(shop: Workshop, code: str, cause: str) -> None:
    done = case(shop, code, "sick")
    assert (done.found["cause"], done.codes[0]) == (cause, code), done.stderr
    assert done.code == 1 and done.found["verdict"] == "sick"
    assert done.found["findings"][0]["where"]["file"] == "sick.py"
    names = [made["name"] for made in done.found["experiments"]]
    assert names[0] == "baseline" and {"one-batch", "permuted-labels", "twin"} <= set(names)
    for made in done.found["experiments"]:
        assert {"name", "changed", "outcome", "first_loss", "last_loss", "steps", "seconds", "run"} <= set(made)
        assert Path(made["run"]).is_dir()


def test_a_healthy_script_is_left_in_peace_and_nothing_of_its_folder_is_touched(shop: Workshop) -> None:
    shop.write("train.py", f"{SCRIPT}\n        torch.save(model.state_dict(), 'model.pt')\n        break\n")
    (shop.folder / "model.pt").write_text("mine")
    (shop.folder / "big.bin").write_bytes(b"0" * 2_000_000)
    done = diagnosed(shop, "train.py", "--html", "report.html")
    assert done.found["cause"] == "none" and done.alarms == [] and done.code == 0, done.stderr
    assert any("labels" in words for words in done.found["ruled_out"])
    assert (shop.folder / "model.pt").read_text() == "mine"
    assert sorted(path.name for path in shop.folder.iterdir()) == sorted(
        [".paramedic", "big.bin", "model.pt", "out.json", "report.html", "train.py"]
    )
    page = (shop.folder / "report.html").read_text()
    assert "permuted-labels" in page and "<polyline" in page
    again = shop.paramedic("report", Path(done.found["run"]["record"]).name)
    assert "PM214" not in again.stderr + again.stdout


def test_a_script_that_fails_is_a_result(shop: Workshop) -> None:
    shop.write("train.py", f"{SCRIPT}        assert xb.abs().sum() > 0, 'empty'\n")
    done = diagnosed(shop, "train.py", "--only", "zeroed-inputs,batch-x4")
    made = {each["name"]: each for each in done.found["experiments"]}
    assert made["zeroed-inputs"]["outcome"] == "crashed" and "AssertionError" in made["zeroed-inputs"]["reason"]
    assert made["batch-x4"]["outcome"] in ("ended", "stopped")


def test_a_script_that_cannot_start_is_said_to_be_so(shop: Workshop) -> None:
    shop.write("train.py", "raise SystemExit('no data here')\n")
    done = shop.paramedic("diagnose", "train.py")
    assert done.code == 2 and "took no optimizer step" in done.stderr
    assert "no data here" in done.stderr and "paramedic run train.py" in done.stderr


def test_an_unknown_experiment_is_refused(shop: Workshop) -> None:
    shop.write("train.py", SCRIPT)
    done = shop.paramedic("diagnose", "--only", "one-bach", "train.py")
    assert done.code == 2 and "one-batch" in done.stderr


def test_ctrl_c_gives_the_verdict_so_far(shop: Workshop) -> None:
    shop.write("train.py", SCRIPT.replace("optimizer.step()", "optimizer.step(); import time; time.sleep(0.01)"))
    process = shop.start("diagnose", "--json", "out.json", "train.py")
    began = time.monotonic()
    while not list(shop.folder.glob(".paramedic/runs/*/permuted-labels/main.db")) and time.monotonic() - began < 100:
        time.sleep(0.1)
    process.send_signal(signal.SIGINT)
    _, said = process.communicate(timeout=60)
    found = json.loads((shop.folder / "out.json").read_text())
    assert "Verdict" in said and "interrupted" in [made["outcome"] for made in found["experiments"]]


def test_on_a_ray_cluster_of_two_workers(shop: Workshop) -> None:
    pytest.importorskip("ray")
    shop.write("train.py", SCRIPT)
    program = """
    import ray, sys
    ray.init(num_cpus=2, include_dashboard=False, logging_level="ERROR", log_to_driver=False)
    sys.argv = "paramedic diagnose --on ray --steps 60 --only one-batch,twin --json out.json train.py".split()
    from paramedic.__main__ import main
    main()
    """
    done = shop.python(shop.write("on_ray.py", program))
    made = {each["name"]: each for each in done.found["experiments"]}
    assert {each["outcome"] for each in made.values()} == {"stopped"}, done.stderr
    assert made["one-batch"]["last_loss"] < made["one-batch"]["first_loss"]
    assert (Path(made["twin"]["run"]) / "main.db").exists()
