from dataclasses import dataclass, field

import torch
import torch.nn as nn
from torch.nn.utils.parametrizations import weight_norm

torch.set_num_threads(1)


@dataclass
class Config:
    channels: list = field(default_factory=lambda: [16, 16, 16])
    kernel: int = 3
    seq_len: int = 32
    batch: int = 32
    steps: int = 400
    lr: float = 4e-3
    use_weight_norm: bool = True
    seed: int = 12


class TemporalBlock(nn.Module):
    def __init__(self, i, o, k, dilation):
        super().__init__()
        self.pad = (k - 1) * dilation
        self.conv1 = nn.Conv1d(i, o, k, dilation=dilation)
        self.conv2 = nn.Conv1d(o, o, k, dilation=dilation)
        self.skip = nn.Conv1d(i, o, 1) if i != o else nn.Identity()
        self.act = nn.ReLU()

    def forward(self, x):
        h = self.act(self.conv1(nn.functional.pad(x, (self.pad, 0))))
        h = self.act(self.conv2(nn.functional.pad(h, (self.pad, 0))))
        return self.act(h + self.skip(x))


class TCN(nn.Module):
    def __init__(self, cfg):
        super().__init__()
        chans = [2] + cfg.channels
        self.net = nn.Sequential(*[TemporalBlock(chans[i], chans[i + 1], cfg.kernel, 2 ** i) for i in range(len(cfg.channels))])
        self.head = nn.Linear(chans[-1], 1)

    def forward(self, x):
        return self.head(self.net(x)[:, :, -1]).squeeze(-1)


def apply_weight_norm(model):
    for m in model.modules():
        if isinstance(m, nn.Conv1d):
            weight_norm(m)
    return model


def adding_problem(n, t, gen):
    values = torch.rand(n, t, generator=gen)
    marks = torch.zeros(n, t)
    a = torch.randint(t - 26, t - 14, (n,), generator=gen)
    b = torch.randint(t - 13, t - 1, (n,), generator=gen)
    r = torch.arange(n)
    marks[r, a] = 1.0
    marks[r, b] = 1.0
    return torch.stack([values, marks], 1), values[r, a] + values[r, b]


class Experiment:
    def __init__(self, cfg):
        self.cfg = cfg
        torch.manual_seed(cfg.seed)
        self.gen = torch.Generator().manual_seed(cfg.seed)
        self.model = TCN(cfg)
        self.setup()
        self.val = adding_problem(1000, cfg.seq_len, torch.Generator().manual_seed(777))

    def setup(self):
        self.opt = torch.optim.Adam(self.model.parameters(), lr=self.cfg.lr)
        if self.cfg.use_weight_norm:
            self.model = apply_weight_norm(self.model)

    def validate(self):
        self.model.eval()
        with torch.no_grad():
            mse = nn.functional.mse_loss(self.model(self.val[0]), self.val[1]).item()
        self.model.train()
        return mse

    def run(self):
        avg = None
        for step in range(1, self.cfg.steps + 1):
            x, y = adding_problem(self.cfg.batch, self.cfg.seq_len, self.gen)
            loss = nn.functional.mse_loss(self.model(x), y)
            self.opt.zero_grad()
            loss.backward()
            self.opt.step()
            avg = loss.item() if avg is None else 0.98 * avg + 0.02 * loss.item()
            if step % 50 == 0:
                print(f"step {step}: train mse {avg:.4f}  val mse {self.validate():.4f}")


if __name__ == "__main__":
    Experiment(Config()).run()
