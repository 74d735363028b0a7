"""One label is wrong by orders of magnitude, and so is one gradient."""

import torch
import torch.nn.functional as F
from torch import nn

torch.manual_seed(0)
torch.set_num_threads(1)


class Net(nn.Module):
    calls = 0

    def __init__(self):
        super().__init__()
        self.first, self.last, self.draw = nn.Linear(8, 16), nn.Linear(16, 1), torch.Generator().manual_seed(1)

    def forward(self, x):
        Net.calls += 1
        x = x + 0.01 * torch.randn(x.shape, generator=self.draw)
        return self.last(F.dropout(F.relu(self.first(x)), 0.1, self.training))


model = Net()

optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
for step in range(40):
    x = torch.randn(16, 8)
    y = x[:, :1].clone()
    y[0] *= 1e5 if step == 25 else 1
    loss = F.mse_loss(model(x), y)
    optimizer.zero_grad()
    loss.backward()
    torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
    optimizer.step()
    print(step, loss.item())
print(Net.calls, torch.rand(1).item(), torch.rand(1, generator=model.draw).item())
