"""Pretrain a text classifier in fp32, then adapt it to new wording with bf16 to save memory."""
import torch
import torch.nn as nn
import torch.nn.functional as F

VOCAB, LEN = 300, 16


def corpus(n, seed, shift=0):
    g = torch.Generator().manual_seed(seed)
    y = torch.randint(0, 4, (n,), generator=g)
    x = torch.randint(60, VOCAB, (n, LEN), generator=g)
    hint = ((y + shift) % 4 * 15)[:, None] + torch.randint(0, 15, (n, 3), generator=g)
    x[:, :3] = hint
    perm = torch.rand(n, LEN, generator=g).argsort(1)
    return x.gather(1, perm), y


class BagModel(nn.Module):
    def __init__(self, d=64):
        super().__init__()
        self.emb = nn.Embedding(VOCAB, d)
        self.norm = nn.LayerNorm(d)
        self.fc1 = nn.Linear(d, 128)
        self.fc2 = nn.Linear(128, 4)

    def forward(self, ids):
        h = self.norm(self.emb(ids).mean(1))
        return self.fc2(F.gelu(self.fc1(h)))


def accuracy(model, x, y):
    model.eval()
    with torch.no_grad():
        return (model(x).argmax(1) == y).float().mean().item()


def fit(model, x, y, lr, epochs, name, bs=64):
    opt = torch.optim.SGD(model.parameters(), lr=lr, momentum=0.9)
    for epoch in range(epochs):
        model.train()
        perm = torch.randperm(len(x))
        total, k = 0.0, 0
        for i in range(0, len(x), bs):
            j = perm[i:i + bs]
            with torch.autocast("cpu", dtype=torch.bfloat16):
                logits = model(x[j])
            loss = F.cross_entropy(logits.float(), y[j])
            opt.zero_grad()
            loss.backward()
            opt.step()
            total += loss.item()
            k += 1
        if epoch % 5 == 4:
            print(f"[{name}] epoch {epoch + 1} loss {total / k:.4f}")


def main():
    torch.manual_seed(0)
    model = BagModel()
    xa, ya = corpus(2000, 0)
    fit(model, xa, ya, lr=0.3, epochs=10, name="pretrain")
    xt, yt = corpus(500, 9, shift=1)
    print(f"pretrain task acc {accuracy(model, *corpus(500, 5)):.3f}, new task before {accuracy(model, xt, yt):.3f}")

    xb, yb = corpus(2000, 1, shift=1)
    fit(model, xb, yb, lr=4e-4, epochs=20, name="adapt")
    print(f"new task after {accuracy(model, xt, yt):.3f}")


if __name__ == "__main__":
    main()
