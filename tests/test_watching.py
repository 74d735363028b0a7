"""`paramedic.watch()`: for notebooks, in a process where torch, model and optimizer are there already."""

from __future__ import annotations

import pytest

from workshop import TRAIN, Workshop

# A training whose objects exist before the watch begins.
EXISTING = """
import torch
from torch import nn
import torch.nn.functional as F
import paramedic

torch.manual_seed(0)
model = nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 3))
optimizer = torch.optim.Adam(model.parameters(), lr=0.01)

def train(steps=12, softmax=False):
    for _ in range(steps):
        x = torch.randn(16, 4)
        out = model(x)
        out = out.softmax(dim=1) if softmax else out
        loss = F.cross_entropy(out, x[:, :3].argmax(dim=1))
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()

def summary(diagnosis):
    return diagnosis.verdict, [finding.code for finding in diagnosis.findings], diagnosis.run.steps
"""


def test_as_a_context_manager(warm_shop: Workshop) -> None:
    body = "with paramedic.watch(model, optimizer) as watch:\n    train(softmax=True)\nprint(summary(watch.diagnosis))"
    warm_shop.write("notebook.py", EXISTING + body)
    done = warm_shop.python("notebook.py")
    assert done.code == 0, done.stderr
    assert done.stdout == "('sick', ['PM502'], 12)\n"
    assert "PM502" in done.stderr and "Verdict: sick." in done.stderr


def test_as_a_plain_call(warm_shop: Workshop) -> None:
    body = """
watch = paramedic.watch()
train(6)
print(summary(watch.diagnose()))  # so far; the watch goes on
train(6)
print(summary(watch.stop()))
print(summary(watch.stop(show=False)))  # a second stop changes nothing
"""
    warm_shop.write("notebook.py", EXISTING + body)
    done = warm_shop.python("notebook.py")
    assert done.code == 0, done.stderr
    assert done.stdout == "('healthy', [], 6)\n('healthy', [], 12)\n('healthy', [], 12)\n"
    assert done.stderr.count("Verdict: healthy.") == 1


def test_a_model_and_optimizer_from_before_are_known_by_name(warm_shop: Workshop) -> None:
    body = """
with paramedic.watch() as watch:
    train()
print(watch.diagnosis.run.models, watch.diagnosis.run.optimizers)
print(sorted(set(watch.diagnosis.clear) & {"PM402", "PM403", "PM405", "PM601"}))
"""
    warm_shop.write("notebook.py", EXISTING + body)
    done = warm_shop.python("notebook.py")
    assert done.stdout.splitlines() == [
        "('model: Sequential, 67 parameters (67 trainable)',) ('Adam, lr 0.01, 4 tensors',)",
        "['PM402', 'PM403', 'PM405', 'PM601']",
    ], done.stderr


def test_the_record_can_be_reported_like_any_other(warm_shop: Workshop) -> None:
    warm_shop.write("notebook.py", EXISTING + "with paramedic.watch():\n    train(softmax=True)\n")
    assert warm_shop.python("notebook.py").code == 0
    report = warm_shop.paramedic("report", "--json", "out.json")
    assert report.code == 1 and report.codes == ["PM502"]


def test_runs_chooses_the_folder(warm_shop: Workshop) -> None:
    warm_shop.write("notebook.py", EXISTING + "with paramedic.watch(runs='elsewhere'):\n    train()\n")
    assert warm_shop.python("notebook.py").code == 0
    assert len(list(warm_shop.folder.glob("elsewhere/*/main.db"))) == 1 and not warm_shop.records()


def test_an_error_inside_the_block_is_the_users(shop: Workshop) -> None:
    shop.write("notebook.py", EXISTING + "with paramedic.watch():\n    train(6)\n    raise ValueError('mine')\n")
    done = shop.python("notebook.py")
    assert done.code == 1 and "ValueError: mine" in done.stderr and "Verdict:" in done.stderr
    assert "paramedic/" not in done.stderr.partition("ValueError: mine")[0].replace(str(shop.folder), "")


def test_a_plain_call_that_is_never_stopped_keeps_its_record(warm_shop: Workshop) -> None:
    warm_shop.write("notebook.py", EXISTING + "paramedic.watch()\ntrain(softmax=True)\n")
    assert warm_shop.python("notebook.py").code == 0
    assert warm_shop.paramedic("report", "--json", "out.json").codes == ["PM502"]


# Everything of torch that a watch might replace or hook, before and after.
SURFACE = """
import inspect
from torch.nn.modules import module as hooks
from torch.optim import optimizer as optimizers
from torch.overrides import _get_current_function_mode_stack

OWNERS = [
    torch, torch.Tensor, torch.nn.Module, torch.nn.functional, torch.autograd, torch.jit, torch.random, torch.cuda,
    torch.optim.Optimizer, torch.optim.SGD, torch.optim.Adam, torch.optim.LBFGS, torch.optim.lr_scheduler.LRScheduler,
    torch.optim.lr_scheduler.StepLR, torch.utils.data.DataLoader, torch.utils.data.dataloader._BaseDataLoaderIter,
    torch.nn.utils, torch.nn.utils.clip_grad, torch.amp, torch.amp.GradScaler, torch.no_grad, torch.nn.Dropout,
    torch.nn.init, torch.nn.Parameter,
]

def surface():
    seen = {(str(owner), name): id(value) for owner in OWNERS for name, value in list(vars(owner).items())
            if callable(value) or isinstance(value, (property, staticmethod, classmethod))}
    counted = {}
    for place in (hooks, optimizers):
        for name, value in vars(place).items():
            # torch itself forgets to clean one of these: it only marks hooks, and holds none
            if name.startswith("_global") and hasattr(value, "__len__") and not name.endswith("_with_kwargs"):
                counted[name] = len(value)
    for each in model.modules():
        for name, value in vars(each).items():
            if name.endswith("_hooks") and hasattr(value, "__len__"):
                counted[type(each).__name__, name] = len(value)
    for parameter in model.parameters():
        counted["post_accumulate", id(parameter)] = len(parameter._post_accumulate_grad_hooks or ())
        counted["backward", id(parameter)] = len(parameter._backward_hooks or ())
    return seen, counted, len(_get_current_function_mode_stack())

train(1)
"""


def test_torch_is_put_back_as_it_was(warm_shop: Workshop) -> None:
    body = """
before, original = surface(), F.cross_entropy
with paramedic.watch():
    train()
    assert F.cross_entropy is not original  # this test would notice
    assert surface() != before
after = surface()
assert F.cross_entropy is original
for name in before[0].keys() | after[0].keys():
    assert before[0].get(name) == after[0].get(name), f"{name} is not what it was"
assert before[1] == after[1], (before[1], after[1])
assert before[2] == after[2] == 0, "a function mode is left over"
print("clean")
"""
    warm_shop.write("notebook.py", EXISTING + SURFACE + body)
    done = warm_shop.python("notebook.py")
    assert done.stdout == "clean\n", done.stderr


def test_one_watch_after_another(warm_shop: Workshop) -> None:
    body = """
with paramedic.watch() as first:
    train(softmax=True)
with paramedic.watch() as second:
    train()
print(summary(first.diagnosis), summary(second.diagnosis), first.folder != second.folder)
"""
    warm_shop.write("notebook.py", EXISTING + body)
    assert warm_shop.python("notebook.py").stdout == "('sick', ['PM502'], 12) ('healthy', [], 12) True\n"


def test_a_second_watch_at_the_same_time_is_a_clear_error(warm_shop: Workshop) -> None:
    body = """
watch = paramedic.watch()
try:
    paramedic.watch()
except paramedic.ParamedicError as error:
    print(error)
train()
print(summary(watch.stop(show=False)))
"""
    warm_shop.write("notebook.py", EXISTING + body)
    done = warm_shop.python("notebook.py")
    assert "already on" in done.stdout and "try" in done.stdout
    assert done.stdout.endswith("('healthy', [], 12)\n"), "the first watch goes on"


@pytest.mark.parametrize("command", ["run", "check"])
def test_a_watch_inside_a_launched_script_does_not_fail_it(warm_shop: Workshop, command: str) -> None:
    body = "import paramedic\nwith paramedic.watch() as watch:\n    train(12, softmax=True)\nprint('trained')\n"
    warm_shop.write("train.py", TRAIN + body)
    done = warm_shop.paramedic(command, "--json", "out.json", "train.py")
    assert done.code == (0 if command == "run" else 1), done.stderr
    assert done.stdout == "trained\n" and "Traceback" not in done.stderr
    assert done.codes == ["PM502"] and done.found["run"]["steps"] == 12
    assert len(warm_shop.records()) == 1, "one run, one record"


@pytest.mark.parametrize(("optimizer", "before", "codes"), [("Adam", 0, "PM210"), ("Adam", 99, ""), ("SGD", 99, "")])
def test_the_first_loss_is_only_judged_where_the_training_began(
    warm_shop: Workshop, optimizer: str, before: int, codes: str
) -> None:
    body = f"""
optimizer = torch.optim.{optimizer}(model.parameters(), lr=0.01)
train({before})
with torch.no_grad():
    model[2].weight.mul_(80)  # from now on it is sure of wrong answers
with paramedic.watch() as watch:
    train(12)
print(*{{"PM210"}} & {{finding.code for finding in watch.diagnosis.findings}})
"""
    warm_shop.write("notebook.py", EXISTING + body)
    done = warm_shop.python("notebook.py")
    assert done.stdout.strip() == codes, done.stderr
