"""Image-text projector: linear warm-up, then cosine, both set by hand."""
import math

import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


class WarmupCosine:
    def __init__(self, optimizer, peak, start, warmup_steps, max_epochs, per_epoch):
        self.optimizer, self.peak, self.start = optimizer, peak, start
        self.warmup_steps, self.total = warmup_steps, max_epochs * per_epoch
        self.per_epoch = per_epoch

    def step(self, epoch, step):
        seen = epoch * self.per_epoch + step
        if seen < self.warmup_steps:
            lr = self.start + (self.peak - self.start) * step / self.warmup_steps  # <- PM608
        else:
            lr = 0.5 * self.peak * (1 + math.cos(math.pi * seen / self.total))
        for group in self.optimizer.param_groups:
            group["lr"] = lr


class Projector(nn.Module):
    def __init__(self):
        super().__init__()
        self.image = nn.Sequential(nn.Linear(48, 64), nn.GELU(), nn.Linear(64, 16))
        self.text = nn.Sequential(nn.Linear(32, 64), nn.GELU(), nn.Linear(64, 16))
        self.scale = nn.Parameter(torch.tensor(2.0))

    def forward(self, image, text):
        a = nn.functional.normalize(self.image(image), dim=-1)
        b = nn.functional.normalize(self.text(text), dim=-1)
        return self.scale.exp() * a @ b.t()


def main():
    torch.manual_seed(11)
    concept = torch.randn(1280, 8)
    image = concept @ torch.randn(8, 48) + 0.2 * torch.randn(1280, 48)
    text = concept @ torch.randn(8, 32) + 0.2 * torch.randn(1280, 32)
    loader = DataLoader(TensorDataset(image, text), batch_size=32, shuffle=True, drop_last=True)
    model = Projector()
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
    epochs = 10
    schedule = WarmupCosine(optimizer, 1e-3, 1e-6, 200, epochs, len(loader))
    for epoch in range(epochs):
        for step, (a, b) in enumerate(loader):
            schedule.step(epoch, step)
            logits = model(a, b)
            truth = torch.arange(len(a))
            loss = (nn.functional.cross_entropy(logits, truth) + nn.functional.cross_entropy(logits.t(), truth)) / 2
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        print(f"epoch {epoch} loss {loss.item():.3f} lr {optimizer.param_groups[0]['lr']:.2e}")


main()
