"""Fine-tune the head only (a typo keeps the trunk trainable)."""
import torch
import torch.nn as nn
import torch.optim as optim

torch.manual_seed(0)
x = torch.randn(900, 16)
y1 = (x[:, :4].sum(1) > 0).long()
y2 = (x[:, 2:6].sum(1) > 0).long()
trunk = nn.Sequential(nn.Linear(16, 32), nn.ReLU(), nn.Linear(32, 32), nn.ReLU())


def fit(model, y, params, epochs):
    opt = optim.SGD(params, lr=0.1, momentum=0.9)
    for e in range(epochs):
        model.train()
        for i in torch.randperm(700).split(35):
            opt.zero_grad()
            loss = nn.functional.cross_entropy(model(x[i]), y[i])
            loss.backward()
            opt.step()
        model.eval()
        with torch.no_grad():
            print(e, loss.item(), (model(x[700:]).argmax(1) == y[700:]).float().mean().item())


source = nn.Sequential(trunk, nn.Linear(32, 2))
fit(source, y1, source.parameters(), 3)
for param in trunk.parameters():
    param.require_grad = False  # <- PM404
target = nn.Sequential(trunk, nn.Linear(32, 2))
fit(target, y2, filter(lambda p: p.requires_grad, target.parameters()), 4)
