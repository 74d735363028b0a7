"""Keyword spotting on MFCC-like vectors, executor style."""
import logging

import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

logging.basicConfig(level=logging.INFO, format="%(message)s")


class KWSModel(nn.Module):
    def __init__(self, idim, odim, hdim):
        super().__init__()
        self.preprocessing = nn.Linear(idim, hdim)
        self.backbone = nn.Sequential(nn.ReLU(), nn.Linear(hdim, hdim), nn.ReLU())
        self.classifier = nn.Linear(hdim, odim)

    def forward(self, feats):
        return self.classifier(self.backbone(self.preprocessing(feats)))


class Executor:
    def __init__(self):
        self.step = 0

    def train(self, model, optimizer, data_loader, args):
        model.train()
        criterion = nn.CrossEntropyLoss()
        for batch_idx, (feats, target) in enumerate(data_loader):
            logits = model(feats)
            loss = criterion(logits, target)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            self.step += 1
            if batch_idx % args["log_interval"] == 0:
                logging.info("epoch %d batch %d loss %.4f", args["epoch"], batch_idx, loss.item())

    def cv(self, model, data_loader):
        model.eval()
        hits = total = 0
        with torch.no_grad():
            for feats, target in data_loader:
                hits += (model(feats).argmax(-1) == target).sum().item()
                total += target.numel()
        return hits / total


def make_keywords(n, centers):
    y = torch.randint(len(centers), (n,))
    return TensorDataset(centers[y] + 1.2 * torch.randn(n, centers.shape[1]), y)


if __name__ == "__main__":
    torch.manual_seed(777)
    torch.set_num_threads(1)
    centers = torch.randn(10, 20)
    train_loader = DataLoader(make_keywords(1024, centers), batch_size=64, shuffle=True)
    cv_loader = DataLoader(make_keywords(512, centers), batch_size=256)
    model = KWSModel(20, 10, 64)
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
    executor = Executor()
    for epoch in range(8):
        executor.train(model, optimizer, train_loader, {"epoch": epoch, "log_interval": 8})
        logging.info("epoch %d cv accuracy %.3f", epoch, executor.cv(model, cv_loader))
