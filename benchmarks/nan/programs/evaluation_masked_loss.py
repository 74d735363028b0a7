"""Training is fine; one batch of the validation set has nothing that counts, and the mean of it is 0/0."""

import torch
from torch import nn

torch.manual_seed(0)
torch.set_num_threads(1)


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(6, 1)

    def forward(self, x):
        return self.fc(x).squeeze(1)


def masked_loss(out, value, valid):
    error = (out - value) ** 2 * valid
    return error.sum() / valid.sum()  # <- PM101 div


def batch(nothing=False):
    x = torch.randn(16, 6)
    return x, x[:, 0], torch.zeros(16) if nothing else (torch.rand(16) > 0.3).float()


@torch.no_grad()
def validate(model):
    model.eval()
    total = 0.0
    for index in range(4):
        x, value, valid = batch(nothing=index == 2)
        total += masked_loss(model(x), value, valid).item()
    model.train()
    return total / 4


model = Net()
optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
for step in range(40):
    x, value, valid = batch()
    loss = masked_loss(model(x), value, valid)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if step % 20 == 19:
        print("validation", validate(model))
