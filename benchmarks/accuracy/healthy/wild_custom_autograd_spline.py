"""A hand-written autograd.Function: a learnable piecewise-linear activation with its own backward, checked by gradcheck."""
import torch
from torch import nn


class PiecewiseLinear(torch.autograd.Function):
    """Interpolates `heights` at evenly spaced knots on [-3, 3]; flat outside."""

    @staticmethod
    def forward(ctx, x, heights):
        step = 6.0 / (len(heights) - 1)
        pos = ((x + 3) / step).clamp(0, len(heights) - 1 - 1e-6)
        left = pos.floor().long()
        frac = pos - left
        ctx.save_for_backward(x, heights, left, frac)
        ctx.step = step
        return heights[left] * (1 - frac) + heights[left + 1] * frac

    @staticmethod
    def backward(ctx, grad):
        x, heights, left, frac = ctx.saved_tensors
        inside = (x > -3) & (x < 3)
        grad_x = grad * (heights[left + 1] - heights[left]) / ctx.step * inside
        grad_h = torch.zeros_like(heights)
        grad_h.index_add_(0, left.flatten(), (grad * (1 - frac)).flatten())
        grad_h.index_add_(0, (left + 1).flatten(), (grad * frac).flatten())
        return grad_x, grad_h


class Spline(nn.Module):
    def __init__(self, knots=13):
        super().__init__()
        self.heights = nn.Parameter(torch.linspace(-3, 3, knots))

    def forward(self, x):
        return PiecewiseLinear.apply(x, self.heights)


def main():
    torch.manual_seed(0)
    torch.set_num_threads(1)
    probe = torch.linspace(-2.9, 2.83, 7, dtype=torch.double, requires_grad=True)
    heights = torch.randn(13, dtype=torch.double, requires_grad=True)
    print("gradcheck", torch.autograd.gradcheck(PiecewiseLinear.apply, (probe, heights)))

    x = torch.randn(1500, 5)
    y = torch.sin(2 * x[:, 0]) + x[:, 1].abs() - 0.5 * x[:, 2] * x[:, 3]
    vx, vy, x, y = x[1200:], y[1200:], x[:1200], y[:1200]
    net = nn.Sequential(nn.Linear(5, 24), Spline(), nn.Linear(24, 24), Spline(), nn.Linear(24, 1))
    opt = torch.optim.Adam(net.parameters(), lr=5e-3)
    for epoch in range(25):
        for idx in torch.randperm(len(x)).split(50):
            loss = nn.functional.mse_loss(net(x[idx]).squeeze(1), y[idx])
            opt.zero_grad()
            loss.backward()
            opt.step()
        if epoch % 5 == 4:
            with torch.no_grad():
                r2 = 1 - nn.functional.mse_loss(net(vx).squeeze(1), vy) / vy.var()
            print(f"epoch {epoch + 1} loss {loss.item():.4f} validation R2 {r2:.3f}")


if __name__ == "__main__":
    main()
