"""A random search: many short trainings in one process, some of them with a hopeless learning rate; early stopping."""

import json
import random

import torch
from sklearn.datasets import load_wine
from sklearn.model_selection import train_test_split
from torch import nn

torch.set_num_threads(1)
random.seed(1)
features, labels = load_wine(return_X_y=True)
x, x_val, y, y_val = train_test_split(features, labels, test_size=0.3, random_state=0, stratify=labels)
mean, std = x.mean(0), x.std(0)
x, x_val = (torch.tensor((a - mean) / std, dtype=torch.float32) for a in (x, x_val))
y, y_val = torch.tensor(y), torch.tensor(y_val)


def sample_configuration():
    return {
        "lr": 10 ** random.uniform(-5, -1),
        "width": random.choice([4, 16, 64]),
        "dropout": random.choice([0.0, 0.2, 0.5]),
        "optimizer": random.choice(["SGD", "Adam", "RMSprop"]),
        "weight_decay": random.choice([0.0, 1e-3]),
    }


def objective(configuration, patience=3, epochs=12):
    torch.manual_seed(0)
    model = nn.Sequential(
        nn.Linear(13, configuration["width"]),
        nn.ReLU(),
        nn.Dropout(configuration["dropout"]),
        nn.Linear(configuration["width"], 3),
    )
    optimizer = getattr(torch.optim, configuration["optimizer"])(
        model.parameters(), lr=configuration["lr"], weight_decay=configuration["weight_decay"]
    )
    criterion = nn.CrossEntropyLoss()
    best, waited = 0.0, 0
    for epoch in range(epochs):
        model.train()
        for rows in torch.randperm(len(x)).split(31):
            optimizer.zero_grad()
            criterion(model(x[rows]), y[rows]).backward()
            optimizer.step()
        model.eval()
        with torch.no_grad():
            accuracy = (model(x_val).argmax(1) == y_val).float().mean().item()
        if accuracy > best:
            best, waited = accuracy, 0
        else:
            waited += 1
            if waited >= patience:
                break
    return best


trials = []
for number in range(12):
    configuration = sample_configuration()
    trials.append((objective(configuration), number, configuration))
    print(number, trials[-1][0], json.dumps(configuration))
trials.sort(key=lambda t: -t[0])
print("best", trials[0])
assert trials[0][0] > 0.95
