"""A series whose next value is forecast, and one whose first value is to be remembered."""

import torch
from torch import nn

torch.manual_seed(0)
series = torch.randn(900).cumsum(0) / 10
windows = series.unfold(0, 13, 1)


class Both(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.rnn = nn.GRU(1, 16, batch_first=True)
        self.out = nn.Linear(16, 2)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.out(self.rnn(x)[0][:, -1])


net = Both()
optimizer = torch.optim.Adam(net.parameters(), lr=1e-2)
for epoch in range(4):
    for chosen in torch.randperm(800).split(40):
        x, following = windows[chosen, :-1, None], windows[chosen, -1]
        answer = net(x)
        loss = nn.functional.mse_loss(answer[:, 0], following) + nn.functional.mse_loss(answer[:, 1], x[:, 0, 0])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    with torch.no_grad():
        print(epoch, loss.item(), nn.functional.mse_loss(net(windows[800:, :-1, None])[:, 0], windows[800:, -1]).item())
