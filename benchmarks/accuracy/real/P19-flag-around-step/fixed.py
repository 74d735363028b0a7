"""Place recognition: backbone and a cross-image encoder with its own optimizer."""
import torch
import torch.nn as nn
import torch.nn.functional as F


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.backbone = nn.Sequential(nn.Linear(32, 48), nn.ReLU(), nn.Linear(48, 24))
        self.encoder = nn.TransformerEncoderLayer(24, 2, 48, dropout=0.0, batch_first=True)
        self.cls = nn.Linear(24, 10)

    def forward(self, x):
        f = self.backbone(x)
        f = self.encoder(f[None])[0]
        return self.cls(f)


torch.manual_seed(0)
centres = torch.randn(10, 32)
y = torch.arange(1000) % 10
x = centres[y] + 0.8 * torch.randn(1000, 32)
model = Model()
main = list(model.backbone.parameters()) + list(model.cls.parameters())
optimizer = torch.optim.Adam(main, lr=1e-3)
optim_encoder = torch.optim.Adam(model.encoder.parameters(), lr=1e-3)
for epoch in range(4):
    for idx in torch.randperm(800).split(40):
        optimizer.zero_grad()
        optim_encoder.zero_grad()
        loss = F.cross_entropy(model(x[idx]), y[idx])
        loss.backward()
        optimizer.step()
        optim_encoder.step()
    model.eval()
    with torch.no_grad():
        acc = (model(x[800:]).argmax(1) == y[800:]).float().mean()
    model.train()
    print(epoch, loss.item(), acc.item())
