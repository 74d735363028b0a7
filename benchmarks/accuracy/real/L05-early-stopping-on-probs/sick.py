"""Coreference-like pair classification into 4 relations, with early stopping on the validation loss."""
import torch
from torch import nn
from torch.nn import functional as F

torch.set_num_threads(1)
N_RELATIONS = 4


class PairScorer(nn.Module):
    def __init__(self, dim=20, hidden=64):
        super().__init__()
        self.hidden = nn.Linear(dim, hidden)
        self.out = nn.Linear(hidden, N_RELATIONS)

    def forward(self, pairs):
        return self.out(F.relu(self.hidden(pairs)))


def batches(x, y, size, shuffle):
    order = torch.randperm(len(x)) if shuffle else torch.arange(len(x))
    for chunk in order.split(size):
        yield x[chunk], y[chunk]


def training_step(model, batch, criterion):
    x, y = batch
    return criterion(model(x), y)


def validation_step(model, batch, criterion):
    x, y = batch
    logits = model(x)
    probs = torch.softmax(logits, dim=-1)  # <- PM502
    loss = criterion(probs, y)
    return loss.item(), (probs.argmax(-1) == y).float().mean().item()


def main():
    torch.manual_seed(11)
    centers = 1.1 * torch.randn(N_RELATIONS, 20)
    y = torch.randint(N_RELATIONS, (1200,))
    x = centers[y] + torch.randn(1200, 20)
    x_tr, y_tr, x_va, y_va = x[:900], y[:900], x[900:], y[900:]

    model = PairScorer()
    criterion = nn.CrossEntropyLoss()
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
    best, waited = float("inf"), 0
    for epoch in range(30):
        model.train()
        for batch in batches(x_tr, y_tr, 50, shuffle=True):
            optimizer.zero_grad()
            loss = training_step(model, batch, criterion)
            loss.backward()
            optimizer.step()
        model.eval()
        with torch.no_grad():
            results = [validation_step(model, b, criterion) for b in batches(x_va, y_va, 100, shuffle=False)]
        val_loss, val_acc = (sum(r[i] for r in results) / len(results) for i in (0, 1))
        print(f"epoch {epoch}: val_loss {val_loss:.4f} val_acc {val_acc:.3f}")
        waited = 0 if val_loss < best - 1e-3 else waited + 1
        best = min(best, val_loss)
        if waited == 3:
            print("early stopping")
            break


main()
