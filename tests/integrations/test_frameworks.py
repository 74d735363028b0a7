"""Training loops that belong to others: Lightning and the Trainer of transformers."""

from __future__ import annotations

import importlib.util

import pytest

from workshop import Done, Workshop

LIGHTNING = """
import logging, warnings
warnings.simplefilter("ignore")
logging.getLogger("lightning.pytorch").setLevel(logging.ERROR)
import lightning
import torch
import torch.nn.functional as F
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

torch.set_num_threads(1)


class Classifier(lightning.LightningModule):
    def __init__(self):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(6, 16), nn.ReLU(), nn.Dropout(0.1), nn.Linear(16, 3))

    def forward(self, x):
        return self.net(x)HEAD

    def training_step(self, batch, index):
        x, y = batch
        loss = F.cross_entropy(self(x), y)
        self.log("loss", loss)
        return loss

    def validation_step(self, batch, index):
        x, y = batch
        self.log("accuracy", (self(x).argmax(1) == y).float().mean())

    def configure_optimizers(self):
        optimizer = torch.optim.AdamW(self.parameters(), lr=0.01)
        return [optimizer], [torch.optim.lr_scheduler.StepLR(optimizer, 1, gamma=0.9)]


if __name__ == "__main__":
    lightning.seed_everything(0, verbose=False)
    x = torch.randn(320, 6)
    data = TensorDataset(x, x[:, :3].argmax(1))
    train, test = torch.utils.data.random_split(data, [256, 64])
    trainer = lightning.Trainer(
        max_epochs=3, accelerator="cpu", devices=1, logger=False, enable_checkpointing=False, gradient_clip_val=1.0,
        accumulate_grad_batches=2, enable_progress_bar=False, enable_model_summary=False,
    )
    trainer.fit(Classifier(), DataLoader(train, batch_size=16, shuffle=True), DataLoader(test, batch_size=32))
    print("steps", trainer.global_step, f"{trainer.callback_metrics['loss'].item():.6f}")
"""

TRAINER = """
import warnings
warnings.simplefilter("ignore")
import torch
from torch import nn
from transformers import BertConfig, BertForSequenceClassification, Trainer, TrainingArguments
from transformers.utils import logging

logging.set_verbosity_error()
torch.set_num_threads(1)


class Tokens(torch.utils.data.Dataset):
    def __init__(self, count, seed):
        generator = torch.Generator().manual_seed(seed)
        self.ids = torch.randint(3, 40, (count, 10), generator=generator)

    def __len__(self):
        return len(self.ids)

    def __getitem__(self, index):
        ids = self.ids[index]
        return {"input_ids": ids, "attention_mask": torch.ones_like(ids), "labels": int((ids < 9).any())}


MODEL


if __name__ == "__main__":
    torch.manual_seed(0)
    config = BertConfig(vocab_size=40, hidden_size=32, num_hidden_layers=2, num_attention_heads=2,
                        intermediate_size=64, max_position_embeddings=16, num_labels=2)
    arguments = TrainingArguments(
        output_dir="out", max_steps=24, per_device_train_batch_size=8, learning_rate=1e-3, eval_strategy="steps",
        eval_steps=12, save_strategy="no", report_to=[], disable_tqdm=True, use_cpu=True, logging_steps=12,
        gradient_accumulation_steps=GRADIENT, warmup_steps=2, seed=0,
    )
    trainer = Trainer(Model(config), arguments, train_dataset=Tokens(256, 1), eval_dataset=Tokens(32, 2))
    trainer.train()
    print("steps", trainer.state.global_step)
"""

SOFTMAX = """
class Model(BertForSequenceClassification):
    def forward(self, input_ids=None, attention_mask=None, labels=None):
        logits = super().forward(input_ids=input_ids, attention_mask=attention_mask).logits
        output = {"logits": logits.softmax(dim=-1)}
        if labels is not None:
            output["loss"] = nn.functional.cross_entropy(output["logits"], labels)
        return output
"""


def healthy(done: Done, steps: int) -> None:
    assert done.code == 0, done.stderr
    assert done.alarms == []
    assert done.found["verdict"] == "healthy" and done.found["rules"]["crashed"] == []
    assert done.found["run"]["steps"] == steps and "detached" not in done.stderr


def sick(done: Done, file: str, source: str) -> None:
    assert done.code == 0, done.stderr
    assert done.codes and done.codes[0] == "PM502", done.alarms
    where = done.found["findings"][0]["where"]
    marked = next(n for n, line in enumerate(source.splitlines(), 1) if "softmax" in line)
    assert where["file"] == file and abs(where["line"] - marked) <= 2


lightning = pytest.mark.skipif(importlib.util.find_spec("lightning") is None, reason="Lightning is not installed")
transformers = pytest.mark.skipif(importlib.util.find_spec("transformers") is None, reason="no transformers here")


@lightning
def test_a_healthy_lightning_module_trains_as_before_and_raises_no_alarm(shop: Workshop) -> None:
    shop.write("train.py", LIGHTNING.replace("HEAD", ""))
    plain, done = shop.python("train.py"), shop.run("train.py")
    healthy(done, steps=24)
    assert done.stdout == plain.stdout and "steps 24" in done.stdout


@lightning
def test_a_softmax_in_a_lightning_module_is_found(shop: Workshop) -> None:
    script = shop.write("train.py", LIGHTNING.replace("HEAD", ".softmax(dim=1)"))
    sick(shop.run("train.py"), "train.py", script.read_text())


@lightning
def test_a_schedule_that_lightning_steps_at_the_wrong_pace_is_found_where_it_is_built(warm_shop: Workshop) -> None:
    schedule = "torch.optim.lr_scheduler.OneCycleLR(optimizer, 0.01, total_steps=64)"
    source = LIGHTNING.replace("HEAD", "").replace("torch.optim.lr_scheduler.StepLR(optimizer, 1, gamma=0.9)", schedule)
    script = warm_shop.write("train.py", source.replace("max_epochs=3", "max_epochs=4").replace("size=16", "size=8"))
    done = warm_shop.run("train.py")
    assert done.codes[:1] == ["PM608"], done.alarms
    marked = next(n for n, line in enumerate(script.read_text().splitlines(), 1) if schedule in line)
    assert done.found["findings"][0]["where"]["line"] == marked


@transformers
@pytest.mark.parametrize("accumulation", [1, 2])
def test_a_healthy_trainer_raises_no_alarm(shop: Workshop, accumulation: int) -> None:
    shop.write(
        "train.py",
        TRAINER.replace("MODEL", "Model = BertForSequenceClassification").replace("GRADIENT", str(accumulation)),
    )
    done = shop.run("train.py")
    healthy(done, steps=24)
    assert "steps 24" in done.stdout


@transformers
def test_a_softmax_under_the_trainer_is_found(shop: Workshop) -> None:
    script = shop.write("train.py", TRAINER.replace("MODEL", SOFTMAX).replace("GRADIENT", "1"))
    sick(shop.run("train.py"), "train.py", script.read_text())


SHIFTED = """
import torch
from transformers import GPT2Config, GPT2LMHeadModel, Trainer, TrainingArguments

torch.set_num_threads(1)
torch.manual_seed(0)


class Counting(torch.utils.data.Dataset):
    def __len__(self):
        return 128

    def __getitem__(self, index):
        ids = (index + torch.arange(12) * (1 + index % 3)) % 20
        labels = torch.cat([ids[1:], torch.tensor([-100])])
        return {"input_ids": ids, "labels": labels}


config = GPT2Config(vocab_size=20, n_positions=12, n_embd=16, n_layer=1, n_head=2, bos_token_id=0, eos_token_id=0)
arguments = TrainingArguments(
    output_dir="out", max_steps=16, per_device_train_batch_size=8, save_strategy="no", report_to=[], use_cpu=True
)
Trainer(GPT2LMHeadModel(config), arguments, train_dataset=Counting()).train()
"""


@transformers
def test_labels_that_the_dataset_shifts_before_the_model_does_are_found_in_the_dataset(warm_shop: Workshop) -> None:
    script = warm_shop.write("train.py", SHIFTED)
    done = warm_shop.run("train.py")
    assert done.codes[:1] == ["PM513"], done.alarms
    marked = next(n for n, line in enumerate(script.read_text().splitlines(), 1) if "ids[1:]" in line)
    assert done.found["findings"][0]["where"]["line"] == marked
