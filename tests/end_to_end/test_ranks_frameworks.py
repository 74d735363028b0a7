"""Two ranks, started by whoever starts them: the same losses, one verdict."""

from __future__ import annotations

import importlib.util
import os

import pytest

from workshop import Workshop

HEAD = """
import os, sys
import torch
import torch.nn.functional as F
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

torch.set_num_threads(1)
HERE = os.getcwd()

def data():
    torch.manual_seed(0)
    x = torch.randn(512, 8)
    return DataLoader(TensorDataset(x, x[:, :3].argmax(1)), 16, shuffle=True)

def net():
    return nn.Sequential(nn.Linear(8, 32), nn.ReLU(), nn.Linear(32, 3))

def tell(rank, losses):
    with open(f"{HERE}/losses-{rank}", "w") as file:
        file.write(str([loss.hex() for loss in losses]))
"""

ACCELERATE = """
from accelerate import Accelerator, notebook_launcher

def train():
    accelerator = Accelerator(cpu=True)
    loader, model = data(), net()
    optimizer = torch.optim.AdamW(model.parameters(), lr=0.01)
    model, optimizer, loader = accelerator.prepare(model, optimizer, loader)
    losses = []
    for epoch in range(2):
        for inputs, targets in loader:
            loss = F.cross_entropy(model(inputs), targets)
            optimizer.zero_grad()
            accelerator.backward(loss)
            optimizer.step()
            losses.append(loss.item())
    tell(accelerator.process_index, losses)
    accelerator.end_training()

if __name__ == "__main__":
    if "notebook" in sys.argv:
        notebook_launcher(train, num_processes=2, use_port="29533")
    else:
        train()
"""

LIGHTNING = """
import lightning

class Net(lightning.LightningModule):
    def __init__(self):
        super().__init__()
        self.net, self.losses = net(), []
    def training_step(self, batch, index):
        inputs, targets = batch
        loss = F.cross_entropy(self.net(inputs), targets)
        self.losses.append(loss.item())
        return loss
    def on_train_end(self):
        tell(self.global_rank, self.losses)
    def configure_optimizers(self):
        return torch.optim.AdamW(self.parameters(), lr=0.01)

if __name__ == "__main__":
    loader = data()
    trainer = lightning.Trainer(
        max_epochs=2, accelerator="cpu", devices=2, strategy=sys.argv[1], logger=False, enable_checkpointing=False,
        enable_progress_bar=False, enable_model_summary=False,
    )
    trainer.fit(Net(), loader)
"""

RAY = """
import ray.train.torch
from ray.train import RunConfig, ScalingConfig
from ray.train.torch import TorchConfig, TorchTrainer

def train():
    loader = ray.train.torch.prepare_data_loader(data())
    model = ray.train.torch.prepare_model(net())
    optimizer = torch.optim.AdamW(model.parameters(), lr=0.01)
    losses = []
    for epoch in range(2):
        loader.sampler.set_epoch(epoch)
        for inputs, targets in loader:
            loss = F.cross_entropy(model(inputs), targets)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            losses.append(loss.item())
    tell(ray.train.get_context().get_world_rank(), losses)

if __name__ == "__main__":
    ray.init(num_cpus=3, include_dashboard=False, object_store_memory=100 * 2**20)
    TorchTrainer(
        train, scaling_config=ScalingConfig(num_workers=2), torch_config=TorchConfig(backend="gloo"),
        run_config=RunConfig(storage_path=HERE + "/results"),
    ).fit()
"""

LAUNCH = ("-m", "accelerate.commands.launch", "--multi_gpu", "--num_processes", "2", "--main_process_port", "29534")
STARTED = {
    "accelerate launch": (ACCELERATE, (*LAUNCH, "train.py")),
    "notebook_launcher": (ACCELERATE, ("train.py", "notebook")),
    "Lightning, subprocesses": (LIGHTNING, ("train.py", "ddp")),
    "Lightning, spawn": (LIGHTNING, ("train.py", "ddp_spawn")),
    "Ray Train": (RAY, ("train.py",)),
}


@pytest.mark.parametrize("how", STARTED)
def test_two_ranks_have_the_same_losses_and_one_verdict(shop: Workshop, how: str) -> None:
    script, words = STARTED[how]
    package = {"A": "accelerate", "L": "lightning", "R": "ray"}["A" if script is ACCELERATE else how[0]]
    if importlib.util.find_spec(package) is None:
        pytest.skip(f"{package} is not installed")
    shop.write("train.py", HEAD + script)
    assert shop.python(*words).code == 0
    alone = [(shop.folder / f"losses-{rank}").read_text() for rank in range(2)]
    for rank in range(2):
        os.remove(shop.folder / f"losses-{rank}")
    done = shop.run(*words)
    assert [(shop.folder / f"losses-{rank}").read_text() for rank in range(2)] == alone, done.stderr
    assert done.found["verdict"] == "healthy" and done.alarms == [], done.alarms
    assert done.found["run"]["steps"] == 32 and done.stderr.count("Verdict:") == 1
    assert "PM802" in done.found["rules"]["clear"] and "PM801" in done.found["rules"]["clear"]
