"""Character model of made-up place names on a preemptible machine: the job is killed once and resumed."""
import io
import random

import torch
import torch.nn as nn
from torch.optim.lr_scheduler import CosineAnnealingLR, LinearLR, SequentialLR

torch.set_num_threads(1)

HEAD = "nor sud ost wes brun hal gram tor lin kel mar fal".split()
MID = "en er ing el ar".split()
TAIL = "ford ham stad berg dorf wick vik holm".split()


def names(n, seed):
    r = random.Random(seed)
    out = []
    for _ in range(n):
        h = r.choice(HEAD)
        m = MID[(HEAD.index(h) + r.randint(0, 1)) % len(MID)]
        out.append(h + m + TAIL[(len(h) * 3 + MID.index(m)) % len(TAIL)])
    return out


CHARS = "." + "abcdefghijklmnopqrstuvwxyz"
LENGTH = 16


def encode(words):
    t = torch.zeros(len(words), LENGTH, dtype=torch.long)
    for i, w in enumerate(words):
        for j, ch in enumerate(w[:LENGTH - 2]):
            t[i, j + 1] = CHARS.index(ch)
    return t


class CharGRU(nn.Module):
    def __init__(self):
        super().__init__()
        self.emb = nn.Embedding(len(CHARS), 16)
        self.gru = nn.GRU(16, 64, batch_first=True)
        self.out = nn.Linear(64, len(CHARS))

    def forward(self, x):
        return self.out(self.gru(self.emb(x))[0])


class Job:
    total_epochs = 10
    batch = 50

    def __init__(self, lr=0.5):
        torch.manual_seed(9)
        self.data, self.held_out = encode(names(1500, 0)), encode(names(300, 1))
        self.model = CharGRU()
        self.optimizer = torch.optim.SGD(self.model.parameters(), lr=lr, momentum=0.9)
        self.steps_per_epoch = len(self.data) // self.batch
        self.epoch = 0

    def build_scheduler(self):
        warm = 2 * self.steps_per_epoch
        return SequentialLR(self.optimizer, [LinearLR(self.optimizer, start_factor=0.01, total_iters=warm),
                                             CosineAnnealingLR(self.optimizer, self.total_epochs * self.steps_per_epoch - warm)], [warm])

    def setup(self, checkpoint=None):
        if checkpoint is not None:
            state = torch.load(checkpoint)
            self.model.load_state_dict(state["model"])
            self.optimizer.load_state_dict(state["optimizer"])
            self.epoch = state["epoch"]
        self.scheduler = self.build_scheduler()
        if checkpoint is not None:
            self.scheduler.load_state_dict(state["scheduler"])
        return self

    def save(self):
        f = io.BytesIO()
        torch.save({"model": self.model.state_dict(), "optimizer": self.optimizer.state_dict(),
                    "scheduler": self.scheduler.state_dict(), "epoch": self.epoch}, f)
        f.seek(0)
        return f

    def loss(self, x):
        logits = self.model(x[:, :-1])
        return nn.functional.cross_entropy(logits.flatten(0, 1), x[:, 1:].flatten())

    def run(self, until):
        while self.epoch < until:
            g = torch.Generator().manual_seed(self.epoch)
            total = 0.0
            for idx in torch.randperm(len(self.data), generator=g).split(self.batch):
                loss = self.loss(self.data[idx])
                self.optimizer.zero_grad()
                loss.backward()
                nn.utils.clip_grad_norm_(self.model.parameters(), 1.0)
                self.optimizer.step()
                self.scheduler.step()
                total += loss.item()
            self.epoch += 1
            with torch.no_grad():
                held = self.loss(self.held_out).item()
            print(f"epoch {self.epoch} train {total / self.steps_per_epoch:.4f} held-out {held:.4f}")


if __name__ == "__main__":
    first = Job().setup()
    first.run(until=2)
    ckpt = first.save()
    print("-- preempted, resuming --")
    Job().setup(ckpt).run(until=Job.total_epochs)
