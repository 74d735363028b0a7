"""A recurrent network with gradients of two batches added up before each step."""

import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.rnn = nn.LSTM(6, 32, num_layers=2, dropout=0.1, batch_first=True)
        self.head = nn.Linear(32, 1)

    def forward(self, x):
        return self.head(self.rnn(x)[0].mean(1))


torch.manual_seed(0)
x = torch.randn(1500, 12, 6)
y = x[:, :, 0].mean(1, keepdim=True) * 3 + x[:, :, 1].amax(1, keepdim=True)
loader = DataLoader(TensorDataset(x, y), batch_size=16, shuffle=True)
model = Net()
optimizer = torch.optim.Adam(model.parameters(), lr=3e-3)
for epoch in range(6):
    for number, (xb, yb) in enumerate(loader):
        loss = nn.functional.smooth_l1_loss(model(xb), yb) / 2
        loss.backward()
        if number % 2:
            optimizer.step()
            optimizer.zero_grad()
    print(epoch, 2 * loss.item())
