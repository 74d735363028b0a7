"""Semi-supervised-style training: an exponential moving average of the model is what gets evaluated."""
import copy

import torch
from sklearn.datasets import load_digits
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


class EMA:
    def __init__(self, model, decay=0.95):
        self.decay = decay
        self.module = copy.deepcopy(model).eval()
        for p in self.module.parameters():
            p.requires_grad_(False)

    @torch.no_grad()
    def update(self, model):
        for ema_p, p in zip(self.module.parameters(), model.parameters()):
            ema_p.mul_(self.decay).add_(p, alpha=1 - self.decay)  # <- PM418


def build():
    return nn.Sequential(
        nn.Linear(64, 96), nn.BatchNorm1d(96), nn.ReLU(),
        nn.Linear(96, 48), nn.BatchNorm1d(48), nn.ReLU(), nn.Linear(48, 10),
    )


@torch.no_grad()
def accuracy(net, loader):
    net.eval()
    hits = sum((net(x).argmax(1) == y).sum().item() for x, y in loader)
    return hits / len(loader.dataset)


def main():
    torch.set_num_threads(1)
    torch.manual_seed(0)
    digits = load_digits()
    x = torch.tensor(digits.data, dtype=torch.float32) / 4 + 1
    y = torch.tensor(digits.target)
    perm = torch.randperm(len(x))
    train = TensorDataset(x[perm[:1400]], y[perm[:1400]])
    test = TensorDataset(x[perm[1400:]], y[perm[1400:]])
    train_loader = DataLoader(train, batch_size=70, shuffle=True)
    test_loader = DataLoader(test, batch_size=400)

    student = build()
    ema = EMA(student)
    optimizer = torch.optim.SGD(student.parameters(), lr=0.05, momentum=0.9, nesterov=True)
    for epoch in range(8):
        student.train()
        for images, labels in train_loader:
            loss = nn.functional.cross_entropy(student(images), labels)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            ema.update(student)
        print(f"epoch {epoch} student {accuracy(student, test_loader):.3f} ema {accuracy(ema.module, test_loader):.3f}")


if __name__ == "__main__":
    main()
