"""`paramedic test`: a test file that passes on a healthy script and fails, with the cause, on a sick one."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch

from paramedic import testing
from paramedic.errors import ParamedicError
from paramedic.launch import Target
from paramedic.testing import CheckFailed, load_training
from paramedic.testing.script.running import first_step
from paramedic.testing.script.storing import store_training
from paramedic.testing.script.writing import run_check, that_apply
from workshop import Workshop

torch.set_num_threads(1)

TOP = """
import argparse
import torch
from torch import nn
import torch.nn.functional as F

parser = argparse.ArgumentParser()
parser.add_argument("--dim", type=int, default=8)
args = parser.parse_args()

class Net(nn.Module):
    def __init__(self, dim):
        super().__init__()
        self.body, self.head = nn.Linear(4, dim), nn.Linear(dim, 3)

    def forward(self, x):
        return self.head(self.body(x).relu())

torch.manual_seed(0)
model = Net(args.dim)
optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
for step in range(1000):
    x = torch.randn(16, 4)
    y = x[:, :3].argmax(dim=1)
    out = model(x)
    loss = F.cross_entropy(out, y)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print(loss.item())
raise SystemExit("the training was run")
"""

MAIN = """
import torch
from torch import nn

def batches():
    while True:
        x = torch.randn(8, 4)
        yield x, x.sum(1, keepdim=True)

def train(net, criterion, optimizer):
    for x, y in batches():
        optimizer.zero_grad()
        loss = criterion(net(x), y) + 0.0
        loss.backward()
        optimizer.step()

def main():
    model = nn.Sequential(nn.Linear(4, 8), nn.Tanh(), nn.Linear(8, 1))
    model[0].weight.data.mul_(0.5)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
    train(model, nn.MSELoss(), optimizer)

if __name__ == "__main__":
    main()
"""

PARAMETERS = """
import argparse, torch
from torch import nn

class Net(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.layers = nn.Sequential(nn.Linear(4, width), nn.ReLU(), nn.Linear(width, 3))
    def forward(self, x):
        return self.layers(x)

def fit(args, seed, *, rate=0.05):
    torch.manual_seed(seed)
    net = Net(args.width)
    opt = torch.optim.AdamW(net.parameters(), lr=rate)
    for _ in range(3):
        x = torch.randn(16, 4)
        opt.zero_grad()
        loss = nn.functional.cross_entropy(net(x), x[:, :3].argmax(1))
        loss.backward()
        opt.step()

def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--width", type=int, default=8)
    fit(parser.parse_args(), seed=3)

if __name__ == "__main__":
    main()
"""
TRAINER = """
import torch
from torch import nn

class Net(nn.Module):
    def __init__(self, dim, act=nn.ReLU):
        super().__init__()
        self.layers = nn.Sequential(nn.Linear(4, dim), act(), nn.Linear(dim, 1))

    def forward(self, x):
        return self.layers(x)

class Trainer:
    def __init__(self, model, lr):
        self.model, self.loss, self.scale = model, nn.MSELoss(), 2.0
        self.optimizer = torch.optim.Adam(model.parameters(), lr=lr)

    def compute(self, x, y):
        return self.scale * self.loss(self.model(x), y)

    def fit(self):
        for _ in range(1000):
            x = torch.randn(8, 4)
            loss = self.compute(x, x.sum(1, keepdim=True))
            self.optimizer.zero_grad()
            loss.backward()
            self.optimizer.step()

Trainer(Net(6, act=nn.Tanh), lr=3e-3).fit()
"""

LIGHTNING = """
import lightning as L
import torch
import torch.nn.functional as F
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

class Lit(L.LightningModule):
    def __init__(self, dim=16):
        super().__init__()
        self.save_hyperparameters()
        self.net = nn.Sequential(nn.Linear(8, dim), nn.ReLU(), nn.Dropout(0.1), nn.Linear(dim, 3))

    def forward(self, x):
        return self.net(x)

    def training_step(self, batch, batch_idx):
        x, y = batch
        loss = F.cross_entropy(CALL, y)
        self.log("loss", loss)
        return {"loss": loss}

    def configure_optimizers(self):
        optimizer = torch.optim.Adam(self.parameters(), lr=1e-2)
        return [optimizer], [torch.optim.lr_scheduler.LambdaLR(optimizer, lambda step: min(step / 3, 1.0))]

if __name__ == "__main__":
    x = torch.randn(64, 8)
    loader = DataLoader(TensorDataset(x, x[:, :3].argmax(1)), batch_size=16)
    model = Lit(dim=24)
    trainer = L.Trainer(max_epochs=3, accelerator="cpu", logger=False, accumulate_grad_batches=2,
                        enable_checkpointing=False, enable_progress_bar=False, enable_model_summary=False)
    trainer.fit(model, loader)
    model.must_not_be_called()
"""

TRANSFORMERS = """
import torch
from torch.utils.data import Dataset
from transformers import BertConfig, BertForSequenceClassification, Trainer, TrainingArguments

class Rows(Dataset):
    ids = torch.randint(1, 50, (32, 12), generator=torch.Generator().manual_seed(0))

    def __len__(self):
        return len(self.ids)

    def __getitem__(self, i):
        return {"input_ids": self.ids[i], "labels": self.ids[i, 0] % 2}

class Weighted(Trainer):
    def compute_loss(self, model, inputs, return_outputs=False, **kwargs):
        logits = model(input_ids=inputs["input_ids"]).logits
        return torch.nn.functional.cross_entropy(logits, inputs["labels"], weight=torch.tensor([1.0, 2.0]))

def main():
    config = BertConfig(vocab_size=50, hidden_size=16, num_hidden_layers=1, num_attention_heads=2,
                        intermediate_size=32, num_labels=2)
    model = BertForSequenceClassification(config)
    args = TrainingArguments("out", per_device_train_batch_size=8, max_steps=4, report_to=[], use_cpu=True,
                             learning_rate=1e-3, warmup_steps=2, save_strategy="no", disable_tqdm=True)
    Kind(model=model, args=args, train_dataset=Rows()).train()
    model.save_pretrained("must-not-be-saved")

if __name__ == "__main__":
    main()
"""
LIBRARIES = {
    "lightning": LIGHTNING.replace("CALL", "self(x)"),
    "lightning, its net": LIGHTNING.replace("CALL", "self.net(x)"),
    "trainer": TRANSFORMERS.replace("Kind", "Trainer"),
    "own loss": TRANSFORMERS.replace("Kind", "Weighted"),
}


def test_a_test_that_follows_its_script(warm_shop: Workshop) -> None:
    script = warm_shop.write("train.py", TOP)
    done = warm_shop.paramedic("test", "train.py", "--dim", "12", "-o", "tests/test_training.py")
    assert done.code == 0, done.stderr
    text = (warm_shop.folder / "tests" / "test_training.py").read_text()
    assert (
        "assert_learns" in text
        and "assert_batch_independent" in text
        and "assert_no_fault" in text
        and "# A model that cannot fit" in text
    )
    compile(text, "test_training.py", "exec")
    assert warm_shop.paramedic("test", "-o", "tests/test_training.py", "train.py").code == 2, "nothing is overwritten"

    pytest_run = ("-m", "pytest", "-q", "-p", "no:cacheprovider", "tests")
    healthy = warm_shop.python(*pytest_run)
    assert healthy.code == 0, healthy.stdout
    script.write_text(script.read_text().replace("out = model(x)", "out = model(x).softmax(dim=1)"))
    sick = warm_shop.python(*pytest_run)
    assert sick.code == 1 and "PM502" in sick.stdout and "test_learns" in sick.stdout, sick.stdout


@pytest.mark.parametrize(
    ("source", "args"), [(TOP, ("--dim", "5")), (MAIN, ()), (PARAMETERS, ("--width", "12")), (TRAINER, ())]
)
def test_scripts_of_several_kinds(tmp_path: Path, source: str, args: tuple[str, ...]) -> None:
    script, fixture = tmp_path / "train.py", tmp_path / "t.fixture"
    script.write_text(source)
    step = first_step(Target(name=str(script), args=args))
    store_training(script, list(args), step, fixture)
    training = load_training(script, fixture)
    value = training.loss(training.model, training.batch)
    assert float(value.detach()) == pytest.approx(step.loss, rel=1e-5) and value.requires_grad
    held = [id(p) for group in training.optimizer.param_groups for p in group["params"]]
    assert held == [id(p) for p in training.model.parameters()]
    assert type(training.optimizer) is type(step.optimizer)
    assert training.optimizer.param_groups[0]["lr"] == step.optimizer.param_groups[0]["lr"]
    assert all(torch.equal(step.state[name], value) for name, value in training.model.state_dict().items())


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("kind", LIBRARIES)
def test_loops_inside_of_libraries(kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    script, fixture = tmp_path / "train.py", tmp_path / "t.fixture"
    script.write_text(LIBRARIES[kind])
    step = first_step(Target(name=str(script), args=()))
    training, _ = store_training(script, [], step, fixture)
    held = {id(p) for group in training.optimizer.param_groups for p in group["params"]}
    assert held == {id(p) for p in training.model.parameters()}
    assert training.optimizer.param_groups[0]["lr"] == (1e-2 if "lightning" in kind else 1e-3), "not that of a warm-up"
    checks = that_apply(training)
    assert {"learns", "every_parameter_moves", "evaluation_is_deterministic"} <= set(checks)
    run_check("every_parameter_moves", training)
    assert not (tmp_path / "must-not-be-saved").exists()


@pytest.mark.filterwarnings("ignore")
def test_a_lightning_module_that_became_sick(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    script, fixture = tmp_path / "train.py", tmp_path / "t.fixture"
    script.write_text(LIBRARIES["lightning"])
    training, _ = store_training(script, [], first_step(Target(name=str(script), args=())), fixture)
    run_check("learns", training)
    script.write_text(LIGHTNING.replace("CALL", "self(x).softmax(dim=1)"))
    with pytest.raises(CheckFailed, match="PM502"):
        run_check("learns", load_training(script, fixture))


def test_a_script_that_cannot_be_taken_apart_is_tested_as_a_whole(warm_shop: Workshop) -> None:
    script = MAIN.replace("loss = criterion(net(x), y) + 0.0", "loss = step_of(net, criterion, x, y)")
    script = script.replace(
        "def train(", "def step_of(net, criterion, x, y):\n    return criterion(net(x), y)\n\ndef train("
    )
    script = script.replace("loss.backward()", "back(loss)").replace(
        "def batches", "def back(loss):\n    loss.backward()\n\ndef batches"
    )
    warm_shop.write("train.py", script)
    done = warm_shop.paramedic("test", "-o", "test_training.py", "train.py")
    assert done.code == 0 and "only the test of the script as a whole" in done.stderr, done.stderr
    text = (warm_shop.folder / "test_training.py").read_text()
    assert "assert_no_fault" in text and "assert_learns" not in text
    compile(text, "test_training.py", "exec")


def test_a_script_as_a_whole(tmp_path: Path) -> None:
    """Its rules are those of a run, its files stay as they are, and a crash is told with its last words."""
    script = tmp_path / "train.py"
    script.write_text(TOP.replace("loss = F.cross_entropy(out, y)", "loss = F.cross_entropy(out.softmax(1), y)"))
    (tmp_path / "best.pt").write_text("precious")
    script.write_text(
        script.read_text().replace("optimizer.step()", "optimizer.step(); open('best.pt', 'w').write('x')")
    )
    with pytest.raises(CheckFailed, match="PM502"):
        testing.assert_no_fault(script, "--dim", "6", folder=tmp_path)
    assert (tmp_path / "best.pt").read_text() == "precious"
    script.write_text("raise ValueError('no data')\n")
    with pytest.raises(CheckFailed, match="ValueError: no data"):
        testing.assert_no_fault(script, folder=tmp_path)


def test_a_script_that_does_not_train(tmp_path: Path) -> None:
    script = tmp_path / "train.py"
    script.write_text("print('nothing')\n")
    with pytest.raises(ParamedicError, match="did not come to a training step"):
        first_step(Target(name=str(script), args=()))
