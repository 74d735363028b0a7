"""Signals, forks, spawned children, workers and threads: the run stays what it is under plain python."""

from __future__ import annotations

import signal
import subprocess
import textwrap

import pytest

from workshop import TIMEOUT, TRAIN, Workshop, wait_for_line, wait_until

ENDLESS = TRAIN + "train(6)\nprint('ready', flush=True)\ntrain(10**6, pause=0.01)\n"


def _finish(process: subprocess.Popen[str]) -> tuple[int, str]:
    stderr = process.communicate(timeout=TIMEOUT)[1]
    return process.returncode, stderr


def test_ctrl_c_keeps_the_record_gives_the_verdict_and_dies_of_the_signal(shop: Workshop) -> None:
    shop.write("train.py", ENDLESS)
    process = shop.start("run", "--json", "out.json", "train.py")
    wait_for_line(process, "ready")
    process.send_signal(signal.SIGINT)
    code, stderr = _finish(process)
    assert code == -signal.SIGINT
    assert "KeyboardInterrupt" in stderr and stderr.rstrip().splitlines()[-1].startswith("paramedic: wrote")
    assert "Verdict: healthy." in stderr and (shop.folder / "out.json").exists()
    again = shop.paramedic("report")
    assert again.code == 0 and "Verdict: healthy." in again.stdout


def test_a_script_may_handle_ctrl_c_itself(shop: Workshop) -> None:
    body = (
        "try:\n    train(10**6, pause=0.01)\nexcept KeyboardInterrupt:\n    print('saved')\n    raise SystemExit(5)\n"
    )
    shop.write("train.py", TRAIN + "print('ready', flush=True)\n" + body)
    process = shop.start("run", "--json", "out.json", "train.py")
    wait_for_line(process, "ready")
    wait_until(lambda: bool(shop.records()))
    process.send_signal(signal.SIGINT)
    stdout, stderr = process.communicate(timeout=TIMEOUT)
    assert (process.returncode, stdout) == (5, "saved\n")
    assert "Verdict:" in stderr


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM])
def test_a_killed_run_can_still_be_reported(shop: Workshop, number: signal.Signals) -> None:
    again = "train(10**6, softmax=True, pause=0.01)"
    shop.write("train.py", TRAIN + f"train(30, softmax=True)\nprint('ready', flush=True)\n{again}\n")
    process = shop.start("run", "train.py")
    wait_for_line(process, "ready")
    wait_until(lambda: shop.paramedic("report").code == 1)  # the record is readable while it is written
    process.send_signal(number)
    assert _finish(process)[0] == -number
    after = shop.paramedic("report", "--json", "out.json")
    assert after.code == 1 and after.codes[0] == "PM502"
    assert after.found["run"]["steps"] >= 30 and after.found["run"]["exit_code"] is None


FORK = """
import os, sys
pid = os.fork()
if pid == 0:
    {child}
    print("child done", flush=True)
    {leave}
_, status = os.waitpid(pid, 0)
print("child left with", os.waitstatus_to_exitcode(status))
"""


@pytest.mark.parametrize("leave", ["sys.exit(7)", "os._exit(7)", "raise ValueError('bad')"])
def test_a_fork_that_trains_has_a_record_of_its_own(warm_shop: Workshop, leave: str) -> None:
    code = 1 if "raise" in leave else 7
    warm_shop.write(
        "train.py", TRAIN + FORK.format(child="train(40, softmax=True, pause=0.01)", leave=leave) + "train(8)\n"
    )
    done = warm_shop.run("train.py")
    assert done.code == 0
    assert done.stdout == f"child done\nchild left with {code}\n"
    assert done.stderr.count("Verdict:") == 1, "only the script itself gives a verdict"
    assert done.codes[0] == "PM502"
    assert len(warm_shop.records()) == 2
    assert not [line for line in done.stderr.splitlines() if line.startswith("  File") and "paramedic/" in line]


def test_a_fork_that_only_works_leaves_no_record(warm_shop: Workshop) -> None:
    warm_shop.write("train.py", TRAIN + FORK.format(child="torch.randn(3).sum()", leave="sys.exit(0)") + "train(8)\n")
    done = warm_shop.run("train.py")
    assert done.stdout == "child done\nchild left with 0\n"
    assert done.found["verdict"] == "healthy"
    assert [path.name for path in warm_shop.records()] == ["main.db"]


POOL = """
import multiprocessing

def work(seed):
    return {work}

if __name__ == "__main__":
    context = multiprocessing.get_context("{method}")
    with context.Pool(2) as pool:
        print(pool.map(work, [1, 2]))
    process = context.Process(target=work, args=(3,))
    process.start()
    process.join()
    print(process.exitcode)
"""


@pytest.mark.parametrize("method", ["fork", "spawn"])
def test_children_that_only_work_are_left_alone(warm_shop: Workshop, method: str) -> None:
    warm_shop.write("train.py", TRAIN + POOL.format(method=method, work="seed * 2") + "    train(8)\n")
    done = warm_shop.run("train.py")
    assert (done.code, done.stdout) == (0, "[2, 4]\n0\n")
    assert done.found["verdict"] == "healthy"
    assert [path.name for path in warm_shop.records()] == ["main.db"]
    assert done.stderr.count("paramedic:") == 1, done.stderr


@pytest.mark.parametrize("method", ["fork", "spawn"])
def test_children_that_train_are_watched(warm_shop: Workshop, method: str) -> None:
    work = "train(20, seed=seed, softmax=seed == 3) and seed"
    warm_shop.write("train.py", TRAIN + POOL.format(method=method, work=work))
    done = warm_shop.run("train.py")
    assert (done.code, done.stdout) == (0, "[1, 2]\n0\n")
    assert done.codes[0] == "PM502", "the third child trains with a softmax before the loss"
    assert done.found["findings"][0]["where"]["line"] == 17
    assert done.found["run"]["steps"] >= 20


def test_a_python_started_by_the_script_is_watched_too(shop: Workshop) -> None:
    shop.write("inner.py", TRAIN + "print(train(20, softmax=True) > 0)\n")
    shop.write(
        "train.py", "import subprocess, sys\nsys.exit(subprocess.run([sys.executable, 'inner.py']).returncode)\n"
    )
    done = shop.run("train.py")
    assert (done.code, done.stdout) == (0, "True\n")
    assert done.codes[0] == "PM502" and done.found["findings"][0]["where"]["file"] == "inner.py"


def test_python_without_paramedic_run_is_not_touched(shop: Workshop) -> None:
    shop.write(
        "train.py", TRAIN + "import sys\ntrain(8)\nprint([name for name in sys.modules if 'paramedic' in name])\n"
    )
    done = shop.python("train.py")
    assert done.stdout == "[]\n" and not shop.records()


LOADER = """
from torch.utils.data import DataLoader, Dataset

class Points(Dataset):
    def __len__(self):
        return 64
    def __getitem__(self, index):
        x = torch.randn(4)
        return x, int(x[:3].argmax())

def main(method):
    torch.manual_seed(0)
    model = nn.Linear(4, 3)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    loader = DataLoader(Points(), batch_size=8, shuffle=True, num_workers=2, multiprocessing_context=method)
    for x, y in loader:
        loss = F.cross_entropy(model(x), y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        print(loss.item())
"""


@pytest.mark.parametrize("method", ["fork", "spawn"])
def test_loader_workers_feed_the_same_batches_and_leave_no_record(warm_shop: Workshop, method: str) -> None:
    warm_shop.write("train.py", TRAIN + LOADER + f"if __name__ == '__main__':\n    main('{method}')\n")
    plain, done = warm_shop.python("train.py"), warm_shop.run("train.py")
    assert plain.stdout.count("\n") == 8
    assert (done.code, done.stdout) == (0, plain.stdout)
    assert done.found["verdict"] == "healthy" and done.found["run"]["notices"] == []
    assert [path.name for path in warm_shop.records()] == ["main.db"]


STREAMS = {
    "stdout into memory": "import io, sys\nsys.stdout = io.StringIO()\nprint('lost')\n",
    "stdout closed": "import sys\nprint('said')\nsys.stdout.close()\n",
    "stdout None": "import sys\nsys.stdout = None\n",
    "a stderr that can only write": textwrap.dedent(
        """
        import sys
        class Tee:
            def __init__(self, stream): self.stream = stream
            def write(self, text): self.stream.write(text)
            def flush(self): self.stream.flush()
        sys.stdout, sys.stderr = Tee(sys.stdout), Tee(sys.stderr)
        print('said')
        """
    ),
    "stderr into memory": "import io, sys\nsys.stderr = io.StringIO()\n",
}


@pytest.mark.parametrize("streams", STREAMS)
def test_a_script_may_replace_its_streams(warm_shop: Workshop, streams: str) -> None:
    warm_shop.write("train.py", TRAIN + STREAMS[streams] + "train(8)\n")
    done = warm_shop.run("train.py")
    assert done.code == 0
    assert done.stdout == ("said\n" if "said" in STREAMS[streams] else "")
    assert "Traceback" not in done.stderr and "Verdict: healthy." in done.stderr
    assert done.found["verdict"] == "healthy"


THREADS = """
import sys, threading, time

def work():
    train(8)
    sys.exit(9)  # ends this thread only

def last():
    time.sleep(0.3)
    print("the last thread is waited for", flush=True)

thread = threading.Thread(target=work)
thread.start()
thread.join()
threading.Thread(target=last).start()
print("main thread done", flush=True)
"""


def test_threads_train_exit_and_are_waited_for_as_in_python(warm_shop: Workshop) -> None:
    warm_shop.write("train.py", TRAIN + THREADS)
    done = warm_shop.run("train.py")
    assert (done.code, done.stdout) == (0, "main thread done\nthe last thread is waited for\n")
    assert done.found["run"]["steps"] == 8 and done.found["verdict"] == "healthy"


def test_ranks_of_torchrun_are_watched(shop: Workshop) -> None:
    body = "import os\nrank = os.environ['RANK']\ntrain(12, softmax=rank == '1')\n"
    body += "os.write(1, b'rank %s\\n' % rank.encode())\n"
    shop.write("train.py", TRAIN + body)
    done = shop.run("-m", "torch.distributed.run", "--nproc-per-node", "2", "train.py")
    assert sorted(done.stdout.splitlines()) == ["rank 0", "rank 1"]
    assert {"rank0.db", "rank1.db"} <= {path.name for path in shop.records()}
    first = done.found["findings"][0]
    assert (first["code"], first["where"]["rank"], first["where"]["file"]) == ("PM502", 1, "train.py")


GRANDCHILDREN = """
import multiprocessing
import torch
from torch import nn
import torch.nn.functional as F

def train(seed):
    torch.set_num_threads(1)
    torch.manual_seed(seed)
    x = torch.randn(200, 4)
    y = (x[:, 0] > 0).long()
    model = nn.Linear(4, 2)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    data = torch.utils.data.TensorDataset(x, y)
    loader = torch.utils.data.DataLoader(data, batch_size=20, shuffle=True, num_workers=2)
    for epoch in range(2):
        batches = iter(loader)
        workers = batches._workers
        for xb, yb in batches:
            optimizer.zero_grad()
            loss = F.cross_entropy(model(xb), yb)
            loss.backward()
            optimizer.step()
        batches._shutdown_workers()
        print([worker.exitcode for worker in workers], loss.item(), flush=True)

if __name__ == "__main__":
    child = multiprocessing.get_context("fork").Process(target=train, args=(0,))
    child.start()
    child.join()
    print("exit code", child.exitcode)
"""


def test_workers_of_a_forked_child_end_when_they_should(warm_shop: Workshop) -> None:
    """They share their parent's record, which is locked while they are forked: waiting for it, they would be killed."""
    warm_shop.write("train.py", GRANDCHILDREN)
    watched, plain = warm_shop.run("train.py"), warm_shop.python("train.py")
    assert plain.stdout.count("[0, 0]") == 2 and "exit code 0" in plain.stdout
    assert watched.stdout == plain.stdout and watched.alarms == []
