import torch
import torch.nn as nn
import torch.nn.functional as F


class TwinHead(nn.Module):
    def __init__(self):
        super().__init__()
        self.trunk = nn.Sequential(nn.Linear(20, 64), nn.ReLU())
        self.kind = nn.Sequential(nn.Linear(64, 32), nn.ReLU(), nn.Linear(32, 4))
        self.size = nn.Sequential(nn.Linear(64, 32), nn.ReLU(), nn.Linear(32, 1))

    def forward(self, x):
        h = self.trunk(x)
        return self.kind(h), self.size(h).squeeze(-1)


def parts(n, seed):
    g = torch.Generator().manual_seed(seed)
    x = torch.randn(n, 20, generator=g)
    kind = (x[:, 0] > 0).long() + 2 * (x[:, 1] > 0).long()
    size = torch.sin(x[:, 2]) + 0.5 * x[:, 3] + 0.05 * torch.randn(n, generator=g)
    return x, kind, size


class AmpTrainer:
    def __init__(self, model, lr):
        self.model = model
        self.opt = torch.optim.SGD(model.parameters(), lr=lr, momentum=0.9)
        self.scaler = torch.amp.GradScaler("cpu")

    def step(self, x, kind, size):
        self.opt.zero_grad()
        with torch.autocast("cpu", dtype=torch.bfloat16):
            k, s = self.model(x)
            kind_loss = F.cross_entropy(k, kind)
            size_loss = F.mse_loss(s.float(), size)
        self.scaler.scale(kind_loss).backward(retain_graph=True)
        size_loss.backward()  # <- PM606
        self.scaler.step(self.opt)
        self.scaler.update()
        return kind_loss.item(), size_loss.item()

    @torch.no_grad()
    def report(self, x, kind, size):
        self.model.eval()
        k, s = self.model(x)
        self.model.train()
        r2 = 1 - F.mse_loss(s, size) / size.var()
        return (k.argmax(1) == kind).float().mean().item(), r2.item()


torch.manual_seed(0)
torch.set_num_threads(1)
trainer = AmpTrainer(TwinHead(), lr=0.02)
x, kind, size = parts(2000, 1)
val = parts(500, 2)
for epoch in range(20):
    for b in torch.randperm(len(x)).split(40):
        a, c = trainer.step(x[b], kind[b], size[b])
    if epoch % 4 == 3:
        acc, r2 = trainer.report(*val)
        print(f"epoch {epoch + 1}: losses {a:.3f} {c:.3f}  kind accuracy {acc:.3f}  size R2 {r2:.3f}")
