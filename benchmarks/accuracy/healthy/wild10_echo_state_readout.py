"""Healthy: echo-state network; the recurrent reservoir is random and frozen as a buffer, only the linear readout is trained."""
import math

import torch
import torch.nn as nn


class Reservoir(nn.Module):
    def __init__(self, size=200, spectral_radius=0.9, leak=0.3):
        super().__init__()
        w = torch.randn(size, size) * (torch.rand(size, size) < 0.1)
        w *= spectral_radius / torch.linalg.eigvals(w).abs().max()
        self.register_buffer("w", w)
        self.register_buffer("w_in", torch.empty(size).uniform_(-1, 1))
        self.leak = leak

    @torch.no_grad()
    def forward(self, signal):
        h, states = torch.zeros(len(self.w)), []
        for u in signal:
            h = (1 - self.leak) * h + self.leak * torch.tanh(self.w @ h + self.w_in * u)
            states.append(h)
        return torch.stack(states)


class EchoStateNetwork(nn.Module):
    def __init__(self, size=200):
        super().__init__()
        self.reservoir = Reservoir(size)
        self.readout = nn.Linear(size + 1, 1)

    def states(self, signal):
        return torch.cat([self.reservoir(signal), signal[:, None]], 1)


def mackey_like(n):
    t = torch.arange(n) * 0.15
    return 0.6 * torch.sin(t) + 0.3 * torch.sin(2.31 * t + 0.5) * torch.cos(0.17 * t) + 0.02 * torch.randn(n)


def main():
    torch.manual_seed(0)
    series = mackey_like(2600)
    esn = EchoStateNetwork()
    horizon, washout, split = 3, 100, 2000
    states = esn.states(series[:-horizon])
    target = series[horizon:]
    xtr, ytr = states[washout:split], target[washout:split]
    xte, yte = states[split:], target[split:]
    mean, std = xtr.mean(0), xtr.std(0).clamp_min(1e-6)
    xtr, xte = (xtr - mean) / std, (xte - mean) / std

    opt = torch.optim.Adam(esn.readout.parameters(), lr=3e-3)
    gen = torch.Generator().manual_seed(0)
    for epoch in range(1, 41):
        total = 0.0
        for idx in torch.randperm(len(xtr), generator=gen).split(64):
            loss = (esn.readout(xtr[idx]).squeeze(1) - ytr[idx]).pow(2).mean()
            opt.zero_grad()
            loss.backward()
            opt.step()
            total += loss.item() * len(idx)
        if epoch % 8 == 0:
            with torch.no_grad():
                err = (esn.readout(xte).squeeze(1) - yte).pow(2).mean()
            print(f"epoch {epoch}  train mse {total / len(xtr):.5f}  test nrmse {math.sqrt(err / yte.var()):.4f}")
    persistence = (series[split:-horizon] - yte).pow(2).mean()
    print(f"persistence nrmse {math.sqrt(persistence / yte.var()):.4f}")


if __name__ == "__main__":
    main()
