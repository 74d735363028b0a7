"""A recurrent network that takes (time, batch, features) and gets a view, not a transpose."""

import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.rnn = nn.GRU(6, 32)
        self.head = nn.Linear(32, 4)

    def forward(self, x):
        n, t, f = x.shape
        out, _ = self.rnn(x.view(t, n, f))
        return self.head(out[-1])


torch.manual_seed(0)
x = torch.randn(1500, 12, 6)
y = (x[:, :, 0].mean(1) > 0).long() + 2 * (x[:, :, 1].mean(1) > 0).long()
loader = DataLoader(TensorDataset(x, y), batch_size=32, shuffle=True)
model = Net()
optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
criterion = nn.CrossEntropyLoss()
for epoch in range(10):
    for xb, yb in loader:
        optimizer.zero_grad()
        loss = criterion(model(xb), yb)
        loss.backward()
        optimizer.step()
    print(epoch, loss.item())
