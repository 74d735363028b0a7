import argparse

import torch
import torch.nn as nn


def get_args():
    p = argparse.ArgumentParser(description="frame-wise gesture tagging")
    p.add_argument("--epochs", default=8, type=int)
    p.add_argument("--hidden", default=40, type=int)
    p.add_argument("--lr", default=4e-3, type=float)
    p.add_argument("--n-tags", default=5, type=int)
    return p.parse_args([])


def gestures(n, steps, tags):
    y = torch.randint(0, tags, (n, steps // 4)).repeat_interleave(4, dim=1)
    proto = torch.randn(tags, 6, generator=torch.Generator().manual_seed(1))
    return proto[y] + 0.9 * torch.randn(n, steps, 6), y


class Tagger(nn.Module):
    def __init__(self, hidden, tags):
        super().__init__()
        self.rnn = nn.GRU(6, hidden, batch_first=True, bidirectional=True)
        self.proj = nn.Linear(2 * hidden, tags)

    def forward(self, x):
        out, _ = self.rnn(x)
        return self.proj(out)


def main(a):
    torch.manual_seed(21)
    torch.set_num_threads(1)
    x, y = gestures(700, 24, a.n_tags)
    xv, yv = gestures(200, 24, a.n_tags)
    model = Tagger(a.hidden, a.n_tags)
    opt = torch.optim.Adam(model.parameters(), lr=a.lr)
    lossf = nn.CrossEntropyLoss()
    for ep in range(a.epochs):
        model.train()
        tot = 0.0
        for idx in torch.randperm(len(x)).split(28):
            scores = model(x[idx])
            loss = lossf(scores.transpose(1, 2), y[idx])
            opt.zero_grad()
            loss.backward()
            opt.step()
            tot += loss.item()
        model.eval()
        with torch.no_grad():
            frame_acc = (model(xv).argmax(-1) == yv).float().mean().item()
        print(f"ep {ep + 1}: loss {tot / 25:.3f} frame accuracy {frame_acc:.3f}")


if __name__ == "__main__":
    main(get_args())
