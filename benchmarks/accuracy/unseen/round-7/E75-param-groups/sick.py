"""ViT-style patch classifier for digits with separate weight-decay groups."""
import torch
import torch.nn as nn
import torch.nn.functional as F
from sklearn.datasets import load_digits
from torch.utils.data import DataLoader, TensorDataset


class PatchTransformer(nn.Module):
    def __init__(self, dim=32, depth=2, heads=4):
        super().__init__()
        self.patch = nn.Linear(4, dim)
        self.cls_token = nn.Parameter(torch.zeros(1, 1, dim))
        self.pos_embed = nn.Parameter(torch.zeros(1, 17, dim))
        self.blocks = nn.ModuleList([
            nn.TransformerEncoderLayer(dim, heads, 64, dropout=0.0, batch_first=True, norm_first=True)
            for _ in range(depth)
        ])
        self.norm = nn.LayerNorm(dim)
        self.head = nn.Linear(dim, 10)

    def forward(self, img):
        p = img.unfold(1, 2, 2).unfold(2, 2, 2).reshape(len(img), 16, 4)
        x = torch.cat([self.cls_token.expand(len(img), -1, -1), self.patch(p)], 1) + self.pos_embed
        for b in self.blocks:
            x = b(x)
        return self.head(self.norm(x)[:, 0])


def build_optimizer(model, lr, wd):
    decay, no_decay = [], []
    for name, p in model.named_parameters():
        if name.endswith("bias") or "norm" in name:
            no_decay.append(p)
        elif name.endswith("weight"):
            decay.append(p)
    groups = [{"params": decay, "weight_decay": wd}, {"params": no_decay, "weight_decay": 0.0}]
    return torch.optim.AdamW(groups, lr=lr)


def main():
    torch.manual_seed(0)
    d = load_digits()
    x = torch.tensor(d.images, dtype=torch.float32) / 16 - 0.3
    y = torch.tensor(d.target)
    p = torch.randperm(len(y))
    tr, va = p[:1400], p[1400:]
    loader = DataLoader(TensorDataset(x[tr], y[tr]), batch_size=64, shuffle=True)
    model = PatchTransformer()
    opt = build_optimizer(model, 2e-3, 0.05)
    sched = torch.optim.lr_scheduler.OneCycleLR(opt, max_lr=4e-3, total_steps=12 * len(loader))
    for epoch in range(12):
        model.train()
        total = 0.0
        for xb, yb in loader:
            loss = F.cross_entropy(model(xb), yb)
            opt.zero_grad()
            loss.backward()
            opt.step()
            sched.step()
            total += loss.item()
        model.eval()
        with torch.no_grad():
            acc = (model(x[va]).argmax(1) == y[va]).float().mean().item()
        if epoch % 3 == 2:
            print(f"epoch {epoch + 1} loss {total / len(loader):.4f} val acc {acc:.3f}")


if __name__ == "__main__":
    main()
