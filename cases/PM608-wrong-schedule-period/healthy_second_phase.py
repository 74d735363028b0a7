"""A new optimizer gets a new scheduler; a plateau is waited for in the direction in which the number improves."""

import torch
from torch import nn
from torch.optim.lr_scheduler import ReduceLROnPlateau, StepLR

torch.manual_seed(0)
x = torch.randn(400, 10)
y = (x[:, 0] + x[:, 1] > 0).long()
net = nn.Sequential(nn.Linear(10, 24), nn.ReLU(), nn.Linear(24, 2))
optimizer = torch.optim.SGD(net[2].parameters(), lr=0.1)
scheduler = StepLR(optimizer, 2, gamma=0.5)
plateau = None
for epoch in range(12):
    if epoch == 4:
        optimizer = torch.optim.Adam(net.parameters(), lr=1e-2)
        plateau = ReduceLROnPlateau(optimizer, mode="max", factor=0.5, patience=0)
    for chosen in torch.randperm(320).split(32):
        optimizer.zero_grad()
        loss = nn.functional.cross_entropy(net(x[chosen]), y[chosen])
        loss.backward()
        optimizer.step()
    scheduler.step()  # of the first phase: to step it on does nothing, and the second has its own
    with torch.no_grad():
        accuracy = (net(x[320:]).argmax(1) == y[320:]).float().mean().item()
    if plateau is not None:
        plateau.step(accuracy)
    print(epoch, loss.item(), accuracy, optimizer.param_groups[0]["lr"])
