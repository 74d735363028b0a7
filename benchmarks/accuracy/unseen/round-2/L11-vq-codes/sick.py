import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(0)
torch.set_num_threads(1)


class VQAutoEncoder(nn.Module):
    def __init__(self, codes=32, d=4):
        super().__init__()
        self.enc = nn.Sequential(nn.Linear(20, 48), nn.ReLU(), nn.Linear(48, d))
        self.book = nn.Embedding(codes, d)
        self.book.weight.data.uniform_(-1, 1)
        self.dec = nn.Sequential(nn.Linear(d, 48), nn.ReLU(), nn.Linear(48, 20))

    def forward(self, x):
        z = self.enc(x)
        dist = torch.cdist(z, self.book.weight)
        q = self.book(dist.argmin(1))
        book_loss = F.mse_loss(q, z.detach())
        code = q  # <- PM403
        return self.dec(code), book_loss


kinds = torch.randn(16, 20) * 1.5


def signals(n):
    k = torch.randint(0, 16, (n,))
    nuisance = torch.randn(n, 1) * torch.linspace(-1, 1, 20)
    return kinds[k] + 0.1 * torch.randn(n, 20) + 0 * nuisance


model = VQAutoEncoder()
opt = torch.optim.Adam(model.parameters(), lr=3e-3)
x, xv = signals(2000), signals(400)
for epoch in range(15):
    for b in torch.randperm(2000).split(50):
        recon, aux = model(x[b])
        loss = F.mse_loss(recon, x[b]) + aux
        opt.zero_grad()
        loss.backward()
        opt.step()
    if epoch % 5 == 4:
        with torch.no_grad():
            r = F.mse_loss(model(xv)[0], xv).item()
            used = torch.cdist(model.enc(xv), model.book.weight).argmin(1).unique().numel()
        print(f"epoch {epoch + 1} val mse {r:.3f} (variance {xv.var().item():.2f}) codes used {used}")
