"""Transformer copy task with a Noam learning-rate wrapper around Adam."""
import torch
import torch.nn as nn


class NoamOpt:
    def __init__(self, d_model, factor, warmup, optimizer):
        self.optimizer = optimizer
        self.d_model, self.factor, self.warmup = d_model, factor, warmup
        self.count = 0

    def rate(self):
        return self.factor * self.d_model**-0.5 * min(self.count**-0.5, self.count * self.warmup**-1.5)

    def step(self):
        self.count += 1
        for group in self.optimizer.param_groups:
            group["lr"] = self.rate()
        self.optimizer.step()

    def zero_grad(self):
        self.optimizer.zero_grad()


class Tagger(nn.Module):
    def __init__(self, vocab=20, d_model=32):
        super().__init__()
        self.embed = nn.Embedding(vocab, d_model)
        self.place = nn.Parameter(torch.randn(10, d_model) * 0.1)
        layer = nn.TransformerEncoderLayer(d_model, 4, 64, dropout=0.0, batch_first=True)
        self.body = nn.TransformerEncoder(layer, 2)
        self.out = nn.Linear(d_model, vocab)

    def forward(self, ids):
        return self.out(self.body(self.embed(ids) + self.place))


def batches(count, size=32):
    for _ in range(count):
        ids = torch.randint(0, 20, (size, 10))
        yield ids, ids.flip(1)


def run_epoch(model, opt, criterion, steps):
    total = 0.0
    for ids, target in batches(steps):
        loss = criterion(model(ids).flatten(0, 1), target.flatten())
        opt.zero_grad()
        loss.backward()
        opt.step()
        total += loss.item()
    return total / steps


if __name__ == "__main__":
    torch.manual_seed(1)
    net = Tagger()
    opt = NoamOpt(32, 1.0, 100, torch.optim.Adam(net.parameters(), lr=0, betas=(0.9, 0.98), eps=1e-9))
    for epoch in range(4):
        print(epoch, run_epoch(net, opt, nn.CrossEntropyLoss(), 60))
