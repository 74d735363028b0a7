"""The hidden layer is made of hard decisions, which have no gradient."""

import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.first = nn.Linear(16, 64)
        self.last = nn.Linear(1, 4)

    def forward(self, x):
        hidden = torch.relu(self.first(x))
        return self.last(hidden.argmax(1, keepdim=True).float() * 0.01)


torch.manual_seed(0)
centres = torch.randn(4, 16)
y = torch.randint(0, 4, (2000,))
x = 1.2 * centres[y] + torch.randn(2000, 16)
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
