"""Gradient accumulation with a tail; each part of the model is clipped on its own before the step."""

import argparse

import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset, random_split


class Classifier(nn.Module):
    def __init__(self, vocab, dim, classes):
        super().__init__()
        self.embedding = nn.EmbeddingBag(vocab, dim)
        self.body = nn.Sequential(nn.Linear(dim, dim), nn.LayerNorm(dim), nn.GELU(), nn.Dropout(0.1))
        self.head = nn.Linear(dim, classes)

    def forward(self, tokens):
        return self.head(self.body(self.embedding(tokens)))


class Trainer:
    def __init__(self, model, loader, accumulate, lr):
        self.model, self.loader, self.accumulate = model, loader, accumulate
        self.optimizer = torch.optim.AdamW(model.parameters(), lr=lr)
        self.criterion = nn.CrossEntropyLoss()

    def _update(self):
        for part in (self.model.embedding, self.model.body, self.model.head):
            nn.utils.clip_grad_norm_(part.parameters(), 1.0)
        self.optimizer.step()
        self.optimizer.zero_grad()

    def epoch(self):
        self.model.train()
        total, waiting = 0.0, 0
        for i, (x, y) in enumerate(self.loader):
            group = min(self.accumulate, len(self.loader) - i // self.accumulate * self.accumulate)
            loss = self.criterion(self.model(x), y) / group
            loss.backward()
            total += loss.item()
            waiting += 1
            if waiting == self.accumulate or i == len(self.loader) - 1:
                self._update()
                waiting = 0
        return total


def make_data(n, vocab=100, length=12, classes=4):
    y = torch.randint(classes, (n,))
    x = torch.randint(vocab, (n, length))
    hint = torch.rand(n, length) < 0.3
    return TensorDataset(torch.where(hint, y[:, None] * 20 + torch.randint(20, (n, length)), x), y)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--accumulate", type=int, default=4)
    parser.add_argument("--epochs", type=int, default=8)
    args = parser.parse_args()
    torch.set_num_threads(1)
    torch.manual_seed(0)
    train, val = random_split(make_data(1400), [1100, 300])
    trainer = Trainer(Classifier(100, 32, 4), DataLoader(train, batch_size=32, shuffle=True), args.accumulate, 5e-3)
    for epoch in range(args.epochs):
        loss = trainer.epoch()
        trainer.model.eval()
        with torch.no_grad():
            right = sum((trainer.model(x).argmax(1) == y).sum().item() for x, y in DataLoader(val, batch_size=100))
        print(f"epoch {epoch}: {loss!r} accuracy {right / len(val):.4f}")
    assert right / len(val) > 0.7


if __name__ == "__main__":
    main()
