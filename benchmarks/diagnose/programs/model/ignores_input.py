"""Three classes from twelve features; the forward pass normalises each single number away."""

import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.first = nn.Linear(12, 32)
        self.norm = nn.LayerNorm(1)
        self.last = nn.Linear(32, 3)

    def forward(self, x):
        hidden = torch.relu(self.first(x))
        hidden = self.norm(hidden.unsqueeze(-1)).squeeze(-1)
        return self.last(hidden)


torch.manual_seed(0)
centres = torch.randn(3, 12)
y = torch.randint(0, 3, (1500,))
x = centres[y] + torch.randn(1500, 12)
loader = DataLoader(TensorDataset(x, y), batch_size=32, shuffle=True)
model = Net()
optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
criterion = nn.CrossEntropyLoss()
for epoch in range(8):
    for xb, yb in loader:
        optimizer.zero_grad()
        loss = criterion(model(xb), yb)
        loss.backward()
        optimizer.step()
    print(epoch, loss.item())
