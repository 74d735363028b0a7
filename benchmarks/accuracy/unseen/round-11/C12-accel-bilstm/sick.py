#!/usr/bin/env python
"""Four-way sequence classification (low or high first token x low or high last token) with a BiLSTM, run through Accelerate."""

import torch
from accelerate import Accelerator
from accelerate.utils import set_seed
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

torch.set_num_threads(1)
set_seed(1)


def build(n, length=14):
    x = torch.randint(1, 20, (n, length))
    first_low = (x[:, 0] < 10).long()
    last_low = (x[:, -1] < 10).long()
    y = first_low * 2 + last_low
    return TensorDataset(x, y)


class BiLSTMClassifier(nn.Module):
    def __init__(self, vocab=20, dim=24, hidden=32, classes=4):
        super().__init__()
        self.embedding = nn.Embedding(vocab, dim)
        self.rnn = nn.LSTM(dim, hidden, batch_first=True, bidirectional=True)
        self.dropout = nn.Dropout(0.1)
        self.fc = nn.Linear(2 * hidden, classes)

    def forward(self, tokens):
        emb = self.dropout(self.embedding(tokens))
        _, (hidden, _) = self.rnn(emb)
        features = hidden.reshape(tokens.size(0), -1)
        return self.fc(features)


def main():
    accelerator = Accelerator(cpu=True)
    model = BiLSTMClassifier()
    optimizer = torch.optim.AdamW(model.parameters(), lr=4e-3)
    train_dl = DataLoader(build(2400), batch_size=60, shuffle=True)
    eval_dl = DataLoader(build(600), batch_size=100)
    model, optimizer, train_dl, eval_dl = accelerator.prepare(model, optimizer, train_dl, eval_dl)
    loss_fn = nn.CrossEntropyLoss()
    for epoch in range(7):
        model.train()
        running = 0.0
        for tokens, labels in train_dl:
            optimizer.zero_grad()
            loss = loss_fn(model(tokens), labels)
            accelerator.backward(loss)
            accelerator.clip_grad_norm_(model.parameters(), 1.0)
            optimizer.step()
            running += loss.item()
        model.eval()
        good = total = 0
        for tokens, labels in eval_dl:
            with torch.no_grad():
                pred = model(tokens).argmax(-1)
            pred, labels = accelerator.gather_for_metrics((pred, labels))
            good += (pred == labels).sum().item()
            total += labels.numel()
        accelerator.print(f"epoch {epoch}: loss {running / len(train_dl):.4f}, accuracy {good / total:.4f}")


if __name__ == "__main__":
    main()
