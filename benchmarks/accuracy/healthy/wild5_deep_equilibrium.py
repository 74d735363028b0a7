"""A deep equilibrium layer: iterate to a fixed point without a graph, differentiate through it implicitly."""
import torch
import torch.nn as nn
from sklearn.datasets import load_digits
from torch.nn.utils.parametrizations import spectral_norm


class Equilibrium(nn.Module):
    def __init__(self, d_in, width):
        super().__init__()
        self.inject = nn.Linear(d_in, width)
        self.recur = spectral_norm(nn.Linear(width, width, bias=False))

    def cell(self, z, x):
        return torch.tanh(0.8 * self.recur(z) + self.inject(x))

    def forward(self, x):
        with torch.no_grad():
            z = torch.zeros(len(x), self.recur.in_features)
            for _ in range(20):
                z = self.cell(z, x)
        z = self.cell(z, x)
        if z.requires_grad:
            start = z.detach().requires_grad_()
            again = self.cell(start, x)

            def backward(grad):
                total = grad
                for _ in range(12):
                    total = torch.autograd.grad(again, start, total, retain_graph=True)[0] + grad
                return total

            z.register_hook(backward)
        return z


torch.manual_seed(10)
torch.set_num_threads(1)
x, y = load_digits(return_X_y=True)
x, y = torch.tensor(x / 16, dtype=torch.float32), torch.tensor(y)
order = torch.randperm(len(x))
train, test = order[:1300], order[1300:]
model = nn.Sequential(Equilibrium(64, 48), nn.Linear(48, 10))
optimizer = torch.optim.Adam(model.parameters(), lr=3e-3)
for epoch in range(8):
    model.train()
    for rows in train[torch.randperm(len(train))].split(64):
        loss = nn.functional.cross_entropy(model(x[rows]), y[rows])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    model.eval()
    with torch.no_grad():
        right = (model(x[test]).argmax(1) == y[test]).float().mean()
    print(f"epoch {epoch} loss {loss.item():.3f} test accuracy {right:.3f}")
