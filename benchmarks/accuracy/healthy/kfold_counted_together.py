"""Cross-validation that counts over all folds and evaluates each once; then training on everything."""

import torch
from torch import nn
from torch.utils.data import DataLoader, Subset, TensorDataset

torch.manual_seed(0)
x = torch.randn(900, 10)
y = (x[:, 0] + x[:, 1] > 0).long()
data = TensorDataset(x, y)
correct = 0
for fold in range(3):
    held = list(range(fold * 300, fold * 300 + 300))
    rest = [i for i in range(900) if i not in set(held)]
    train, valid = DataLoader(Subset(data, rest), 30, shuffle=True), DataLoader(Subset(data, held), 60)
    net = nn.Sequential(nn.Linear(10, 32), nn.ReLU(), nn.Linear(32, 2))
    opt = torch.optim.Adam(net.parameters(), lr=5e-3)
    for epoch in range(3):
        seen = right = 0
        batch_accuracy = 0.0
        for a, b in train:
            opt.zero_grad()
            out = net(a)
            loss = nn.functional.cross_entropy(out, b)
            loss.backward()
            opt.step()
            right += (out.argmax(1) == b).sum().item()
            batch_accuracy += (out.argmax(1) == b).float().mean().item()
        print(right / len(train.dataset), batch_accuracy / len(train))
    with torch.no_grad():
        for a, b in valid:
            correct += (net(a).argmax(1) == b).sum().item()
print("cross-validated", correct / len(data))

loader = DataLoader(data, 45, shuffle=True)
for epoch in range(4):
    for a, b in loader:
        opt.zero_grad()
        nn.functional.cross_entropy(net(a), b).backward()
        opt.step()
    net.eval()
    hits = 0
    with torch.no_grad():
        for i, (a, b) in enumerate(loader):
            hits += (net(a).argmax(1) == b).sum().item()
            if i == 4:
                break
    print(hits / 225)
    net.train()
