"""Speaker verification: embeddings trained with an additive angular margin, judged by the equal error rate."""
import math

import torch
import torch.nn.functional as F
from sklearn.metrics import roc_curve
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

FRAMES, BANDS = 20, 16


class Voices:
    """A speaker is a spectral envelope plus a formant motion; utterances differ in content and noise."""

    def __init__(self, speakers, gen):
        self.envelope = torch.randn(speakers, 1, BANDS, generator=gen)
        self.motion = torch.randn(speakers, BANDS, 3, generator=gen)
        self.gen = gen

    def utterances(self, per_speaker):
        n = len(self.envelope)
        content = torch.randn(n, per_speaker, FRAMES, 3, generator=self.gen)
        x = self.envelope.unsqueeze(1) * 0.5 + content @ self.motion.transpose(1, 2).unsqueeze(1) * 0.5
        x = x + 0.9 * torch.randn(x.shape, generator=self.gen)
        return x.flatten(0, 1), torch.arange(n).repeat_interleave(per_speaker)


class Extractor(nn.Module):
    """Frame network, statistics pooling, embedding."""

    def __init__(self, dim=24):
        super().__init__()
        self.frames = nn.Sequential(
            nn.Conv1d(BANDS, 32, 3, padding=1), nn.ReLU(), nn.Conv1d(32, 32, 1), nn.ReLU())
        self.embed = nn.Linear(64, dim)

    def forward(self, x):
        h = self.frames(x.transpose(1, 2))
        stats = torch.cat([h.mean(2), (h.var(2) + 1e-5).sqrt()], dim=1)
        return F.normalize(self.embed(stats), dim=1)


class AAMSoftmax(nn.Module):
    def __init__(self, dim, classes, margin=0.15, scale=16.0):
        super().__init__()
        self.weight = nn.Parameter(torch.randn(classes, dim))
        self.margin, self.scale = margin, scale

    def forward(self, emb, label):
        cos = F.linear(emb, F.normalize(self.weight, dim=1)).clamp(-1 + 1e-6, 1 - 1e-6)
        sin = (1 - cos ** 2).sqrt()
        shifted = cos * math.cos(self.margin) - sin * math.sin(self.margin)
        hit = F.one_hot(label, cos.size(1)).bool()
        return F.cross_entropy(self.scale * torch.where(hit, shifted, cos), label)


@torch.no_grad()
def equal_error_rate(model, x, label):
    model.eval()
    emb = model(x)
    i, j = torch.triu_indices(len(x), len(x), offset=1)
    fpr, tpr, _ = roc_curve((label[i] == label[j]).numpy(), (emb[i] * emb[j]).sum(1).numpy())
    best = abs(fpr - (1 - tpr)).argmin()
    return float(fpr[best] + 1 - tpr[best]) / 2


def main():
    torch.manual_seed(15)
    gen = torch.Generator().manual_seed(15)
    x, y = Voices(120, gen).utterances(20)
    x_new, y_new = Voices(20, gen).utterances(10)
    mean, std = x.mean((0, 1)), x.std((0, 1))
    x, x_new = (x - mean) / std, (x_new - mean) / std
    loader = DataLoader(TensorDataset(x, y), batch_size=60, shuffle=True)
    model, criterion = Extractor(), AAMSoftmax(24, 120)
    optimizer = torch.optim.Adam([*model.parameters(), *criterion.parameters()], lr=3e-3)
    print(f"untrained EER on new speakers {equal_error_rate(model, x_new, y_new):.3f}")
    for epoch in range(1, 9):
        model.train()
        total = 0.0
        for xb, yb in loader:
            loss = criterion(model(xb), yb)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            total += loss.item()
        if epoch % 2 == 0:
            print(f"epoch {epoch} margin loss {total / len(loader):.4f} "
                  f"EER on new speakers {equal_error_rate(model, x_new, y_new):.3f}")


if __name__ == "__main__":
    main()
