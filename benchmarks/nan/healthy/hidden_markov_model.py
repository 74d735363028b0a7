"""The forward algorithm in log-space: what cannot happen has the log-probability -inf, and nothing is wrong with it."""

import torch
from torch import nn

torch.manual_seed(0)
torch.set_num_threads(1)
STATES, SYMBOLS, LENGTH = 4, 6, 12


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.moves, self.emits = nn.Parameter(torch.randn(STATES, STATES)), nn.Parameter(torch.randn(STATES, SYMBOLS))
        only_forward = torch.full((STATES, STATES), float("-inf")).tril(-1)
        self.register_buffer("forbidden", only_forward)

    def forward(self, symbols):
        moves = (self.moves + self.forbidden).log_softmax(1)
        emits = self.emits.log_softmax(1)
        start = torch.tensor([0.0] + [float("-inf")] * (STATES - 1))
        alpha = start + emits[:, symbols[:, 0]].T
        for t in range(1, LENGTH):
            alpha = torch.logsumexp(alpha[:, :, None] + moves, 1) + emits[:, symbols[:, t]].T
        return -torch.logsumexp(alpha, 1)


model = Model()
optimizer = torch.optim.Adam(model.parameters(), lr=0.05)
for _ in range(40):
    symbols = (torch.arange(LENGTH) // 3 + torch.randint(0, 2, (32, LENGTH))) % SYMBOLS
    loss = model(symbols).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
print("last loss", loss.item())
