"""First, do no harm: training is bit for bit the same, whatever the script does and whatever breaks in paramedic."""

from __future__ import annotations

import resource
import subprocess
import sys
from pathlib import Path

import pytest

from workshop import TRAIN, Done, Workshop

PROGRAMS = Path(__file__).parent / "programs"
COMPILED = ("compiled", "scripted")  # their calls cannot be examined, and the verdict says so
NAMES = sorted(path.stem for path in PROGRAMS.glob("*.py") if path.stem != "fingerprint")


@pytest.mark.parametrize("name", NAMES)
def test_losses_weights_and_random_states_are_bit_identical(warm_shop: Workshop, name: str) -> None:
    warm_shop.env.update(TORCHINDUCTOR_CACHE_DIR=str(warm_shop.folder / "cache"), TORCHINDUCTOR_COMPILE_THREADS="1")
    script = PROGRAMS / f"{name}.py"
    watched, plain = warm_shop.run(script), warm_shop.python(script)
    assert plain.code == 0, plain.stderr
    assert watched.code == 0, watched.stderr
    assert watched.stdout.splitlines() == plain.stdout.splitlines()
    assert watched.alarms == []
    assert watched.found["verdict"] == ("inconclusive" if name in COMPILED else "healthy"), watched.found["reason"]
    assert watched.found["run"]["steps"] >= 12
    assert watched.found["rules"]["crashed"] == []
    assert "detached" not in watched.stderr and not [n for n in watched.found["run"]["notices"] if "failed" in n]
    assert watched.stderr.count("Warning:") <= plain.stderr.count("Warning:"), watched.stderr


def test_saved_models_load_where_paramedic_is_not_installed(shop: Workshop) -> None:
    assert shop.run(PROGRAMS / "copies.py").code == 0
    program = """
        import pickle, sys
        sys.modules["paramedic"] = None  # importing it would fail
        import torch
        whole = torch.load("whole.pt", weights_only=False)
        pickled = pickle.load(open("model.pickle", "rb"))
        state = torch.load("state.pt", weights_only=True)
        for model in (whole["model"], pickled[0]):
            hooks = [name for m in model.modules() for name, v in vars(m).items() if name.endswith("_hooks") and v]
            print(hooks, torch.equal(model[0].weight, state["model"]["0.weight"]), model(torch.ones(1, 6)).shape)
        whole["optimizer"].step()
        pickled[2].step()
        print(type(whole["loss"]).__name__)
        """
    shop.write("load.py", program)
    done = shop.python("load.py")
    assert done.stdout.splitlines() == ["[] True torch.Size([1, 1])"] * 2 + ["Tensor"], done.stderr


def test_tensors_and_models_are_not_kept_alive(warm_shop: Workshop) -> None:
    body = """
import gc, weakref

class Big(nn.Linear):
    pass

def once():
    torch.manual_seed(0)
    model, alive = Big(4, 3), []
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for step in range(30):
        x = torch.randn(16, 4)
        out = model(x)
        loss = F.cross_entropy(out, x[:, :3].argmax(dim=1))
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        with torch.no_grad():
            metric = model(x).argmax(1)
        alive += [weakref.ref(each) for each in (x, out, loss, metric)]
        del x, out, loss, metric
    print("kept of the old steps", sum(ref() is not None for ref in alive[:-8]))
    return weakref.ref(model), weakref.ref(model.weight)

refs = once() + once()
train(6)
gc.collect()
print("models kept", sum(ref() is not None for ref in refs))
"""
    warm_shop.write("train.py", TRAIN + body)
    assert warm_shop.run("train.py").stdout.splitlines() == ["kept of the old steps 0"] * 2 + ["models kept 0"]


def test_a_forward_that_raises_is_the_scripts_business(warm_shop: Workshop) -> None:
    body = """
import warnings
warnings.simplefilter("error")
model = nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 3))
for size in (5, 4, 6):
    try:
        model(torch.randn(2, size))
    except RuntimeError as error:
        print("caught", str(error)[:4])
print(train(8) > 0)
"""
    warm_shop.write("train.py", TRAIN + body)
    done = warm_shop.run("train.py")
    assert done.stdout == "caught mat1\ncaught mat1\nTrue\n"
    assert "Warning" not in done.stderr and done.alarms == [] and done.found["run"]["steps"] == 8


def test_what_torch_scripts_finds_its_names(shop: Workshop) -> None:
    body = """
from torch.distributed.optim import ZeroRedundancyOptimizer

def double(x: torch.Tensor) -> torch.Tensor:
    return 2 * x

def inside():
    @torch.jit.ignore
    def hint(n: int) -> None:
        pass

    @torch.jit.script
    class Scale:
        def __init__(self, by: float):
            hint(1)
            self.by = by

        def apply(self, x: torch.Tensor) -> torch.Tensor:
            return self.by * double(x)

    return Scale(3.0)

print(inside().apply(torch.ones(1)).item(), train(3) > 0)
"""
    shop.write("train.py", TRAIN + body)
    done = shop.run("train.py")
    assert done.stdout == "6.0 True\n", done.stderr
    assert done.found["run"]["steps"] == 3


def test_torchs_warnings_name_the_users_line(shop: Workshop) -> None:
    body = """
weight = torch.ones(1, requires_grad=True)
print("%.1f" % weight.sum(), float(weight.sum()))
model, optimizer = nn.Linear(2, 1), None
for step in range(3):
    optimizer = optimizer or torch.optim.SGD(model.parameters(), lr=0.1)
    model(torch.tensor(torch.ones(1, 2))).sum().backward()
    optimizer.step()
"""
    shop.write("train.py", TRAIN + body)
    done = shop.run("train.py")
    warned = [line for line in done.stderr.splitlines() if "UserWarning: " in line]
    assert len(warned) == 2 and all("train.py:" in line for line in warned), done.stderr
    assert done.stdout == "1.0 1.0\n"


# Probes made to fail for real, from inside the script.
FAULTS = {
    "describing a tensor": """
from paramedic.capture import facts
from paramedic.capture.sources import data_loaders, losses, module_calls
for place in (facts, module_calls, data_loaders, losses):
    place.describe = place.values = lambda *a, **k: 1 / 0
""",
    "finding the line": "from paramedic.capture.sources import losses\nlosses.user_site = lambda *a: [].pop()",
    "writing a fact": "from paramedic.record.writer import Writer\nWriter.state = lambda *a, **k: {}['gone']",
    "a tensor that cannot be read": "torch.Tensor.tolist = lambda self: 1 / 0",
}


@pytest.mark.parametrize("fault", FAULTS)
def test_a_probe_that_fails_is_detached_told_once_and_training_goes_on(shop: Workshop, fault: str) -> None:
    plain = shop.write("plain.py", TRAIN + "print(train(30).hex())\n")
    shop.write("train.py", TRAIN + FAULTS[fault] + "\nprint(train(30).hex())\n")
    done = shop.run("train.py")
    assert (done.code, done.stdout) == (0, shop.python(plain).stdout), done.stderr
    assert "Traceback" not in done.stderr
    told = [line for line in done.stderr.splitlines() if line.startswith("paramedic: the probe ")]
    assert told and len(told) == len({line.split("'")[1] for line in told}), "every probe tells once"
    assert "Verdict: " in done.stderr
    if done.found["verdict"] == "healthy":
        assert done.found["run"]["notices"], "the report confesses"


def test_a_tensor_subclass_that_refuses_everything_does_not_end_training(warm_shop: Workshop) -> None:
    body = """
class Stubborn(torch.Tensor):
    @classmethod
    def __torch_function__(cls, func, types, args=(), kwargs=None):
        if func.__name__ in ("linear", "__get__", "cross_entropy", "backward", "argmax", "softmax"):
            return super().__torch_function__(func, types, args, kwargs or {})
        raise NotImplementedError(f"no {func.__name__} for Stubborn")

model = nn.Linear(4, 3)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for step in range(12):
    x = torch.randn(16, 4)
    y = x[:, :3].argmax(dim=1)
    loss = F.cross_entropy(model(x.as_subclass(Stubborn)), y)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
print("trained", loss.as_subclass(torch.Tensor).item().hex())
"""
    warm_shop.write("train.py", TRAIN + "torch.manual_seed(0)\n" + body)
    plain, done = warm_shop.python("train.py"), warm_shop.run("train.py")
    assert plain.code == 0, plain.stderr
    assert (done.code, done.stdout) == (0, plain.stdout), done.stderr
    assert done.alarms == []


def goes_on_unwatched(shop: Workshop, done: Done, place: str) -> None:
    """One clear line, no alarm, and the script's own exit code and output."""
    assert (done.code, done.stdout) == (3, "trained\n"), done.stderr
    lines = [line for line in done.stderr.splitlines() if line.startswith("paramedic:")]
    assert len(lines) == 1 and "cannot" in lines[0] and place in lines[0] and "--runs" in lines[0], done.stderr
    assert "Traceback" not in done.stderr
    assert "Verdict: healthy" not in done.stderr


ENDS_WITH_3 = TRAIN + "train(60, pause=0.02)\nprint('trained')\nraise SystemExit(3)\n"


def test_a_folder_that_cannot_be_written(warm_shop: Workshop) -> None:
    warm_shop.write("train.py", ENDS_WITH_3)
    (warm_shop.folder / "runs").write_text("a file in the way, which stops even root")
    goes_on_unwatched(warm_shop, warm_shop.run("train.py", options=("--runs", "runs")), "runs")


def test_a_read_only_file_system(warm_shop: Workshop) -> None:
    warm_shop.write("train.py", ENDS_WITH_3)
    goes_on_unwatched(warm_shop, warm_shop.run("train.py", options=("--runs", "/proc/paramedic")), "/proc/paramedic")


def test_a_disk_that_is_full_before_the_first_fact(warm_shop: Workshop) -> None:
    warm_shop.write("train.py", ENDS_WITH_3)
    (warm_shop.folder / "full").mkdir()
    with small_disk(warm_shop.folder / "full", "8k"):
        (warm_shop.folder / "full" / "ballast").write_bytes(b"x" * 4096)
        goes_on_unwatched(warm_shop, warm_shop.run("train.py", options=("--runs", "full")), "full")


def test_a_disk_that_fills_up_in_mid_training_keeps_what_was_recorded(warm_shop: Workshop) -> None:
    text = TRAIN + "train(12)\nimport time\ntime.sleep(0.6)\nopen('full/ballast', 'wb').write(b'x' * 2**18)\n"
    fill = "open('full/rest', 'wb', buffering=0).write(b'x' * 2**20)\n"
    warm_shop.write("train.py", text + fill + "train(300, pause=0.01)\nprint('trained')\nraise SystemExit(3)\n")
    (warm_shop.folder / "full").mkdir()
    with small_disk(warm_shop.folder / "full", "1m"):
        done = warm_shop.run("train.py", options=("--runs", "full"))
        assert (done.code, done.stdout) == (3, "trained\n"), done.stderr
        assert len([line for line in done.stderr.splitlines() if "cannot write the record" in line]) == 1
        assert "Traceback" not in done.stderr and "Verdict: healthy" not in done.stderr
        (warm_shop.folder / "full" / "ballast").unlink()
        assert "12 " in warm_shop.paramedic("report", "--runs", "full", "-v").stdout, "the first steps are still there"


class small_disk:
    """A tmpfs of this size; without the right to mount one the test cannot be made."""

    def __init__(self, folder: Path, size: str) -> None:
        self.folder, self.size = folder, size

    def __enter__(self) -> None:
        command = ["mount", "-t", "tmpfs", "-o", f"size={self.size}", "tmpfs", str(self.folder)]
        if subprocess.run(command, capture_output=True, check=False).returncode:
            pytest.skip("this machine lets nobody mount a tmpfs")

    def __exit__(self, *_: object) -> None:
        subprocess.run(["umount", "-l", str(self.folder)], check=True)


def test_a_file_size_limit(shop: Workshop) -> None:
    """The same as a full disk, where no disk can be mounted: files may not grow beyond a few blocks."""
    shop.write("train.py", "import signal\nsignal.signal(signal.SIGXFSZ, signal.SIG_IGN)\n" + ENDS_WITH_3)
    limit = 20_000  # bytes
    done = shop.run("train.py", prepare=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit)))
    goes_on_unwatched(shop, done, ".paramedic")


def test_stdout_that_is_closed_early_ends_as_under_python(shop: Workshop) -> None:
    shop.write("train.py", TRAIN + "train(6)\nfor line in range(20000):\n    print(line)\n")
    codes = []
    for words in (["train.py"], ["-m", "paramedic", "run", "train.py"]):
        command = " ".join([sys.executable, *words]) + " | head -1; exit ${PIPESTATUS[0]}"
        done = subprocess.run(["bash", "-c", command], cwd=shop.folder, env=shop.env, capture_output=True, text=True)
        assert done.stdout == "0\n" and done.stderr.count("BrokenPipeError: ") == 1
        codes.append(done.returncode)
    assert codes[0] == codes[1]
