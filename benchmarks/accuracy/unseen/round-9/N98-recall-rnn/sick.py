"""Recall the first symbol after a stretch of distractors with a plain recurrent network."""
import argparse
import math

import torch
import torch.nn.functional as F
from torch import nn


class RecallTask:
    def __init__(self, symbols=6, length=30, seed=0):
        self.symbols, self.length = symbols, length
        self.gen = torch.Generator().manual_seed(seed)

    def batch(self, n):
        first = torch.randint(self.symbols, (n,), generator=self.gen)
        noise = torch.randint(self.symbols, (n, self.length), generator=self.gen) + self.symbols
        return torch.cat([first[:, None], noise], dim=1), first


class PlainRNN(nn.Module):
    def __init__(self, vocab, classes, width=64):
        super().__init__()
        self.embed = nn.Embedding(vocab, width)
        self.rnn = nn.RNN(width, width, batch_first=True)
        self.out = nn.Linear(width, classes)
        nn.init.orthogonal_(self.rnn.weight_hh_l0, gain=1.5)
        nn.init.normal_(self.embed.weight, std=0.5)

    def forward(self, tokens):
        states, _ = self.rnn(self.embed(tokens))
        return self.out(states[:, -1])


class Updater:
    """Holds the optimizer and applies one clipped update."""

    def __init__(self, parameters, lr, clip):
        self.parameters = parameters
        self.clip = clip
        self.optimizer = torch.optim.SGD(self.parameters, lr=lr, momentum=0.9)

    def __call__(self, loss):
        self.optimizer.zero_grad(set_to_none=True)
        loss.backward()
        if self.clip:
            nn.utils.clip_grad_norm_(self.parameters, self.clip)
        self.optimizer.step()


@torch.no_grad()
def evaluate(model, tokens, target):
    model.eval()
    logits = model(tokens)
    return F.cross_entropy(logits, target).item(), (logits.argmax(1) == target).float().mean().item()


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("--steps", type=int, default=600)
    ap.add_argument("--batch", type=int, default=64)
    ap.add_argument("--lr", type=float, default=0.2)
    ap.add_argument("--clip", type=float, default=0.25)
    ap.add_argument("--seed", type=int, default=0)
    args = ap.parse_args()
    torch.manual_seed(args.seed)
    task = RecallTask(seed=args.seed)
    valid = RecallTask(seed=1234).batch(500)
    model = PlainRNN(2 * task.symbols, task.symbols)
    update = Updater(model.parameters(), args.lr, args.clip)
    print(f"chance level loss {math.log(task.symbols):.3f}")
    window = []
    for step in range(1, args.steps + 1):
        model.train()
        tokens, target = task.batch(args.batch)
        loss = F.cross_entropy(model(tokens), target)
        update(loss)
        window.append(loss.item())
        if step % 100 == 0:
            val_loss, acc = evaluate(model, *valid)
            print(f"step {step:4d}  train {sum(window[-100:]) / 100:.4f}  valid {val_loss:.4f}  accuracy {acc:.3f}")


if __name__ == "__main__":
    main()
