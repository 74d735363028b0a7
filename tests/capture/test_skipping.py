"""Of short steps only some are looked at, once a loop is well known: what goes wrong then is noticed all the same."""

from __future__ import annotations

import pytest

from paramedic.record.facts import BadSample
from paramedic.record.reader import open_runs
from workshop import Workshop

# Every so often an epoch ends and the model is evaluated, as in most scripts; the words in capitals are filled in.
LOOP = """
import torch
from torch import nn
import torch.nn.functional as F

torch.set_num_threads(1)
torch.manual_seed(0)
x = torch.randn(640, 6)
y = (x[:, 0] > 0).long()
data = torch.utils.data.TensorDataset(x, y)
loader = torch.utils.data.DataLoader(data, batch_size=16, shuffle=True)
model = nn.Sequential(nn.Linear(6, 8), nn.ReLU(), nn.Dropout(0.1), nn.Linear(8, 2))
optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
step = 0
START
for epoch in range(60):
    model.train()
    for xb, yb in loader:
        BATCH
        optimizer.zero_grad()
        loss = LOSS
        loss.backward()
        optimizer.step()
        step += 1
    model.eval()
    with torch.no_grad():
        hits = (model(x).argmax(1) == y).float().mean()
    END
print(step, loss.item(), sum(p.sum().item() for p in model.parameters()), torch.rand(()).item())
"""
HEALTHY = {"BATCH": "pass", "LOSS": "F.cross_entropy(model(xb), yb)", "END": "pass", "START": "pass"}


def write(shop: Workshop, name: str, **changes: str) -> None:
    text = LOOP
    for place, code in (HEALTHY | changes).items():
        text = text.replace(place, code)
    shop.write(name, text)


def test_nothing_changes_and_no_step_is_missed(warm_shop: Workshop) -> None:
    write(warm_shop, "train.py")
    watched = warm_shop.run("train.py")
    assert watched.stdout == warm_shop.python("train.py").stdout
    assert watched.alarms == []
    assert watched.found["run"]["steps"] == 2400
    assert "detached" not in watched.stderr


def test_most_steps_of_a_long_run_are_left_alone(warm_shop: Workshop) -> None:
    write(
        warm_shop,
        "train.py",
        BATCH="untouched.append(not hasattr(F.cross_entropy, '__wrapped__'))",
        END="if epoch == 59: print('untouched', sum(untouched[:1000]), sum(untouched[1000:]))",
        START="untouched = []",
    )
    done = warm_shop.run("train.py")
    early, late = map(int, done.stdout.splitlines()[0].split()[1:])
    assert early == 0 and late > 100


def test_a_gradient_that_is_not_finite_is_noticed_before_it_is_used(warm_shop: Workshop) -> None:
    root = "F.cross_entropy(model(xb), yb) + ((0 * model[0].weight[0, 0]).sqrt() if step == 2000 else 0)"
    write(warm_shop, "train.py", LOSS=root)
    done = warm_shop.run("train.py")
    assert done.code == 3 and "stopped before optimizer.step() of step 2000" in done.stderr
    assert "The weights are as they were before it." in done.stderr
    assert done.codes[0] == "PM103" and done.found["findings"][0]["where"]["line"] == 20


def test_a_loss_that_is_not_finite_is_noticed_at_its_step(warm_shop: Workshop) -> None:
    write(
        warm_shop,
        "train.py",
        LOSS="F.cross_entropy(model(xb), yb) * (torch.log(xb.sum() * 0 - 1) if step == 2000 else 1)",
    )
    done = warm_shop.run("train.py")
    assert done.code == 3 and done.codes[0] == "PM101"
    assert done.found["findings"][0]["where"]["step"] == 2000


def test_a_loop_that_changes_is_watched_again(warm_shop: Workshop) -> None:
    write(warm_shop, "train.py", **{"optimizer.zero_grad()": "if step < 1500: optimizer.zero_grad()"})
    done = warm_shop.run("train.py")
    assert done.codes[0] == "PM601", done.alarms
    assert 1500 <= done.found["findings"][0]["where"]["step"] < 1700


def test_the_batch_of_a_failing_step_is_counted_right(warm_shop: Workshop) -> None:
    write(warm_shop, "train.py", BATCH="assert step != 2013, 'enough'")
    done = warm_shop.run("train.py")
    assert done.code == 1 and "number 2,013 of the loader" in done.stderr
    assert "(16 samples)" in done.stderr


def test_every_evaluation_is_recorded(warm_shop: Workshop) -> None:
    write(warm_shop, "train.py", END="with torch.no_grad(): F.cross_entropy(model(x), y)")
    assert warm_shop.run("train.py").code == 0
    (run,) = open_runs(warm_shop.records()[0].parent)
    (name,) = [name for name in run.series_names if name.startswith("eval_loss")]
    assert len(run.series(name)) == 60


def test_labels_that_end_the_script_are_explained(warm_shop: Workshop) -> None:
    write(warm_shop, "train.py", BATCH="yb = yb + 2 * (step == 2013)")
    done = warm_shop.run("train.py")
    assert done.code == 1 and done.codes[0] == "PM304", done.alarms


def test_a_batch_that_is_not_finite_is_named(warm_shop: Workshop) -> None:
    write(warm_shop, "train.py", BATCH="if step == 2013: xb[5, 2] = float('nan')")
    done = warm_shop.run("train.py")
    assert done.code == 3 and done.codes[0] == "PM105", done.alarms
    assert "dataset index" in done.found["findings"][0]["what"]


def test_a_sample_that_cannot_be_read_is_named(warm_shop: Workshop) -> None:
    write(
        warm_shop,
        "train.py",
        START="""class Broken(torch.utils.data.Dataset):
    def __len__(self): return 640
    def __getitem__(self, i):
        if step == 2013 and i == drawn[3]: raise ValueError("unreadable")
        return x[i], y[i]
drawn = []
sampler = torch.utils.data.RandomSampler(data)
class Known(torch.utils.data.Sampler):
    def __len__(self): return 40
    def __iter__(self):
        for batch in torch.utils.data.BatchSampler(sampler, 16, False):
            drawn[:] = batch
            yield batch
loader = torch.utils.data.DataLoader(Broken(), batch_sampler=Known())""",
    )
    done = warm_shop.run("train.py")
    (run,) = open_runs(warm_shop.records()[0].parent)
    (failed,) = run.facts(BadSample)
    assert done.code == 1 and failed.samples[3] == failed.sample and len(failed.samples) == 16
    assert done.codes[0] == "PM320" and f"sample {failed.sample} could not be loaded" in done.stderr


BY_HAND = """
import torch
from torch import nn
import torch.nn.functional as F

torch.set_num_threads(1)
torch.manual_seed(0)
x = torch.randn(640, 6)
y = (x[:, 0] > 0).long()
model = nn.Sequential(nn.Linear(6, 8), nn.ReLU(), nn.Linear(8, 2))
untouched = []
for i in range(2600):
    untouched.append(not hasattr(F.cross_entropy, '__wrapped__'))
    loss = F.cross_entropy(model(x[:16]), y[:16])
    if i == 2500: loss = loss * torch.log(x[0, 0] * 0 - 1)
    UPDATE
print(loss.item(), sum(p.sum().item() for p in model.parameters()), torch.rand(()).item())
print('untouched', sum(untouched[:1000]), sum(untouched[1000:]), file=open('untouched.txt', 'w'))
"""
UPDATES = {
    "backward": """loss.backward()
    with torch.no_grad():
        for p in model.parameters():
            p -= 0.01 * p.grad
            p.grad = None""",
    "grad": """gradients = torch.autograd.grad(loss, list(model.parameters()))
    with torch.no_grad():
        for p, gradient in zip(model.parameters(), gradients):
            p -= 0.01 * gradient""",
}


@pytest.mark.parametrize("way", UPDATES)
def test_rounds_without_an_optimizer_are_left_alone_as_well(warm_shop: Workshop, way: str) -> None:
    warm_shop.write("train.py", BY_HAND.replace("UPDATE", UPDATES[way]))
    watched = warm_shop.run("train.py")
    early, late = map(int, (warm_shop.folder / "untouched.txt").read_text().split()[1:])
    assert early == 0 and late > 100
    assert watched.stdout == warm_shop.python("train.py").stdout
    assert "detached" not in watched.stderr
    if way == "backward":  # NaN is seen all the same
        assert watched.codes[0].startswith("PM10") and watched.found["findings"][0]["where"]["line"] == 14
