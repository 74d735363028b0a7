"""Truncated backpropagation through time on one long stream: batches are in time order and the hidden state is carried over (detached) on purpose."""
import numpy as np
import torch
from torch import nn

LANES, CHUNK = 16, 25


def stream(n, seed):
    """A switching process: the period of the wave changes now and then and stays for a while."""
    rng = np.random.default_rng(seed)
    phase, period, out = 0.0, 12.0, []
    for i in range(n):
        if rng.random() < 0.01:
            period = rng.choice([8.0, 12.0, 20.0])
        phase += 2 * np.pi / period
        out.append(np.sin(phase) + rng.normal(0, 0.05))
    return torch.tensor(np.array(out), dtype=torch.float32)


def lanes(series):
    """(n,) -> (LANES, n // LANES): every lane is a contiguous piece of the stream."""
    usable = len(series) // LANES * LANES
    return series[:usable].view(LANES, -1)


def chunks(rows):
    for i in range(0, rows.shape[1] - CHUNK - 1, CHUNK):
        yield rows[:, i:i + CHUNK], rows[:, i + 1:i + CHUNK + 1]


class StreamGRU(nn.Module):
    def __init__(self, hidden=32):
        super().__init__()
        self.rnn = nn.GRU(1, hidden, batch_first=True)
        self.out = nn.Linear(hidden, 1)

    def forward(self, x, state):
        h, state = self.rnn(x.unsqueeze(-1), state)
        return self.out(h).squeeze(-1), state


@torch.no_grad()
def evaluate(model, rows):
    model.eval()
    state, se, n = None, 0.0, 0
    for x, y in chunks(rows):
        pred, state = model(x, state)
        se += ((pred - y) ** 2).sum().item()
        n += y.numel()
    return se / n


def main():
    torch.manual_seed(0)
    train, val = lanes(stream(16000, 1)), lanes(stream(4000, 2))
    model = StreamGRU()
    opt = torch.optim.Adam(model.parameters(), lr=3e-3)
    for epoch in range(6):
        model.train()
        state, total, steps = None, 0.0, 0
        for x, y in chunks(train):
            if state is not None:
                state = state.detach()
            pred, state = model(x, state)
            loss = nn.functional.mse_loss(pred, y)
            opt.zero_grad()
            loss.backward()
            nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            opt.step()
            total += loss.item()
            steps += 1
        print(f"epoch {epoch} train mse {total / steps:.4f} val mse {evaluate(model, val):.4f}")


if __name__ == "__main__":
    main()
