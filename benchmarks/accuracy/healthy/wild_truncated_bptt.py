"""Truncated back-propagation through time: a stateful LSTM reads long streams in pieces and detaches its state between them."""
import torch
from torch import nn


class Stream:
    """Parallel streams of bits; the target is the bit seen three steps ago combined with the present one."""

    def __init__(self, lanes, length, gen):
        self.bits = torch.randint(0, 2, (lanes, length + 3), generator=gen)

    def pieces(self, size):
        x, past = self.bits[:, 3:], self.bits[:, :-3]
        y = x ^ past
        for s in range(0, x.shape[1], size):
            yield x[:, s : s + size].float()[..., None], y[:, s : s + size].float()


class Tracker(nn.Module):
    def __init__(self, hidden=40):
        super().__init__()
        self.lstm = nn.LSTM(1, hidden, batch_first=True)
        self.out = nn.Linear(hidden, 1)

    def forward(self, x, state=None):
        h, state = self.lstm(x, state)
        return self.out(h).squeeze(-1), state


def detach(state):
    return tuple(s.detach() for s in state)


torch.manual_seed(0)
torch.set_num_threads(1)
gen = torch.Generator().manual_seed(0)
model = Tracker()
opt = torch.optim.Adam(model.parameters(), lr=1e-2)
loss_fn = nn.BCEWithLogitsLoss()
for epoch in range(9):
    state = None
    model.train()
    for x, y in Stream(32, 400, gen).pieces(16):
        if state is not None:
            state = detach(state)
        out, state = model(x, state)
        loss = loss_fn(out, y)
        opt.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        opt.step()
    model.eval()
    state, hits = None, []
    with torch.no_grad():
        for x, y in Stream(16, 200, gen).pieces(16):
            out, state = model(x, state)
            hits.append((out > 0) == (y > 0.5))
    print(f"epoch {epoch + 1} loss {loss.item():.4f} accuracy on new streams {torch.cat(hits, 1).float().mean():.3f}")
