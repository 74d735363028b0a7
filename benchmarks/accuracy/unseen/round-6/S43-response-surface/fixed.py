import torch
import torch.nn as nn
from torch.optim.lr_scheduler import ReduceLROnPlateau


class Surface:
    def __init__(self, n, seed):
        g = torch.Generator().manual_seed(seed)
        self.x = torch.rand(n, 3, generator=g) * 2 - 1
        z = self.x
        self.y = torch.sin(4 * z[:, 0]) * z[:, 1] + (2 * z[:, 2]).tanh() + 0.05 * torch.randn(n, generator=g)


class Regressor:
    def __init__(self, lr=0.05, patience=3):
        self.net = nn.Sequential(nn.Linear(3, 64), nn.Tanh(), nn.Linear(64, 64), nn.Tanh(), nn.Linear(64, 1))
        self.optimizer = torch.optim.SGD(self.net.parameters(), lr=lr, momentum=0.9)
        self.scheduler = ReduceLROnPlateau(self.optimizer, factor=0.3, patience=patience)
        self.loss = nn.MSELoss()

    def score(self, data):
        with torch.no_grad():
            return self.loss(self.net(data.x).squeeze(1), data.y).item()

    def fit(self, train, val, epochs):
        for epoch in range(epochs):
            for idx in torch.randperm(len(train.y)).split(32):
                self.optimizer.zero_grad()
                loss = self.loss(self.net(train.x[idx]).squeeze(1), train.y[idx])
                loss.backward()
                self.optimizer.step()
            val_loss = self.score(val)
            self.scheduler.step(val_loss)
            if epoch % 8 == 7:
                print(f"epoch {epoch + 1}: validation mse {val_loss:.4f} lr {self.optimizer.param_groups[0]['lr']:.2e}")


torch.manual_seed(9)
torch.set_num_threads(1)
Regressor().fit(Surface(1500, 1), Surface(500, 2), epochs=40)
