import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F
from sklearn.datasets import load_digits


class TaskModel(nn.Module):
    def __init__(self):
        super().__init__()
        self.features = nn.Sequential(
            nn.Conv2d(1, 16, 3, padding=1), nn.BatchNorm2d(16), nn.ReLU(), nn.MaxPool2d(2),
            nn.Conv2d(16, 24, 3, padding=1), nn.BatchNorm2d(24), nn.ReLU(), nn.MaxPool2d(2),
        )
        self.classifier = nn.Sequential(nn.Dropout(0.5), nn.Linear(96, 64), nn.ReLU(), nn.Dropout(0.5), nn.Linear(64, 10))

    def forward(self, x):
        return self.classifier(self.features(x).flatten(1))


class Solver:
    def __init__(self, data, budget):
        self.x, self.y, self.x_test, self.y_test = data
        self.budget = budget

    def train(self, task_model, labelled, iterations=110):
        optimizer = torch.optim.Adam(task_model.parameters(), lr=2e-3)
        task_model.train()
        for _ in range(iterations):
            rows = labelled[torch.randint(0, len(labelled), (32,))]
            loss = F.cross_entropy(task_model(self.x[rows]), self.y[rows])
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        return loss.item()

    def test(self, task_model):
        hits = []
        for rows in torch.arange(len(self.x_test)).split(8):
            with torch.no_grad():
                preds = task_model(self.x_test[rows])  # <- PM612
            hits.append((preds.argmax(1) == self.y_test[rows]).float())
        return torch.cat(hits).mean().item()

    def select(self, labelled):
        left = np.setdiff1d(np.arange(len(self.x)), labelled.numpy())
        return torch.cat([labelled, torch.from_numpy(np.random.choice(left, self.budget, replace=False))])


np.random.seed(111)
torch.manual_seed(111)
torch.set_num_threads(1)
x, y = load_digits(return_X_y=True)
x, y = torch.tensor(x / 16, dtype=torch.float32).view(-1, 1, 8, 8), torch.tensor(y)
order = torch.randperm(len(x))
x, y = x[order], y[order]
solver = Solver((x[:1300], y[:1300], x[1300:], y[1300:]), budget=150)
labelled = torch.arange(150)
for split in range(4):
    model = TaskModel()
    loss = solver.train(model, labelled)
    print(f"{len(labelled)} labels: train loss {loss:.3f}, test accuracy {100 * solver.test(model):.1f}%")
    labelled = solver.select(labelled)
