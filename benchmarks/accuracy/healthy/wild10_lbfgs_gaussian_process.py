"""Healthy: Gaussian-process regression by maximum marginal likelihood with L-BFGS; closure evaluates several times per step, loss turns negative."""
import math

import torch
import torch.nn as nn


class GP(nn.Module):
    def __init__(self, x, y):
        super().__init__()
        self.x, self.y = x, y
        self.log_scale = nn.Parameter(torch.tensor(0.0))
        self.log_length = nn.Parameter(torch.zeros(x.shape[1]))
        self.log_noise = nn.Parameter(torch.tensor(-1.0))

    def kernel(self, a, b):
        d = torch.cdist(a / self.log_length.exp(), b / self.log_length.exp(), compute_mode="donot_use_mm_for_euclid_dist")
        return (2 * self.log_scale).exp() * torch.exp(-0.5 * d.pow(2))

    def factor(self):
        noise = (2 * self.log_noise).exp() + 1e-6
        return torch.linalg.cholesky(self.kernel(self.x, self.x) + noise * torch.eye(len(self.x)))

    def nll(self):
        chol = self.factor()
        alpha = torch.cholesky_solve(self.y[:, None], chol).squeeze(1)
        return (0.5 * self.y @ alpha + chol.diagonal().log().sum() + 0.5 * len(self.y) * math.log(2 * math.pi)) / len(self.y)

    @torch.no_grad()
    def predict(self, xs):
        chol = self.factor()
        k = self.kernel(xs, self.x)
        mean = k @ torch.cholesky_solve(self.y[:, None], chol).squeeze(1)
        v = torch.linalg.solve_triangular(chol, k.t(), upper=False)
        var = (2 * self.log_scale).exp() - v.pow(2).sum(0) + (2 * self.log_noise).exp()
        return mean, var.clamp_min(1e-9)


def target(x):
    return torch.sin(3 * x[:, 0]) + 0.5 * x[:, 1] ** 2 - x[:, 2]


def main():
    torch.manual_seed(0)
    torch.set_default_dtype(torch.float64)
    x = torch.rand(200, 4) * 2 - 1
    y = target(x) + 0.05 * torch.randn(200)
    offset = y.mean()
    xs = torch.rand(300, 4) * 2 - 1
    ys = target(xs)
    gp = GP(x, y - offset)
    opt = torch.optim.LBFGS(gp.parameters(), lr=0.5, max_iter=4, line_search_fn="strong_wolfe")

    def closure():
        opt.zero_grad()
        loss = gp.nll()
        loss.backward()
        return loss

    for step in range(1, 61):
        loss = opt.step(closure)
        if step % 10 == 0:
            mean, var = gp.predict(xs)
            rmse = (mean + offset - ys).pow(2).mean().sqrt()
            inside = ((mean + offset - ys).abs() < 2 * var.sqrt()).double().mean()
            print(f"step {step}  nll {loss.item():.4f}  rmse {rmse:.4f}  2-sigma coverage {inside:.3f}")
    print("length scales", [round(v, 2) for v in gp.log_length.exp().tolist()], "noise", round(gp.log_noise.exp().item(), 3))


if __name__ == "__main__":
    main()
