"""Whole objects pickled, copied and loaded in the middle of training, as older programs do."""

import copy
import io
import pickle

import torch
from torch import nn

torch.manual_seed(0)
torch.set_num_threads(1)

model = nn.Sequential(nn.Linear(8, 16), nn.BatchNorm1d(16), nn.ReLU(), nn.Linear(16, 3))
optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
criterion = nn.CrossEntropyLoss()
schedule = torch.optim.lr_scheduler.StepLR(optimizer, 10)
for step in range(45):
    x = torch.randn(16, 8)
    y = x[:, :3].argmax(1)
    loss = criterion(model(x), y)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    schedule.step()
    print(step, loss.item())
    if step == 15:
        with open("all.pt", "wb") as file:
            torch.save([model, criterion, optimizer], file)
        with open("all.pt", "rb") as file:
            model, criterion, optimizer = torch.load(file, weights_only=False)
        schedule = torch.optim.lr_scheduler.StepLR(optimizer, 10)
    if step == 30:
        optimizer.param_groups[0]["lr"] = 0.05
        model, optimizer = copy.deepcopy((model, optimizer))
        schedule = torch.optim.lr_scheduler.StepLR(optimizer, 10)
print(len(pickle.dumps(model)), len(pickle.dumps(optimizer)), len(pickle.dumps((x, y, loss.detach()))))
file = io.BytesIO()
torch.save({"model": model.state_dict(), "optimizer": optimizer.state_dict(), "schedule": schedule.state_dict()}, file)
print(len(file.getvalue()), sorted(optimizer.state_dict()["param_groups"][0]), sorted(schedule.state_dict()))
