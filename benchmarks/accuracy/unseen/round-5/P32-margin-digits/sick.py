import math

import torch
import torch.nn as nn
import torch.nn.functional as F
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split


class AdaCosHead(nn.Module):
    def __init__(self, num_features, num_classes):
        super().__init__()
        self.s = math.sqrt(2) * math.log(num_classes - 1) * 4
        self.W = nn.Parameter(torch.empty(num_classes, num_features))
        nn.init.xavier_uniform_(self.W)

    def forward(self, features, labels=None):
        cosine = F.linear(F.normalize(features), F.normalize(self.W))
        if labels is None:
            return self.s * cosine
        margin = F.one_hot(labels, self.W.shape[0]) * 0.1
        return self.s * (cosine - margin)


class Backbone(nn.Module):
    def __init__(self, num_features=4):
        super().__init__()
        self.conv = nn.Sequential(nn.Conv2d(1, 6, 3, stride=2, padding=1), nn.PReLU())
        self.fc = nn.Linear(6 * 16, num_features)

    def forward(self, x):
        return self.fc(self.conv(x).flatten(1))


def accuracy(model, metric_fc, x, y):
    model.eval()
    with torch.no_grad():
        hits = (metric_fc(model(x)).argmax(1) == y).float().mean().item()
    model.train()
    return hits


def main():
    torch.manual_seed(21)
    torch.set_num_threads(1)
    images, labels = load_digits(return_X_y=True)
    images = torch.tensor(images, dtype=torch.float32).reshape(-1, 1, 8, 8) / 16 - 0.3
    labels = torch.tensor(labels)
    x, xv, y, yv = train_test_split(images, labels, test_size=0.3, random_state=0, stratify=labels)
    model, metric_fc = Backbone(), AdaCosHead(4, 10)
    criterion = nn.CrossEntropyLoss()
    optimizer = torch.optim.Adam(model.parameters(), lr=3e-3)  # <- PM402
    for epoch in range(20):
        for rows in torch.randperm(len(x)).split(64):
            output = metric_fc(model(x[rows]), y[rows])
            loss = criterion(output, y[rows])
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        if epoch % 5 == 4:
            print(f"epoch {epoch:2d} loss {loss.item():.3f} val acc {accuracy(model, metric_fc, xv, yv):.3f}")


main()
