"""Two-phase training with Accelerate: learn digits 0-6, then a linear probe for digits 7-9."""
import torch
import torch.nn as nn
import torch.nn.functional as F
from accelerate import Accelerator
from accelerate.utils import set_seed
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split
from torch.utils.data import DataLoader, TensorDataset


class DigitNet(nn.Module):
    def __init__(self, n_classes, width=96):
        super().__init__()
        self.backbone = nn.Sequential(nn.Linear(64, width), nn.ReLU(), nn.Linear(width, width), nn.ReLU())
        self.head = nn.Linear(width, n_classes)

    def forward(self, x):
        return self.head(self.backbone(x))

    def replace_head(self, n_classes):
        self.head = nn.Linear(self.head.in_features, n_classes)


def loaders(digits, offset, batch_size=32):
    data = load_digits()
    keep = torch.tensor([t in digits for t in data.target])
    x = torch.tensor(data.data / 8.0 - 1.0, dtype=torch.float32)[keep]
    y = torch.tensor(data.target)[keep] - offset
    tr, te = train_test_split(torch.arange(len(y)), test_size=0.3, stratify=y.numpy(), random_state=0)
    return (
        DataLoader(TensorDataset(x[tr], y[tr]), batch_size=batch_size, shuffle=True),
        DataLoader(TensorDataset(x[te], y[te]), batch_size=256),
    )


def run_phase(name, accelerator, model, optimizer, train_loader, test_loader, epochs):
    for epoch in range(epochs):
        model.train()
        total = 0.0
        for x, y in train_loader:
            loss = F.cross_entropy(model(x), y)
            optimizer.zero_grad()
            accelerator.backward(loss)
            accelerator.clip_grad_norm_(model.parameters(), 5.0)
            optimizer.step()
            total += loss.item()
        accelerator.print(f"{name} epoch {epoch}  loss {total / len(train_loader):.4f}  acc {evaluate(accelerator, model, test_loader):.4f}")


@torch.no_grad()
def evaluate(accelerator, model, loader):
    model.eval()
    hits, count = 0, 0
    for x, y in loader:
        pred, ref = accelerator.gather_for_metrics((model(x).argmax(1), y))
        hits += (pred == ref).sum().item()
        count += len(ref)
    return hits / count


def main():
    set_seed(3)
    accelerator = Accelerator(cpu=True)
    base_train, base_test = loaders(range(0, 7), 0)
    new_train, new_test = loaders(range(7, 10), 7)

    model = DigitNet(7)
    optimizer = torch.optim.AdamW(model.parameters(), lr=2e-3)
    model, optimizer, base_train, base_test, new_train, new_test = accelerator.prepare(
        model, optimizer, base_train, base_test, new_train, new_test
    )
    run_phase("base", accelerator, model, optimizer, base_train, base_test, epochs=6)

    net = accelerator.unwrap_model(model)
    net.backbone.requires_grad_(False)
    net.replace_head(3)
    optimizer = accelerator.prepare(torch.optim.AdamW(net.head.parameters(), lr=1e-2))
    run_phase("probe", accelerator, model, optimizer, new_train, new_test, epochs=12)


if __name__ == "__main__":
    main()
