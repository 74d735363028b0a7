"""After python's own traceback: the values, the modules, the step and the batch; and never a second failure."""

from __future__ import annotations

import linecache

import pytest

from workshop import Done, Workshop

NET = """
import torch
from torch import nn

class Attention(nn.Module):
    def __init__(self, size):
        super().__init__()
        self.proj = nn.Linear(size, size)

    def forward(self, h):
        return self.proj(h)

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.ModuleList([Attention(16), Attention(16), Attention(8)])

    def forward(self, x):
        for layer in self.layers:
            x = layer(x)
        return x

data = torch.utils.data.TensorDataset(torch.randn(64, 16), torch.arange(64))
loader = torch.utils.data.DataLoader(data, batch_size=8)
"""


def section(done: Done) -> str:
    """What comes after python's traceback, in one line of single spaces."""
    text = done.stderr.partition("\nparamedic: ")[2].partition("\nVerdict")[0].partition("\nparamedic: ")[0]
    assert text, done.stderr
    assert max(map(len, text.splitlines())) <= 80
    return " ".join(text.split())


def test_a_shape_mismatch_is_explained_with_its_module_step_and_batch(warm_shop: Workshop) -> None:
    warm_shop.write(
        "train.py", NET + "def main():\n    model = Net()\n    for x, y in loader:\n        model(x)\nmain()\n"
    )
    done = warm_shop.run("train.py", options=("-q",))
    told = section(done)
    assert done.code == 1
    assert "train.py:10 in Attention.forward" in told
    assert "h (8, 16) float32 cpu" in told and "AddmmBackward0" in told
    assert "self.proj Linear(in_features=8, out_features=8, bias=True)" in told
    assert "model → model.layers.2 → model.layers.2.proj (Linear)" in told
    assert "the last dimension of the input (8, 16) is 16, but model.layers.2.proj was built for 8" in told
    assert "number 0 of the loader at train.py:23: [0] (8, 16) float32, [1] (8,) int64" in told
    assert "samples 0, 1, 2, 3, 4, 5, 6, 7" in told


AHEAD = """
import torch
from torch.utils.data import DataLoader, TensorDataset

def main():
    data = TensorDataset(torch.arange(32.0).unsqueeze(1))
    loader = DataLoader(data, batch_size=4, num_workers=2, persistent_workers=True)
    for epoch in range(3):
        for (x,) in loader:
            if epoch == 0 and x[0] == 8:
                break  # batches that are under way never arrive
            if epoch == 2 and x[0] == 20:
                raise ValueError("cannot go on")

main()
"""


def test_workers_that_read_ahead_do_not_confuse_whose_batch_failed(warm_shop: Workshop) -> None:
    warm_shop.write("train.py", AHEAD)
    assert "samples 20, 21, 22, 23" in section(warm_shop.run("train.py", options=("-q",)))


MISMATCHES = {
    "a + b": "in dimension 1 a (2, 3) has 3, b (2, 4) has 4",
    "a @ b": "the last dimension of a (2, 3) is 3, the first of b (2, 4) is 2",
    "torch.cat([a, b])": "the first tensor has 3 where tensor number 1 (counted from 0) has 4",
    "torch.stack([a, b])": "in dimension 1 entry 0 has 3, entry 1 has 4",
    "nn.Conv2d(3, 8, 3)(torch.zeros(2, 28, 28, 3))": "is 28, but the weight was built for 3",
    "F.cross_entropy(a, torch.zeros(4).long())": "2 rows of scores, but 4 targets, 2 times as many",
    "F.cross_entropy(nn.Linear(3, 5)(a), torch.full((2,), 7))": "scores for 5 classes, so targets go from 0 to 4",
    "a.view(4, -1)": "6 elements cannot be divided by 4",
    "a @ c": "a is float32, c is float64",
    "nn.Linear(3, 2)(a.double())": "input is float64, Linear.weight and Linear.bias are float32",
    "nn.Embedding(10, 3)(torch.tensor([3, 12]))": "has 10 rows (0 … 9), the indices go from 3 to 12",
    "torch.bmm(a[None], b[None])": "the last dimension of the left one is 3, dimension 1 of the right one is 2",
    "nn.LSTM(10, 3)(torch.zeros(2, 3, 8))": "the last dimension of the input is 8, but the layer was built for 10",
    "F.binary_cross_entropy(a[:, :1], a[:, 0])": "squeeze or unsqueeze one of them",
    "einops.rearrange(a, 'b (h w) -> b h w', h=2)": "b = 2, (h w) = 3; 3 cannot be divided by h = 2",
    "einops.rearrange(a, 'b (h w) -> b h w', h=2, w=2)": "but with h = 2 · w = 2, (h w) is 4",
    "einops.reduce(a, 'b t c -> b c', 'mean')": "'b t c' has 3 dimensions, the tensor (2, 3) has 2",
    "einops.repeat(a[None], '... (h d) -> ... h d', d=2)": "(h d) = 3; 3 cannot be divided by d = 2",
}


def test_mismatches_name_the_two_things_that_do_not_fit() -> None:
    """In this process, because there are many; how it looks in a real run is tested above."""
    import einops
    import torch
    import torch.nn.functional as F
    from torch import nn

    from paramedic.postmortem.tracebacks import describe

    for code in MISMATCHES:
        names = {
            "a": torch.zeros(2, 3),
            "b": torch.zeros(2, 4),
            "c": torch.zeros(3, 2).double(),
            "torch": torch,
            "nn": nn,
            "F": F,
            "einops": einops,
        }
        with pytest.raises(Exception) as caught:
            exec(compile(code, "<ipython-input>", "exec"), names)
        linecache.cache["<ipython-input>"] = (len(code), None, [code + "\n"], "<ipython-input>")
        told = " ".join(describe(caught.value).split())
        assert MISMATCHES[code] in told, f"{code}: {caught.value}\n{told}"


LOADING = """
import torch
from torch.utils.data import Dataset, DataLoader

class Pictures(Dataset):
    def __init__(self):
        self.paths = [str(i) for i in range(22)]

    def __len__(self):
        return 64

    def __getitem__(self, i):
        return torch.zeros(3), len(self.paths[i])

if __name__ == "__main__":
    for x, y in DataLoader(Pictures(), batch_size=4, num_workers={workers}, multiprocessing_context={method!r}):
        pass
"""


@pytest.mark.parametrize(("workers", "method"), [(0, None), (2, "fork"), (2, "spawn")])
def test_a_failing_sample_is_named(shop: Workshop, workers: int, method: str | None) -> None:
    shop.write("train.py", LOADING.format(workers=workers, method=method))
    done = shop.run("train.py", options=("-q",))
    told = section(done)
    assert "sample 22 could not be loaded (the batch was to hold 20, 21, 22, 23)" in told
    assert "self.paths[i] — out of range: the index is 22, there are 22 items" in told
    assert "number 4" not in told, "the batch before was fine"
    assert "paramedic/" not in done.stderr, "frames of ours"


QUIET = """
import atexit
calls = []
atexit.register(lambda: print(calls))

class Trap:
    def __getattr__(self, name):
        calls.append(name)
        return 1

    def __getitem__(self, index):
        calls.append(index)
        raise KeyError(index)

    @property
    def size(self):
        calls.append("size")
        return 2

    def __repr__(self):
        calls.append("repr")
        raise ValueError

    def __len__(self):
        calls.append("len")
        return 3

class Other(dict):
    def __getitem__(self, key):
        calls.append(key)
        return 5

def fail(trap, other):
    calls.clear()
    trap.size + trap.missing + other["key"] + None

fail(Trap(), Other(a=1))
"""


def test_looking_at_values_runs_none_of_the_users_code(shop: Workshop) -> None:
    shop.write("train.py", QUIET)
    plain, watched = shop.python("train.py"), shop.run("train.py")
    assert watched.stdout == plain.stdout == "['size', 'missing', 'key']\n"
    assert "other Other of 1: {'a': 1}" in section(watched) and "trap Trap object" in section(watched)


ENDINGS = {
    "a cause": (
        "def f(n):\n    try:\n        {}[n]\n    except KeyError as e:\n        raise OSError('later') from e\nf(7)",
        ["KeyError", "n 7"],
    ),
    "from None": (
        "def f(n):\n    try:\n        g(n + 1)\n    except KeyError:\n        raise RuntimeError(n) from None\n"
        "def g(hidden):\n    {}[hidden]\nf(7)",
        ["n 7", "-hidden"],
    ),
    "a group": (
        "def f(n):\n    raise ValueError(n)\nfound = []\nfor k in (3, 4):\n    try:\n        f(k)\n"
        "    except ValueError as e:\n        e.add_note('a note')\n        found.append(e)\n"
        "raise ExceptionGroup('two', found)",
        ["n 3", "ValueError: 3"],
    ),
    "a recursion": (
        "def f(depth):\n    return f(depth + 1) + 1\nf(0)",
        ["train.py:2 in f (and", "times before)", "depth"],
    ),
    "a thread": (
        "import threading\ndef f(n):\n    raise ValueError(n)\n"
        "import torch\nt = threading.Thread(target=f, args=(7,), name='loader')\nt.start(); t.join()\n",
        ["the values where thread loader failed", "n 7"],
    ),
    "a huge repr": (
        "class Big:\n    def __repr__(self):\n        return 'x' * 10**9\nx = Big()\ny = 'y' * 10**8\nx + y",
        ["x Big object", "(100,000,000 characters)"],
    ),
    "several statements on a line": (
        "def f(first, second):\n    a = first + 1; b = second + None; c = first\nf(3, 4)",
        ["second 4", "-first 3"],
    ),
    "an exception without words": (
        "import torch\nclass Odd(Exception):\n    def __str__(self):\n        raise ValueError\n"
        "def f(n):\n    raise Odd(n)\nf(7)",
        ["n 7", "-detached"],
    ),
    "a deleted name": (
        "n = 3\ndef f():\n    n = 4\n    del n\n    return n\nf()",
        ["-n 3"],
    ),
}


@pytest.mark.parametrize("ending", ENDINGS)
def test_every_kind_of_ending_is_told_right(shop: Workshop, ending: str) -> None:
    script, expected = ENDINGS[ending]
    shop.write("train.py", script)
    plain, watched = shop.python("train.py"), shop.run("train.py", options=("-q",))
    assert watched.code == plain.code
    head = {"a thread": "Exception in thread loader:", "a recursion": "Traceback"}.get(ending, plain.stderr)
    assert watched.stderr.startswith(head), "python's own text comes first and is complete"
    told = " ".join(watched.stderr[len(head) :].split())
    for words in expected:
        assert words in told if words[0] != "-" else words[1:] not in told, told


def test_a_hook_of_the_scripts_own_has_the_last_word(shop: Workshop) -> None:
    shop.write("train.py", "import sys\nsys.excepthook = lambda *e: print('mine')\nx = 3\nx + None\n")
    done = shop.run("train.py")
    assert done.stdout == "mine\n" and "the values" not in done.stderr


def test_variables_are_released_when_the_handler_is_done(shop: Workshop) -> None:
    """A traceback must not keep a GPU's memory: here a tensor that says when it dies."""
    text = """
import sys, weakref, torch, atexit
import paramedic
paramedic.install()

def fail():
    big = torch.zeros(1000)
    weakref.finalize(big, print, "released")
    atexit.register(print, "exit")
    big + "text"

try:
    fail()
except TypeError as error:
    kept = error
    sys.excepthook(type(error), error, error.__traceback__)
print("goes on")
"""
    shop.write("train.py", text)
    done = shop.python("train.py")
    assert done.stdout.splitlines() == ["released", "goes on", "exit"]
    assert "big (1000,) float32 cpu · all 0" in " ".join(done.stderr.split())


def test_install_gives_plain_python_the_values_once(shop: Workshop) -> None:
    shop.write("train.py", "import paramedic\nparamedic.install()\nparamedic.install()\nx = 3\nx + None\n")
    for done in (shop.python("train.py"), shop.run("train.py")):
        assert done.code == 1 and done.stderr.startswith("Traceback")
        assert done.stderr.count("the values where it failed") == 1


CHILDREN = """
import multiprocessing, sys, torch
from concurrent.futures import ProcessPoolExecutor

x = torch.full((2_000_000,), 3.0)

def work(rank, size=5):
    return x.reshape(size, 7)

def attempt(task):
    try:
        task()
    except RuntimeError as error:
        print(error.__cause__)

if __name__ == "__main__":
    torch.set_num_threads(2)
    torch.randn(2_000_000).sum()  # OpenMP's threads are there now, and a fork has none of them
    fork = multiprocessing.get_context("fork")
    process = fork.Process(target=work, args=(1,), name="first")
    process.start()
    process.join()
    print("ended with", process.exitcode)
    with fork.Pool(1) as pool:
        attempt(lambda: pool.map(work, [1]))
    with ProcessPoolExecutor(1, mp_context=fork) as pool:
        attempt(lambda: pool.submit(work, 3).result())
    torch.multiprocessing.spawn(work, args=(5,), nprocs=1)
"""


def test_an_error_in_a_process_that_the_script_started_comes_with_values(shop: Workshop) -> None:
    shop.write("train.py", CHILDREN)
    done = shop.run("train.py", options=("-q",))
    values = (
        "train.py:7 in work return x.reshape(size, 7) x (2000000,) float32 cpu · all 3 size 5 because the new shape"
    )
    own, _, sent = done.stderr.partition("ProcessRaisedException")
    assert done.code == 1 and "ended with 1" in done.stdout
    for text, name in (
        (own, "first"),
        (done.stdout, "ForkPoolWorker-2"),
        (done.stdout, "ForkProcess-3"),
        (sent, "Spawn"),
    ):
        told = " ".join(text.partition(f"the values where process {name}")[2].split())
        assert values in told, f"{name}:\n{text}"
    assert done.stderr.count("the values where ") == 2, "once for each, and not again in the parent"
    assert "paramedic/" not in done.stderr + done.stdout, "frames of ours"


def test_no_terminal_that_speaks_unicode_gets_ascii(shop: Workshop) -> None:
    shop.write("train.py", NET + "x = torch.randn(9)\nx + None\n")
    done = shop.run("train.py", options=("-q",), env={"PYTHONIOENCODING": "ascii"})
    assert "x  (9,) float32 cpu | " in done.stderr and " .. " in done.stderr and "+-" in done.stderr
