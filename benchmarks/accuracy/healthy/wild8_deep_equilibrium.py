"""Deep equilibrium classifier: fixed-point forward pass, implicit-function backward pass through a hook."""
import torch
import torch.nn.functional as F
from sklearn.datasets import load_digits
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


def solve(f, start, iterations=30, tol=1e-4):
    """Plain damped iteration; the cell is a contraction, so it converges."""
    z = start
    for _ in range(iterations):
        new = f(z)
        gap = (new - z).norm() / (new.norm() + 1e-8)
        z = new
        if gap < tol:
            break
    return z


class DEQ(nn.Module):
    def __init__(self, n_in=64, dim=48, classes=10):
        super().__init__()
        self.dim = dim
        self.inject = nn.Linear(n_in, dim)
        self.recur = nn.utils.parametrizations.spectral_norm(nn.Linear(dim, dim, bias=False))
        self.head = nn.Linear(dim, classes)

    def forward(self, x):
        injected = self.inject(x)
        weight = self.recur.weight

        def step(z, u):
            return torch.tanh(0.8 * F.linear(z, weight) + u)

        with torch.no_grad():
            fixed = solve(lambda z: step(z, injected), torch.zeros(len(x), self.dim))
        z = step(fixed, injected)
        if self.training:
            z0 = fixed.clone().requires_grad_()
            f0 = step(z0, injected.detach())

            def implicit(grad):
                pull = lambda g: torch.autograd.grad(f0, z0, g, retain_graph=True)[0] + grad
                return solve(pull, grad, iterations=15)

            z.register_hook(implicit)
        return self.head(z)


def main():
    torch.manual_seed(3)
    digits = load_digits()
    x = torch.tensor(digits.data, dtype=torch.float32)
    y = torch.tensor(digits.target)
    order = torch.randperm(len(x))
    x, y = x[order], y[order]
    x = (x - x[:1400].mean()) / x[:1400].std()
    loader = DataLoader(TensorDataset(x[:1400], y[:1400]), batch_size=100, shuffle=True)
    model = DEQ()
    optimizer = torch.optim.Adam(model.parameters(), lr=4e-3)
    for epoch in range(1, 9):
        model.train()
        total = 0.0
        for xb, yb in loader:
            loss = F.cross_entropy(model(xb), yb)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            total += loss.item()
        model.eval()
        with torch.no_grad():
            acc = (model(x[1400:]).argmax(1) == y[1400:]).float().mean().item()
        print(f"epoch {epoch} loss {total / len(loader):.4f} val acc {acc:.4f}")


if __name__ == "__main__":
    main()
