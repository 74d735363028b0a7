"""Two heads on the wine data, what it is and how strong it is; the optimizer comes from a config."""
import torch
from sklearn.datasets import load_wine
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

CONFIG = {
    "batch_size": 16,
    "epochs": 30,
    "optimizer": {"lr": 1e-3, "betas": (0.9, 0.999), "eps": 10.0, "weight_decay": 0.0},
    "alpha": 0.5,
}


class TwoHeads(nn.Module):
    def __init__(self, inputs, hidden=32):
        super().__init__()
        self.trunk = nn.Sequential(nn.Linear(inputs, hidden), nn.ReLU(), nn.Linear(hidden, hidden), nn.ReLU())
        self.kind = nn.Linear(hidden, 3)
        self.alcohol = nn.Linear(hidden, 1)

    def forward(self, x):
        h = self.trunk(x)
        return self.kind(h), self.alcohol(h).squeeze(1)


class Experiment:
    def __init__(self, config):
        torch.manual_seed(0)
        self.config = config
        wine = load_wine()
        x = torch.tensor(wine.data, dtype=torch.float32)
        x = (x - x.mean(0)) / x.std(0)
        self.data = TensorDataset(x[:, 1:], torch.tensor(wine.target), x[:, 0])
        self.model = TwoHeads(12)
        self.optimizer = torch.optim.AdamW(self.model.parameters(), **config["optimizer"])

    def losses(self, batch):
        x, kind, alcohol = batch
        logits, strength = self.model(x)
        return nn.functional.cross_entropy(logits, kind), nn.functional.mse_loss(strength, alcohol)

    def train(self):
        loader = DataLoader(self.data, batch_size=self.config["batch_size"], shuffle=True)
        for epoch in range(self.config["epochs"]):
            for batch in loader:
                a, b = self.losses(batch)
                loss = a + self.config["alpha"] * b
                self.optimizer.zero_grad()
                loss.backward()
                self.optimizer.step()
            if epoch % 5 == 0:
                print(epoch, a.item(), b.item())


Experiment(CONFIG).train()
