import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(0)
torch.set_num_threads(1)


def glyph_images(n, s=12):
    yy, xx = torch.meshgrid(torch.arange(s), torch.arange(s), indexing="ij")
    c = torch.randint(3, s - 3, (n, 2, 1, 1))
    r = torch.randint(2, 5, (n, 1, 1))
    img = (((yy - c[:, 0]) ** 2 + (xx - c[:, 1]) ** 2) <= r ** 2).float()
    return (img - 0.5) / 0.5


class AutoEncoder(nn.Module):
    def __init__(self, z=8):
        super().__init__()
        self.encoder = nn.Sequential(nn.Flatten(), nn.Linear(144, 96), nn.ReLU(), nn.Linear(96, z))
        self.decoder = nn.Sequential(nn.Linear(z, 96), nn.ReLU(), nn.Linear(96, 144), nn.Sigmoid())  # <- PM512

    def forward(self, x):
        return self.decoder(self.encoder(x)).view_as(x)


train, val = glyph_images(1500), glyph_images(300)
model = AutoEncoder()
opt = torch.optim.Adam(model.parameters(), lr=3e-3)
for epoch in range(15):
    for b in torch.randperm(1500).split(50):
        loss = F.mse_loss(model(train[b]), train[b])
        opt.zero_grad()
        loss.backward()
        opt.step()
    if epoch % 5 == 4:
        with torch.no_grad():
            rec = F.mse_loss(model(val), val).item()
        print(f"epoch {epoch + 1} loss {loss.item():.4f} val {rec:.4f} (variance {val.var().item():.3f})")
