"""The callbacks of paramedic.integrations, in the real frameworks: a sick model is named in the user's own file."""

from __future__ import annotations

import importlib.util

import pytest

from workshop import Workshop

HEAD = """
import logging, os, warnings
os.environ["KERAS_BACKEND"] = "torch"
warnings.simplefilter("ignore")
import torch
import torch.nn.functional as F
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

torch.set_num_threads(1)
torch.manual_seed(0)


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.Sequential(nn.Linear(6, 16), nn.ReLU(), nn.Linear(16, 3))

    def forward(self, x):
        return self.layers(x).softmax(dim=1)  # sick


x = torch.randn(320, 6)
y = x[:, :3].argmax(1)
loader = DataLoader(TensorDataset(x, y), batch_size=16, shuffle=True)
model = Net()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
"""

PROGRAMS = {
    "lightning": """
import lightning
from paramedic.integrations.lightning import ParamedicCallback

logging.getLogger("lightning.pytorch").setLevel(logging.ERROR)

class Module(lightning.LightningModule):
    def __init__(self):
        super().__init__()
        self.net = model
    def training_step(self, batch, index):
        return F.cross_entropy(self.net(batch[0]), batch[1])
    def configure_optimizers(self):
        return optimizer

callback = ParamedicCallback()
lightning.Trainer(
    max_epochs=1, accelerator="cpu", devices=1, logger=False, enable_checkpointing=False, enable_progress_bar=False,
    enable_model_summary=False, callbacks=[callback],
).fit(Module(), loader)
print([finding.code for finding in callback.diagnosis.alarms])
""",
    "transformers": """
from transformers import Trainer, TrainingArguments
from paramedic.integrations.transformers import ParamedicCallback

class Wrapped(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = model
    def forward(self, x, labels):
        out = self.net(x)
        return {"loss": F.cross_entropy(out, labels), "logits": out}

callback = ParamedicCallback()
Trainer(
    model=Wrapped(), train_dataset=[{"x": a, "labels": b} for a, b in zip(x, y)], callbacks=[callback],
    args=TrainingArguments(
        output_dir="out", max_steps=20, report_to=[], save_strategy="no", use_cpu=True, disable_tqdm=True
    ),
).train()
print([finding.code for finding in callback.diagnosis.alarms])
""",
    "accelerate": """
from accelerate import Accelerator
from paramedic.integrations.accelerate import ParamedicTracker

accelerator = Accelerator(cpu=True, log_with=ParamedicTracker())
accelerator.init_trackers("digits", config={"lr": 0.1})
model, optimizer, loader = accelerator.prepare(model, optimizer, loader)
for a, b in loader:
    loss = F.cross_entropy(model(a), b)
    accelerator.backward(loss)
    optimizer.step()
    optimizer.zero_grad()
    accelerator.log({"loss": loss.item()})
tracker = accelerator.get_tracker("paramedic")
accelerator.end_training()
print([finding.code for finding in tracker.tracker.alarms])
""",
    "ignite": """
from ignite.engine import create_supervised_trainer
from paramedic.integrations.ignite import ParamedicHandler

trainer = create_supervised_trainer(model, optimizer, F.cross_entropy)
handler = ParamedicHandler()
handler.attach(trainer)
trainer.run(loader, max_epochs=1)
print([finding.code for finding in handler.diagnosis.alarms])
""",
    "skorch": """
from skorch import NeuralNetClassifier
from paramedic.integrations.skorch import ParamedicCallback

net = NeuralNetClassifier(
    Net, criterion=nn.CrossEntropyLoss, max_epochs=1, lr=0.1, batch_size=16, train_split=None, verbose=0,
    callbacks=[("paramedic", ParamedicCallback())],
)
net.fit(x.numpy(), y.numpy())
print([finding.code for finding in dict(net.callbacks_)["paramedic"].diagnosis.alarms])
""",
    "keras": """
import keras
from paramedic.integrations.keras import ParamedicCallback

class Wrapped(keras.Model):
    def __init__(self):
        super().__init__()
        self.net = model
    def call(self, x):
        return self.net(x)

wrapped = Wrapped()
callback = ParamedicCallback()
wrapped.compile(optimizer="sgd", loss=lambda true, out: F.cross_entropy(out, true.long().flatten()))
wrapped.fit(x.numpy(), y.numpy(), batch_size=16, epochs=1, verbose=0, callbacks=[callback])
print([finding.code for finding in callback.diagnosis.alarms])
""",
    "stable_baselines3": """
import gymnasium
from stable_baselines3 import A2C
from paramedic.integrations.stable_baselines3 import ParamedicCallback

callback = ParamedicCallback()
A2C("MlpPolicy", gymnasium.make("CartPole-v1"), n_steps=8, seed=0, device="cpu").learn(200, callback=callback)
print(callback.diagnosis.run.steps, [finding.code for finding in callback.diagnosis.alarms])
""",
    "fastai": """
from fastai.data.core import DataLoaders
from fastai.learner import Learner
from fastai.optimizer import SGD
from paramedic.integrations.fastai import ParamedicCallback

callback = ParamedicCallback()
learner = Learner(DataLoaders(loader, loader), model, loss_func=F.cross_entropy, opt_func=SGD, default_cbs=False)
from fastai.callback.core import TrainEvalCallback
learner.add_cb(TrainEvalCallback())
learner.fit(1, 0.1, cbs=callback)
print([finding.code for finding in callback.diagnosis.alarms])
""",
}
SOFTMAX = [name for name in PROGRAMS if name not in ("stable_baselines3",)]


def needs(name: str) -> None:
    if importlib.util.find_spec(name) is None:
        pytest.skip(f"{name} is not installed")


@pytest.mark.parametrize("name", SOFTMAX)
def test_a_callback_gives_the_verdict(warm_shop: Workshop, name: str) -> None:
    needs(name)
    warm_shop.write("train.py", HEAD + PROGRAMS[name])
    done = warm_shop.python("train.py")
    assert done.code == 0, done.stderr
    assert done.stdout.splitlines()[-1] == "['PM502']"
    line = 1 + HEAD.strip("\n").split("\n").index("        return self.layers(x).softmax(dim=1)  # sick")
    assert f"train.py:{line} in forward" in done.stderr and done.stderr.count("Verdict: sick.") == 1


def test_a_healthy_agent_is_left_alone(warm_shop: Workshop) -> None:
    needs("stable_baselines3")
    warm_shop.write("train.py", HEAD + PROGRAMS["stable_baselines3"])
    done = warm_shop.python("train.py")
    assert done.code == 0 and done.stdout.splitlines()[-1] == "25 []", done.stderr
    assert done.stderr.count("Verdict: ") == 1


def test_under_paramedic_run_there_is_one_verdict(warm_shop: Workshop) -> None:
    needs("ignite")
    warm_shop.write("train.py", HEAD + PROGRAMS["ignite"])
    done = warm_shop.run("train.py")
    assert done.codes == ["PM502"] and done.stdout == "['PM502']\n" and done.stderr.count("Verdict: ") == 1
