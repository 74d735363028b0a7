import io
import torch
import torch.nn as nn

torch.manual_seed(0)
torch.set_num_threads(1)
mix = torch.randn(8, 50)


def signals(n, k, seed):
    g = torch.Generator().manual_seed(seed)
    w = torch.randn(8, k, generator=g)
    z = torch.randn(n, 8)
    return torch.tanh(z @ mix) + 0.5 * torch.randn(n, 50), (z @ w).argmax(1)


class SignalNet(nn.Module):
    def __init__(self, classes):
        super().__init__()
        self.trunk = nn.Sequential(nn.Linear(50, 96), nn.ReLU(), nn.Linear(96, 24), nn.ReLU())
        self.head = nn.Linear(24, classes)

    def forward(self, x):
        return self.head(self.trunk(x))


def train(model, params, x, y, steps, lr):
    opt = torch.optim.Adam(params, lr=lr)
    for _ in range(steps):
        i = torch.randint(0, len(x), (48,))
        loss = nn.functional.cross_entropy(model(x[i]), y[i])
        opt.zero_grad()
        loss.backward()
        opt.step()
    return loss.item()


# job 1: large dataset, multi-gpu node
wrapped = nn.DataParallel(SignalNet(30))
x, y = signals(8000, 30, 5)
print("job 1 loss", train(wrapped, wrapped.parameters(), x, y, 500, 3e-3))
buf = io.BytesIO()
torch.save({"model": wrapped.state_dict(), "epoch": 12}, buf)

# job 2: small dataset, one machine
buf.seek(0)
ckpt = torch.load(buf)
model = SignalNet(4)
weights = {k.removeprefix("module."): v for k, v in ckpt["model"].items() if "head" not in k}
model.load_state_dict(weights, strict=False)
for p in model.trunk.parameters():
    p.requires_grad_(False)
xs, ys = signals(1120, 4, 9)
loss = train(model, model.head.parameters(), xs[:120], ys[:120], 300, 1e-2)
with torch.no_grad():
    acc = (model(xs[120:]).argmax(1) == ys[120:]).float().mean().item()
print(f"job 2 loss {loss:.3f} val acc {acc:.3f}")
