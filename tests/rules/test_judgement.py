"""Two faults at once, faults that come late, runs that are too short, and questions that were not asked."""

from __future__ import annotations

import pytest

from workshop import Done, Workshop

# A classifier with a validation set, healthy as it stands; tests break it in chosen places.
PROGRAM = """
import torch
import torch.nn.functional as F
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(0)
prototypes = torch.randn(5, 12)
labels = torch.randint(0, 5, (800,))
data = TensorDataset(prototypes[labels] + 0.7 * torch.randn(800, 12), labels)
train, val = torch.utils.data.random_split(data, [640, 160])
loader, val_loader = DataLoader(train, batch_size=32, shuffle=True), DataLoader(val, batch_size=160)

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(12, 32), nn.ReLU(), nn.Dropout(0.2))
        self.head = nn.Linear(32, 5)
    def forward(self, x):
        return self.head(self.body(x))  # output

net = Net()
optimizer = torch.optim.Adam(net.parameters(), lr=3e-3)  # optimizer
step = 0
for epoch in range(EPOCHS):
    net.train()  # mode
    for x, y in loader:
        loss = F.cross_entropy(net(x), y)
        optimizer.zero_grad()  # clear
        loss.backward()
        optimizer.step()
        step += 1
        if step == LAST:
            raise SystemExit
    net.eval()
    with torch.no_grad():
        for x, y in val_loader:
            correct = (net(x).argmax(1) == y).float().mean()
    print(epoch, loss.item(), correct.item())
"""


def judged(shop: Workshop, *changes: tuple[str, str], epochs: int = 3, last: int = -1, options: object = ()) -> Done:
    text = PROGRAM.replace("EPOCHS", str(epochs)).replace("LAST", str(last))
    for old, new in changes:
        assert text.count(old) == 1, old
        text = text.replace(old, new)
    shop.write("train.py", text)
    return shop.run("train.py", options=tuple(options))  # type: ignore[arg-type]


SOFTMAX = ("self.head(self.body(x))  # output", "self.head(self.body(x)).softmax(1)")
HEAD_ONLY = ("Adam(net.parameters(), lr=3e-3)  # optimizer", "Adam(net.head.parameters(), lr=3e-3)")
NEVER_CLEARED = ("optimizer.zero_grad()  # clear", "pass")
NO_SHUFFLE = ("DataLoader(train, batch_size=32, shuffle=True)", "DataLoader(train, batch_size=32)")


def test_the_program_is_healthy_as_it_stands(warm_shop: Workshop) -> None:
    done = judged(warm_shop)
    assert done.found["verdict"] == "healthy" and done.alarms == []


@pytest.mark.parametrize(
    ("faults", "codes"),
    [
        ((SOFTMAX, HEAD_ONLY), {"PM502", "PM402"}),
        ((SOFTMAX, NEVER_CLEARED), {"PM502", "PM601"}),
        ((HEAD_ONLY, NEVER_CLEARED), {"PM402", "PM601"}),
    ],
)
def test_of_two_faults_both_are_found(
    warm_shop: Workshop, faults: tuple[tuple[str, str], ...], codes: set[str]
) -> None:
    done = judged(warm_shop, *faults)
    causes = {finding["code"] for finding in done.found["findings"] if finding["consequence_of"] is None}
    assert codes <= causes


def test_of_two_faults_the_graver_one_comes_first(warm_shop: Workshop) -> None:
    done = judged(warm_shop, SOFTMAX, NO_SHUFFLE)
    severities = [finding["severity"] for finding in done.found["findings"]]
    assert done.codes[0] == "PM502" and severities == sorted(severities, key=["error", "warning", "note"].index)


@pytest.mark.parametrize(
    ("change", "code"),
    [
        (("net.train()  # mode", "net.train(epoch < 25)"), "PM611"),
        (("optimizer.zero_grad()  # clear", "step >= 500 or optimizer.zero_grad()"), "PM601"),
        (("loss = F.cross", "x[3, 4] = float('nan') if step == 500 else 0.0\n        loss = F.cross"), "PM105"),
    ],
)
def test_what_goes_wrong_at_step_500_is_found_at_step_500(
    warm_shop: Workshop, change: tuple[str, str], code: str
) -> None:
    done = judged(warm_shop, change, epochs=32)
    assert done.codes and done.codes[0] == code, done.alarms
    assert 500 <= done.found["findings"][0]["where"]["step"] <= 520


def test_three_steps_are_not_enough_to_call_it_healthy(warm_shop: Workshop) -> None:
    done = judged(warm_shop, last=3)
    assert done.found["verdict"] == "inconclusive" and done.alarms == []


MIXES = ("self.head(self.body(x))  # output", "self.head(self.body(x.reshape(12, -1).t()))")
HOLDS_A_LOCK = ("        self.head =", "        self.lock = __import__('threading').Lock()\n        self.head =")


@pytest.mark.parametrize("changes", [(MIXES,), (MIXES, HOLDS_A_LOCK)])
def test_samples_that_depend_on_each_other_are_found_by_asking(
    warm_shop: Workshop, changes: tuple[tuple[str, str], ...]
) -> None:
    done = judged(warm_shop, *changes)
    assert "PM413" in done.codes


def test_where_nothing_may_be_asked_the_rule_abstains_and_says_why(warm_shop: Workshop) -> None:
    done = judged(warm_shop, MIXES, options=("--no-probes",))
    reasons = {rule["code"]: rule["reason"] for rule in done.found["rules"]["abstained"]}
    assert "PM413" not in done.codes and "--no-probes" in reasons["PM413"]
