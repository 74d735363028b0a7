"""What right answers are added to, and what the sum is divided by, as the source says it."""

import ast

import pytest

from paramedic.capture.code.averages import average_at
from paramedic.capture.code.tallies import counter_at

LOOP = "def validate(model, loader):\n    hits = 0\n    for x, y in loader:\n        {body}\n    return {result}\n"


@pytest.mark.parametrize(
    ("body", "result", "expected"),
    [
        ("hits += (model(x).argmax(1) == y).sum().item()", "hits / len(loader)", ["loader"]),
        ("hits += torch.sum(model(x).argmax(1) == y)", "100.0 * hits / len(loader.dataset)", ["loader.dataset"]),
        ("hits += (model(x).argmax(1) == y).float().sum().item()", "hits.item() / len(loader)", ["loader"]),
        ("hits += model(x).argmax(1).eq(y.view(y.size(0))).sum().item()", "hits / len(loader)", ["loader"]),
        ("hits += (model(x).argmax(1) == y).sum().item()", "hits / total", []),
        ("hits += (model(x).argmax(1) == y).sum().item()", "loss / len(loader)", []),
    ],
)
def test_denominators(body: str, result: str, expected: list[str]) -> None:
    counter = counter_at(LOOP.format(body=body, result=result), 4)
    assert counter is not None
    assert ast.unparse(counter.counter) == "hits"
    assert (ast.unparse(counter.loop), counter.loop_line, counter.born) == ("loader", 3, 2)
    assert [ast.unparse(found.sized) for found in counter.denominators] == expected


@pytest.mark.parametrize(
    "body",
    [
        "hits += (model(x).argmax(1) == y).float().mean().item()",  # a share, to be averaged over the batches
        "hits += (model(x).argmax(1) == y).sum().item() / len(y)",
        "print((model(x).argmax(1) == y).sum())",
        "hits += accuracy(model(x).argmax(1) == y, y.sum())",  # who knows what it gives
    ],
)
def test_what_counts_nothing(body: str) -> None:
    assert counter_at(LOOP.format(body=body, result="hits / len(loader)"), 4) is None


PARTS = """\
hits = 0
for part in parts:
    for x, y in part:
        hits += (f(x) == y).sum()
print(hits / len(whole))
"""
TWICE = """\
hits = 0
for x, y in first:
    hits += g(x)
for x, y in second:
    hits += (f(x) == y).sum()
print(hits / len(whole))
"""


@pytest.mark.parametrize("source", [PARTS, TWICE])
def test_what_is_counted_together(source: str) -> None:
    line = next(number for number, text in enumerate(source.splitlines(), 1) if "==" in text)
    counter = counter_at(source, line)
    assert counter is not None
    assert counter.denominators == ()


def test_by_way_of_names() -> None:
    source = """\
hits = 0
for i, (x, y) in enumerate(tqdm(self.loader)):
    right = (model(x).argmax(1) == y).sum().item()
    hits += right
    if i == 10:
        break
size = len(self.loader)
hits /= size
"""
    counter = counter_at(source, 3)
    assert counter is not None
    assert ast.unparse(counter.loop) == "self.loader"
    assert [(ast.unparse(found.sized), found.line) for found in counter.denominators] == [("self.loader", 7)]
    assert counter.may_stop_early


def test_what_is_no_python() -> None:
    assert counter_at("not python (", 1) is None


@pytest.mark.parametrize(
    "body, after",
    [
        ("total += (p == y).float().mean().item()", "total / len(batches)"),
        ("total += (p == y).sum().item() / len(y)", "total / len(batches)"),
        ("right = (p == y).float()\n  total += right.mean()\n  n += 1", "total / n"),
        ("shares.append((p == y).float().mean().item())", "sum(shares) / len(shares)"),
        ("share = (p == y).sum() / y.size(0)\n  shares.append(share.item())", "np.mean(shares)"),
        ("shares.append((p == y).float().mean())", "torch.stack(shares).mean()"),
    ],
)
def test_shares_that_are_averaged_over_batches_are_known_however_it_is_written(body: str, after: str) -> None:
    source = f"def evaluate(batches):\n for x, y in batches:\n  {body}\n return {after}\n"
    assert average_at(source, 3) is not None


@pytest.mark.parametrize(
    "body, after",
    [
        ("right += (p == y).sum().item()", "right / len(data)"),
        ("total += (p == y).float().mean() * len(y)", "total / len(data)"),
        ("rights.append((p == y).float())", "torch.cat(rights).mean()"),
        ("print((p == y).float().mean())", "0"),
    ],
)
def test_answers_that_are_counted_are_no_average_of_averages(body: str, after: str) -> None:
    source = f"def evaluate(batches):\n for x, y in batches:\n  {body}\n return {after}\n"
    assert average_at(source, 3) is None
