import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.optim.lr_scheduler import StepLR
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(0)
torch.set_num_threads(1)
proto = torch.randn(8, 1, 10, 10)


def shapes(n):
    y = torch.randint(0, 8, (n,))
    return TensorDataset(proto[y] * 0.7 + torch.randn(n, 1, 10, 10), y)


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv1 = nn.Conv2d(1, 8, 3)
        self.fc1 = nn.Linear(8 * 16, 48)
        self.fc2 = nn.Linear(48, 8)

    def forward(self, x):
        x = F.max_pool2d(F.relu(self.conv1(x)), 2)
        return self.fc2(F.relu(self.fc1(x.flatten(1))))


def train(model, loader, optimizer, scheduler, epoch):
    model.train()
    for data, target in loader:
        optimizer.zero_grad()
        loss = F.cross_entropy(model(data), target)
        loss.backward()
        optimizer.step()
    scheduler.step()
    return loss.item()


def test(model, loader):
    model.eval()
    ok = 0
    with torch.no_grad():
        for data, target in loader:
            ok += (model(data).argmax(1) == target).sum().item()
    return ok / len(loader.dataset)


train_loader = DataLoader(shapes(1280), 32, shuffle=True)
test_loader = DataLoader(shapes(400), 100)
model = Net()
optimizer = torch.optim.SGD(model.parameters(), lr=0.02, momentum=0.9)
scheduler = StepLR(optimizer, step_size=4, gamma=0.3)
for epoch in range(10):
    loss = train(model, train_loader, optimizer, scheduler, epoch)
    print(f"epoch {epoch} lr {optimizer.param_groups[0]['lr']:.2e} loss {loss:.3f} test {test(model, test_loader):.3f}")
