import torch
import torch.nn.functional as F
from torch import nn, optim


class SteeringNet(nn.Module):
    def __init__(self, sensors=12):
        super().__init__()
        self.fc1 = nn.Linear(sensors, 64)
        self.fc2 = nn.Linear(64, 32)
        self.fc3 = nn.Linear(32, 1)

    def forward(self, x):
        x = F.relu(self.fc1(x))
        x = F.relu(self.fc2(x))
        x = F.relu(self.fc3(x))  # <- PM512
        return x


def voyages(n, seed):
    g = torch.Generator().manual_seed(seed)
    x = torch.randn(n, 12, generator=g)
    angle = torch.tanh(x[:, 0] - x[:, 1]) * 1.5 + 0.5 * torch.sin(3 * x[:, 2]) + 0.1 * torch.randn(n, generator=g)
    return x, angle.unsqueeze(1)


def train_model(epochs=25):
    torch.manual_seed(2)
    torch.set_num_threads(1)
    x, y = voyages(2000, 1)
    xv, yv = voyages(500, 2)
    model = SteeringNet()
    optimizer = optim.Adam(model.parameters(), lr=2e-3)
    for epoch in range(epochs):
        for idx in torch.randperm(len(x)).split(50):
            optimizer.zero_grad()
            loss = F.mse_loss(model(x[idx]), y[idx])
            loss.backward()
            optimizer.step()
        if epoch % 5 == 4:
            with torch.no_grad():
                v = F.mse_loss(model(xv), yv)
            print(f"Epoch: {epoch + 1} \tTraining Loss: {loss.item():.4f} \tValidation Loss: {v.item():.4f}")


if __name__ == "__main__":
    train_model()
