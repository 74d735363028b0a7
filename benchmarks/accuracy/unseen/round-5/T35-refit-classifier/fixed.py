import copy

import numpy as np
import torch
from sklearn.datasets import load_wine
from sklearn.model_selection import StratifiedKFold
from sklearn.preprocessing import StandardScaler
from torch import nn


class Classifier:
    """Wraps a network with its loss and optimizer so that it can be fitted like an estimator."""

    def __init__(self, model, loss, optimizer):
        self.model, self.loss, self.optimizer = model, loss, optimizer

    def fit(self, x, y, epochs=30, batch_size=16):
        self.model.train()
        for _ in range(epochs):
            for rows in torch.randperm(len(x)).split(batch_size):
                self.optimizer.zero_grad()
                value = self.loss(self.model(x[rows]), y[rows])
                value.backward()
                self.optimizer.step()
        return value.item()

    def score(self, x, y):
        self.model.eval()
        with torch.no_grad():
            return (self.model(x).argmax(1) == y).float().mean().item()

    def clone_for_refitting(self):
        model = copy.deepcopy(self.model)
        for layer in model.modules():
            if isinstance(layer, nn.Linear):
                layer.reset_parameters()
        optimizer = type(self.optimizer)(model.parameters(), lr=self.optimizer.param_groups[0]["lr"])
        return Classifier(model, self.loss, optimizer)


def cross_validate(template, x, y, folds=5):
    scores = []
    for number, (train, test) in enumerate(StratifiedKFold(folds, shuffle=True, random_state=0).split(x, y)):
        fold = template.clone_for_refitting()
        loss = fold.fit(x[train], y[train])
        scores.append(fold.score(x[test], y[test]))
        print(f"fold {number}: final loss {loss:.3f}, accuracy {scores[-1]:.3f}")
    return float(np.mean(scores))


torch.manual_seed(61)
torch.set_num_threads(1)
features, target = load_wine(return_X_y=True)
x = torch.tensor(StandardScaler().fit_transform(features), dtype=torch.float32)
y = torch.tensor(target)
network = nn.Sequential(nn.Linear(13, 32), nn.ReLU(), nn.Linear(32, 16), nn.ReLU(), nn.Linear(16, 3))
template = Classifier(network, nn.CrossEntropyLoss(), torch.optim.Adam(network.parameters(), lr=3e-3))
print(f"first fit, loss {template.fit(x, y):.3f}")
print(f"cross-validated accuracy {cross_validate(template, x, y):.3f}")
