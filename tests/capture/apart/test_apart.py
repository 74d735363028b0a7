"""A process that can only compute: it gives its answer, and nothing else that it does is noticed."""

from __future__ import annotations

import pytest

from workshop import Workshop

START = """
import multiprocessing, os, random, signal, socket, sqlite3, subprocess, threading, time
import numpy, torch
from paramedic.capture.apart.process import Impossible, Refused, apart
torch.set_num_threads(1)

def outcome(question, seconds=20):
    try:
        return apart(question, seconds)
    except Refused as reason:
        return f"{type(reason).__name__}: {reason}"
"""

EFFECTS = """
shared, value = torch.zeros(2).share_memory_(), multiprocessing.Value("i", 1)
lock, mapped = multiprocessing.Lock(), numpy.memmap("mapped.bin", dtype="uint8", mode="w+", shape=(8,))
file = open("open.txt", "w")
file.write("before")
ours, theirs = socket.socketpair()
private = [1]

def change_everything():
    shared[0], value.value, mapped[0], private[0] = 5, 9, 7, 2
    mapped.flush()
    lock.acquire()
    file.write("inside")
    file.flush()
    print("inside")
    os.write(1, b"inside")
    os.write(theirs.fileno(), b"inside")
    w = torch.ones(3, requires_grad=True)
    (w * 2).sum().backward()
    return [shared.tolist(), value.value, int(mapped[0]), private, w.grad.tolist(), random.random()]

random.seed(0)
print(outcome(change_everything))
print(shared.tolist(), value.value, int(mapped[0]), private, lock.acquire(block=False), random.random())
file.close()
ours.setblocking(False)
try:
    print(ours.recv(10))
except BlockingIOError:
    print("nothing was sent")
print(open("open.txt").read())
"""


def test_the_answer_is_all_that_remains(warm_shop: Workshop) -> None:
    warm_shop.write("train.py", START + EFFECTS)
    assert warm_shop.python("train.py").stdout.splitlines() == [
        "[[5.0, 0.0], 9, 7, [2], [2.0, 2.0, 2.0], 0.8444218515250481]",
        "[0.0, 0.0] 1 0 [1] True 0.8444218515250481",
        "nothing was sent",
        "before",
    ]


FORBIDDEN = """
open("kept.txt", "w").write("kept")
attempts = {
    "write": lambda: open("new.txt", "w"),
    "append": lambda: open("kept.txt", "a"),
    "folder": lambda: os.mkdir("new"),
    "remove": lambda: os.remove("kept.txt"),
    "rename": lambda: os.rename("kept.txt", "new.txt"),
    "truncate": lambda: os.truncate("kept.txt", 0),
    "database": lambda: sqlite3.connect("new.db"),
    "torch": lambda: torch.save(torch.ones(1), "kept.txt"),
    "socket": lambda: socket.socket(),
    "signal": lambda: os.kill(os.getppid(), signal.SIGTERM),
    "fork": lambda: os.fork(),
    "program": lambda: subprocess.run(["touch", "new.txt"]),
    "limit": lambda: __import__("resource").prlimit(os.getppid(), __import__("resource").RLIMIT_CPU, (1, 1)),
    "exit": lambda: os._exit(0),
    "crash": lambda: os.abort(),
}
for name, attempt in attempts.items():
    print(name, outcome(attempt))
print(sorted(os.listdir()), open("kept.txt").read(), outcome(lambda: open("kept.txt").read()))
"""


def test_the_kernel_refuses_all_else(warm_shop: Workshop) -> None:
    warm_shop.write("train.py", START + FORBIDDEN)
    done = warm_shop.python("train.py")
    *attempts, rest = done.stdout.splitlines()
    assert len(attempts) == 15, done.stderr
    assert all(": it could not be run again" in line or "without an answer" in line for line in attempts), attempts
    assert rest == "['kept.txt', 'stderr.txt', 'stdout.txt', 'train.py'] kept kept"


def test_what_never_ends_is_ended_and_nothing_more_is_asked(warm_shop: Workshop) -> None:
    program = """
    held = threading.Lock()
    held.acquire()
    print(outcome(held.acquire, 0.5))
    print(outcome(lambda: 1))
    try:
        os.waitpid(-1, 0)
    except ChildProcessError:
        print("no child is left")
    """
    warm_shop.write("train.py", START + program.replace("\n    ", "\n"))
    stuck = "Refused: a copy of the process gave no answer within 0.5 s"
    assert warm_shop.python("train.py").stdout.splitlines() == [stuck, stuck, "no child is left"]


@pytest.mark.parametrize(
    ("setting", "reason"),
    [
        ("signal.signal(signal.SIGCHLD, lambda *_: None)", "handles SIGCHLD"),
        ("os.register_at_fork(before=lambda: print('forked'))", "__main__ reacts when the process is forked"),
        ("os.register_at_fork(after_in_child=lambda: os.write(1, b'forked'))", "__main__ reacts"),
    ],
)
def test_nobody_is_forked_who_would_notice(warm_shop: Workshop, setting: str, reason: str) -> None:
    warm_shop.write("train.py", f"{START}\n{setting}\nprint(outcome(lambda: 1))\n")
    told = warm_shop.python("train.py").stdout
    assert told.startswith("Impossible: ") and reason in told


HOSTED = """
from torch import nn
from paramedic.capture.apart.on_host import Copies

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = nn.Linear(4, 2)

    def forward(self, x):
        x = self.layer(x.to("cuda")) + torch.ones(2, device="cuda:0") + torch.zeros(2, device=torch.device("cuda"))
        return x.cuda()

net = Net()
with torch.no_grad():
    print(len(apart(lambda: net(torch.ones(3, 4)).tolist(), 20, copies=Copies(list(net.modules())))))
"""


def test_a_model_that_speaks_of_accelerators_is_asked_on_the_host(warm_shop: Workshop) -> None:
    warm_shop.write("train.py", START + HOSTED)
    done = warm_shop.python("train.py")
    assert done.code == 0 and done.stdout == "3\n", done.stderr


@pytest.mark.parametrize(
    ("handler", "answer"),
    [
        ("signal.SIG_DFL", "1"),
        ("lambda *_: None", "Impossible: the program handles SIGCHLD, and would notice another process"),
    ],
    ids=["none", "the program's"],
)
def test_workers_of_a_loader_hear_of_no_other_child(warm_shop: Workshop, handler: str, answer: str) -> None:
    program = f"""
signal.signal(signal.SIGCHLD, {handler})
batches = iter(torch.utils.data.DataLoader(range(6), batch_size=2, num_workers=2))
print(next(batches).tolist())
print(outcome(lambda: 1))
print([batch.tolist() for batch in batches])
"""
    warm_shop.write("train.py", START + program)
    assert warm_shop.python("train.py").stdout.splitlines() == ["[0, 1]", answer, "[[2, 3], [4, 5]]"]
