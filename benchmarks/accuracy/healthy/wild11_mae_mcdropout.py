"""Masked auto-encoder on digit patches, then a probe whose dropout stays on at test time (MC dropout for uncertainty)."""
import torch
import torch.nn as nn
import torch.nn.functional as F
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split

torch.set_num_threads(1)
torch.manual_seed(0)

d = load_digits()
img = torch.tensor(d.images / 16.0, dtype=torch.float32)
patches = img.unfold(1, 2, 2).unfold(2, 2, 2).reshape(-1, 16, 4)
labels = torch.tensor(d.target)
tr, te = train_test_split(torch.arange(len(img)), test_size=0.3, random_state=1, stratify=labels)


class MAE(nn.Module):
    def __init__(self, dim=48, keep=6):
        super().__init__()
        self.keep = keep
        self.embed = nn.Linear(4, dim)
        self.pos = nn.Parameter(0.1 * torch.randn(16, dim))
        layer = nn.TransformerEncoderLayer(dim, 4, 96, dropout=0.0, batch_first=True, norm_first=True)
        self.encoder = nn.TransformerEncoder(layer, 2, enable_nested_tensor=False)
        self.mask_token = nn.Parameter(torch.zeros(dim))
        self.decoder = nn.TransformerEncoderLayer(dim, 4, 96, dropout=0.0, batch_first=True, norm_first=True)
        self.out = nn.Linear(dim, 4)

    def encode(self, p):
        return self.encoder(self.embed(p) + self.pos)

    def forward(self, p):
        b = len(p)
        order = torch.rand(b, 16).argsort(1)
        vis = order[:, :self.keep]
        x = self.embed(p) + self.pos
        x = self.encoder(x.gather(1, vis[..., None].expand(-1, -1, x.size(-1))))
        full = self.mask_token.expand(b, 16, -1).scatter(1, vis[..., None].expand_as(x), x)
        rec = self.out(self.decoder(full + self.pos))
        masked = torch.ones(b, 16).scatter(1, vis, 0.0)
        return ((rec - p).pow(2).mean(-1) * masked).sum() / masked.sum()


mae = MAE()
opt = torch.optim.AdamW(mae.parameters(), lr=2e-3, weight_decay=0.05)
for epoch in range(8):
    tot = 0.0
    for ids in tr[torch.randperm(len(tr))].split(64):
        loss = mae(patches[ids])
        opt.zero_grad()
        loss.backward()
        opt.step()
        tot += loss.item() * len(ids)
    print(f"pretrain {epoch} masked mse {tot / len(tr):.4f}")

mae.eval().requires_grad_(False)
feats = mae.encode(patches).flatten(1)
feats = (feats - feats[tr].mean(0)) / (feats[tr].std(0) + 1e-5)
head = nn.Sequential(nn.Linear(feats.shape[1], 64), nn.ReLU(), nn.Dropout(0.3), nn.Linear(64, 10))
opt = torch.optim.Adam(head.parameters(), lr=1e-3)
for epoch in range(8):
    head.train()
    tot = 0.0
    for ids in tr[torch.randperm(len(tr))].split(64):
        loss = F.cross_entropy(head(feats[ids]), labels[ids])
        opt.zero_grad()
        loss.backward()
        opt.step()
        tot += loss.item() * len(ids)
    head.eval()
    for m in head.modules():
        if isinstance(m, nn.Dropout):
            m.train()  # MC dropout
    with torch.no_grad():
        probs = torch.stack([head(feats[te]).softmax(1) for _ in range(10)])
    acc = (probs.mean(0).argmax(1) == labels[te]).float().mean().item()
    print(f"probe {epoch} loss {tot / len(tr):.4f} test acc {acc:.4f} mean predictive std {probs.std(0).mean():.4f}")
