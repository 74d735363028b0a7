"""A trainer of one's own: the loss is made in one method and used in another, with gradients accumulated."""

import torch
from torch import nn

torch.manual_seed(0)
torch.set_num_threads(1)


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(6, 3, bias=False)

    def forward(self, x):
        return self.fc(x)


class Trainer:
    def __init__(self, model, accumulate=3):
        self.model, self.accumulate = model, accumulate
        self.optimizer = torch.optim.AdamW(model.parameters(), lr=1e-2)
        self.drop = nn.Dropout(0.2)
        self.seen = 0

    def compute_loss(self, x, target):
        out = self.drop(self.model(x))
        return self.contrast(out, target)

    def contrast(self, out, target):
        gap = (out - target).abs().sum(1)
        return gap.pow(0.5).mean()  # <- PM103 pow

    def update(self, loss, last):
        (loss / self.accumulate).backward()
        if last:
            self.optimizer.step()
            self.optimizer.zero_grad()

    def fit(self, steps):
        for step in range(steps):
            for part in range(self.accumulate):
                x = torch.randn(16, 6)
                target = x[:, :3].clone()
                if step == 13 and part == 1:
                    x[4], target[4] = 0.0, 0.0
                x = x.clamp(-3, 3)
                loss = self.compute_loss(x, target)
                self.seen += len(x)
                self.update(loss, last=part == self.accumulate - 1)
        print("seen", self.seen, "loss", loss.item())


Trainer(Net()).fit(25)
