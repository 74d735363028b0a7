"""A plain ReLU network on sensor readings, ten states."""
import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.utils.data import DataLoader, TensorDataset


class Net(nn.Module):
    def __init__(self):
        super(Net, self).__init__()
        self.fc1 = nn.Linear(20, 32)
        self.fc2 = nn.Linear(32, 32)
        self.fc3 = nn.Linear(32, 32)
        self.fc4 = nn.Linear(32, 10)

    def forward(self, x):
        x = F.relu(self.fc1(x))
        x = F.relu(self.fc2(x))
        x = F.relu(self.fc3(x))
        return self.fc4(x)


def readings(n, centers):
    state = torch.randint(10, (n,))
    return TensorDataset(5 * (centers[state] + torch.randn(n, 20)), state)


def main():
    torch.set_num_threads(1)
    torch.manual_seed(0)
    centers = torch.randn(10, 20)
    train_loader = DataLoader(readings(1024, centers), batch_size=64, shuffle=True)
    test_loader = DataLoader(readings(512, centers), batch_size=256)
    net = Net()
    criterion = nn.CrossEntropyLoss()
    optimizer = torch.optim.Adam(net.parameters(), lr=0.5)  # <- PM203
    for epoch in range(10):
        net.train()
        running_loss = 0.0
        for inputs, labels in train_loader:
            optimizer.zero_grad()
            outputs = net(inputs)
            loss = criterion(outputs, labels)
            loss.backward()
            optimizer.step()
            running_loss += loss.item()
        net.eval()
        with torch.no_grad():
            correct = sum((net(x).argmax(1) == y).sum().item() for x, y in test_loader)
        print("[%d] loss: %.3f accuracy: %.3f" % (epoch + 1, running_loss / len(train_loader), correct / 512))


if __name__ == "__main__":
    main()
