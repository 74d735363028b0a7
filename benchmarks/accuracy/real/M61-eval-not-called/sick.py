"""Wine-style tabular classifier."""
import torch
import torch.nn as nn
from torch.utils.data import DataLoader, TensorDataset, random_split

torch.manual_seed(0)
features = torch.randn(1000, 11)
weights = torch.randn(11, 3)
labels = (features @ weights + torch.randn(1000, 3)).argmax(1)
train_set, test_set = random_split(TensorDataset(features, labels), [800, 200])
train_loader = DataLoader(train_set, batch_size=32, shuffle=True)
test_loader = DataLoader(test_set, batch_size=50)


class WineNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc1 = nn.Linear(11, 64)
        self.bn1 = nn.BatchNorm1d(64)
        self.fc2 = nn.Linear(64, 64)
        self.drop = nn.Dropout(0.4)
        self.fc3 = nn.Linear(64, 3)

    def forward(self, x):
        x = torch.relu(self.bn1(self.fc1(x)))
        return self.fc3(self.drop(torch.relu(self.fc2(x))))


net = WineNet()
criterion = nn.CrossEntropyLoss()
optimizer = torch.optim.Adam(net.parameters(), lr=1e-3)


def test():
    net.eval  # <- PM612
    correct, loss = 0, 0.0
    with torch.no_grad():
        for x, y in test_loader:
            out = net(x)
            loss += criterion(out, y).item() * len(y)
            correct += (out.argmax(1) == y).sum().item()
    return loss / 200, correct / 200


for epoch in range(10):
    net.train()
    for x, y in train_loader:
        optimizer.zero_grad()
        loss = criterion(net(x), y)
        loss.backward()
        optimizer.step()
    print("epoch %d test loss %.3f accuracy %.3f" % ((epoch,) + test()))
