"""Dead reckoning: integrate noisy speed readings with a recurrent network."""
import torch
import torch.nn as nn

torch.set_num_threads(1)
torch.manual_seed(6)
T, HIDDEN = 50, 32


class Odometer(nn.Module):
    def __init__(self):
        super().__init__()
        self.rnn = nn.RNN(2, HIDDEN, nonlinearity="relu", batch_first=True)
        nn.init.eye_(self.rnn.weight_hh_l0)
        self.proj = nn.Linear(HIDDEN, 1)

    def forward(self, readings):
        h, _ = self.rnn(readings)
        return self.proj(h[:, -1]).squeeze(-1)


def drives(n):
    speed = torch.rand(n, T)
    readings = torch.stack([speed, 0.1 * torch.randn(n, T)], dim=-1)
    return readings, speed.sum(1) / 10


model = Odometer()
optimizer = torch.optim.SGD(model.parameters(), lr=0.004, momentum=0.9)
criterion = nn.MSELoss()
smooth = None
for step in range(250):
    readings, distance = drives(32)
    loss = criterion(model(readings), distance)
    optimizer.zero_grad()
    loss.backward()  # <- PM202
    optimizer.step()
    if step % 25 == 0:
        print(f"step {step} loss {loss.item():.4g}")
