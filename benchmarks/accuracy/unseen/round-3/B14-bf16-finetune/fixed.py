# bf16 fine-tuning of a pretrained encoder on a new label set (CPU)
import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F

DTYPE = torch.bfloat16
D_IN = 32


def domain(n, seed, labels):
    rng = np.random.default_rng(seed)
    W = np.random.default_rng(77).normal(0, 1, (D_IN, 12))
    x = rng.normal(0, 1, (n, D_IN))
    f = np.tanh(x @ W / 3)
    if labels == "pretrain":
        y = f[:, :5].argmax(1)
    else:
        y = (f[:, 5] - 0.5 * f[:, 6] > 0).astype(int) * 2 + (f[:, 7] + 0.5 * f[:, 8] > 0)
    return torch.from_numpy(x.astype(np.float32)), torch.from_numpy(y.astype(np.int64))


class Block(nn.Module):
    def __init__(self, d):
        super().__init__()
        self.norm = nn.LayerNorm(d)
        self.up, self.down = nn.Linear(d, 2 * d), nn.Linear(2 * d, d)

    def forward(self, x):
        return x + self.down(F.gelu(self.up(self.norm(x))))


class Encoder(nn.Module):
    def __init__(self, d=64, depth=3, n_out=5):
        super().__init__()
        self.inp = nn.Linear(D_IN, d)
        self.blocks = nn.Sequential(*[Block(d) for _ in range(depth)])
        self.head = nn.Linear(d, n_out)

    def forward(self, x):
        return self.head(self.blocks(self.inp(x)))


def batches(x, y, size, epochs):
    for _ in range(epochs):
        for idx in torch.randperm(len(x)).split(size):
            yield x[idx], y[idx]


def pretrain(model):
    x, y = domain(2000, 1, "pretrain")
    opt = torch.optim.AdamW(model.parameters(), lr=2e-3)
    for xb, yb in batches(x, y, 100, 4):
        loss = F.cross_entropy(model(xb), yb)
        opt.zero_grad()
        loss.backward()
        opt.step()
    return loss.item()


def accuracy(model, x, y):
    model.eval()
    with torch.no_grad(), torch.autocast("cpu", dtype=DTYPE):
        pred = model(x.to(next(model.parameters()).dtype)).argmax(-1)
    model.train()
    return (pred == y).float().mean().item()


def finetune(model, epochs=12, lr=6e-5):
    x, y = domain(2400, 2, "target")
    xt, yt = domain(800, 3, "target")
    model.head = nn.Linear(model.head.in_features, 4)
    model = model.to(torch.float32)
    opt = torch.optim.AdamW(model.parameters(), lr=lr, weight_decay=0.01)
    run = []
    for step, (xb, yb) in enumerate(batches(x, y, 48, epochs), 1):
        with torch.autocast("cpu", dtype=DTYPE):
            logits = model(xb.to(next(model.parameters()).dtype))
        loss = F.cross_entropy(logits.float(), yb)
        opt.zero_grad()
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        opt.step()
        run.append(loss.item())
        if step % 150 == 0:
            print(f"step {step} loss {np.mean(run[-150:]):.4f} test acc {accuracy(model, xt, yt):.3f}")


if __name__ == "__main__":
    torch.manual_seed(0)
    net = Encoder()
    print(f"pretrained, last loss {pretrain(net):.3f}")
    finetune(net)
