"""Deep copies, pickles and checkpoints of a model in training; all are written to files for another process."""

import copy
import pickle

import torch
from fingerprint import bits, finish
from torch import nn

torch.manual_seed(0)
model = nn.Sequential(nn.Linear(6, 12), nn.ReLU(), nn.Dropout(0.2), nn.Linear(12, 1))
average = copy.deepcopy(model).requires_grad_(False)
optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
scheduler = torch.optim.lr_scheduler.StepLR(optimizer, 10)
for step in range(30):
    x = torch.randn(32, 6)
    loss = nn.functional.mse_loss(model(x), x.sum(1, keepdim=True))
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    scheduler.step()
    with torch.no_grad():
        for kept, live in zip(average.parameters(), model.parameters(), strict=True):
            kept.lerp_(live, 0.1)
    bits(loss)
    if step == 5:  # while every call is examined
        copied = copy.deepcopy(model)
        saved = (model, loss.detach(), optimizer, scheduler)
        torch.save({"model": model, "loss": loss.detach(), "optimizer": optimizer, "scheduler": scheduler}, "whole.pt")
        torch.save({"model": model.state_dict(), "optimizer": optimizer.state_dict()}, "state.pt")
        with open("model.pickle", "wb") as file:
            pickle.dump((model, optimizer, scheduler, loss.detach()), file)
        bits(copied.eval()(torch.ones(1, 6)))
checkpoint = torch.load("state.pt", weights_only=True)
model.load_state_dict(checkpoint["model"])
optimizer.load_state_dict(checkpoint["optimizer"])
bits(model.eval()(torch.ones(1, 6)))
finish(model, average)
