"""Transfer: an encoder pretrained on parity of digits is reused for the ten-way task, head first, then end to end."""
import torch
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


class Net(nn.Module):
    def __init__(self, n_out, width=64, feat=12):
        super().__init__()
        self.encoder = nn.Sequential(nn.Linear(64, width), nn.ReLU(), nn.Linear(width, feat), nn.ReLU())
        self.head = nn.Linear(feat, n_out)

    def forward(self, x):
        return self.head(self.encoder(x))


def set_trainable(module, flag):
    for p in module.parameters():
        p.requires_grad = flag


def run_epoch(model, loader, optimizer):
    model.train()
    total = n = 0
    for x, y in loader:
        loss = nn.functional.cross_entropy(model(x), y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        total += loss.item() * len(y)
        n += len(y)
    return total / n


@torch.no_grad()
def accuracy(model, loader):
    model.eval()
    hits = n = 0
    for x, y in loader:
        hits += (model(x).argmax(1) == y).sum().item()
        n += len(y)
    return hits / n


def tensors():
    x, y = load_digits(return_X_y=True)
    x = torch.tensor(x / 16.0, dtype=torch.float32)
    y = torch.tensor(y)
    idx_pre, idx_rest = train_test_split(range(len(y)), test_size=0.5, random_state=0, stratify=y)
    idx_tr, idx_va = train_test_split(idx_rest, test_size=0.4, random_state=0, stratify=y[idx_rest])
    return [(x[i], y[i]) for i in (idx_pre, idx_tr, idx_va)]


def pretrain(x, y, epochs=10):
    model = Net(2)
    loader = DataLoader(TensorDataset(x, y % 2), batch_size=32, shuffle=True)
    opt = torch.optim.Adam(model.parameters(), lr=2e-3)
    for _ in range(epochs):
        loss = run_epoch(model, loader, opt)
    print(f"pretraining done, loss {loss:.4f}")
    return model.encoder.state_dict()


def finetune(weights, train, val, head_epochs=10, full_epochs=25):
    model = Net(10)
    model.encoder.load_state_dict(weights)
    set_trainable(model.encoder, False)
    optimizer = torch.optim.Adam([p for p in model.parameters() if p.requires_grad], lr=5e-3)
    for epoch in range(head_epochs):
        loss = run_epoch(model, train, optimizer)
        print(f"[head] epoch {epoch:2d} loss {loss:.4f} val acc {accuracy(model, val):.3f}")

    set_trainable(model.encoder, True)
    optimizer.add_param_group({"params": list(model.encoder.parameters()), "lr": 2e-3})
    for epoch in range(full_epochs):
        loss = run_epoch(model, train, optimizer)
        print(f"[full] epoch {epoch:2d} loss {loss:.4f} val acc {accuracy(model, val):.3f}")


def main():
    torch.manual_seed(1)
    pre, tr, va = tensors()
    weights = pretrain(*pre)
    train = DataLoader(TensorDataset(*tr), batch_size=32, shuffle=True)
    val = DataLoader(TensorDataset(*va), batch_size=128)
    finetune(weights, train, val)


if __name__ == "__main__":
    main()
