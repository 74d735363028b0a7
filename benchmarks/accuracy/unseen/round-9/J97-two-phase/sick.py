"""Transfer: encoder learned on pairs of digits, then ten classes. Phase one trains the head, phase two everything."""
import torch
import torch.nn as nn
import torch.nn.functional as F
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split
from torch.utils.data import DataLoader, TensorDataset


class Encoder(nn.Module):
    def __init__(self, out=12):
        super().__init__()
        self.layers = nn.Sequential(nn.Linear(64, 96), nn.ReLU(), nn.Linear(96, 48), nn.ReLU(),
                                    nn.Linear(48, out), nn.ReLU())

    def forward(self, x):
        return self.layers(x)


class TransferNet(nn.Module):
    def __init__(self, encoder, classes):
        super().__init__()
        self.encoder = encoder
        self.head = nn.Linear(12, classes)

    def forward(self, x):
        return self.head(self.encoder(x))

    def freeze_encoder(self, flag=True):
        for p in self.encoder.parameters():
            p.requires_grad_(not flag)


class FineTuner:
    def __init__(self, model, lr_head=3e-3, lr_body=1e-3):
        self.model, self.lr_head, self.lr_body = model, lr_head, lr_body
        model.freeze_encoder()
        self.opt = torch.optim.Adam([p for p in model.parameters() if p.requires_grad], lr=lr_head)

    def unfreeze(self):
        self.model.freeze_encoder(False)
        for group in self.opt.param_groups:
            group["lr"] = self.lr_body

    def epoch(self, loader):
        self.model.train()
        total, n = 0.0, 0
        for x, y in loader:
            self.opt.zero_grad()
            loss = F.cross_entropy(self.model(x), y)
            loss.backward()
            self.opt.step()
            total += loss.item() * len(y)
            n += len(y)
        return total / n

    def run(self, train, valid, head_epochs, full_epochs):
        for e in range(head_epochs + full_epochs):
            if e == head_epochs:
                self.unfreeze()
                print("-- all layers")
            loss = self.epoch(train)
            if e % 5 == 4:
                print(f"epoch {e + 1:2d} loss {loss:.4f} valid acc {accuracy(self.model, valid):.4f}")


@torch.no_grad()
def accuracy(model, loader):
    model.eval()
    hits = [(model(x).argmax(1) == y) for x, y in loader]
    return torch.cat(hits).float().mean().item()


def pretrain(x, y, epochs=10):
    net = TransferNet(Encoder(), 5)
    opt = torch.optim.Adam(net.parameters(), lr=1e-3)
    loader = DataLoader(TensorDataset(x, y // 2), batch_size=64, shuffle=True)
    for _ in range(epochs):
        net.train()
        for xb, yb in loader:
            opt.zero_grad()
            F.cross_entropy(net(xb), yb).backward()
            opt.step()
    return net.encoder


def main():
    torch.manual_seed(13)
    x, y = load_digits(return_X_y=True)
    x, y = torch.tensor(x / 16.0, dtype=torch.float32), torch.tensor(y)
    idx_a, idx_b = train_test_split(range(len(y)), test_size=0.5, random_state=13)
    idx_t, idx_v = train_test_split(idx_b, test_size=0.4, random_state=13)
    encoder = pretrain(x[idx_a], y[idx_a])
    train = DataLoader(TensorDataset(x[idx_t], y[idx_t]), batch_size=32, shuffle=True)
    valid = DataLoader(TensorDataset(x[idx_v], y[idx_v]), batch_size=256)
    FineTuner(TransferNet(encoder, 10)).run(train, valid, head_epochs=10, full_epochs=20)


if __name__ == "__main__":
    main()
