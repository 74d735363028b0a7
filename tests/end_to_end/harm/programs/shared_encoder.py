"""Two models with one encoder, whose modes and running statistics belong to both."""

import torch
import torch.nn.functional as F
from torch import nn

torch.manual_seed(0)
torch.set_num_threads(1)


class Encoder(nn.Sequential):
    def __deepcopy__(self, memo):
        return self  # there is one for all


encoder = Encoder(nn.Linear(8, 16), nn.BatchNorm1d(16), nn.ReLU(), nn.Dropout(0.1))
first = nn.Sequential(encoder, nn.Linear(16, 3))
second = nn.Sequential(encoder, nn.Linear(16, 3))
modes = []

optimizer = torch.optim.SGD([*first.parameters(), *second[1].parameters()], lr=0.1)
for step in range(30):
    x = torch.randn(16, 8)
    loss = F.cross_entropy(first(x), x[:, :3].argmax(1)) + F.cross_entropy(second(x), x[:, 3:6].argmax(1))
    modes.append(encoder.training)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print(step, loss.item())
print(sum(modes), encoder[1].num_batches_tracked.item(), encoder[1].running_mean.sum().item())
print([p.double().sum().item() for model in (first, second) for p in model.parameters()], torch.rand(1).item())
