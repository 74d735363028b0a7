"""Wine quality with weights initialised by a helper."""
import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.utils.data import DataLoader, TensorDataset


def init_weights(m):
    if isinstance(m, nn.Linear):
        nn.init.constant_(m.weight, 0.05)  # <- PM211
        nn.init.zeros_(m.bias)


class WineNet(nn.Module):
    def __init__(self, inputs=11, hidden=40, grades=3):
        super().__init__()
        self.fc1 = nn.Linear(inputs, hidden)
        self.fc2 = nn.Linear(hidden, hidden)
        self.fc3 = nn.Linear(hidden, grades)
        self.apply(init_weights)

    def forward(self, x):
        x = F.relu(self.fc1(x))
        x = F.relu(self.fc2(x))
        return self.fc3(x)


def main():
    torch.manual_seed(0)
    x = torch.randn(1800, 11)
    score = x[:, 0] * x[:, 1] + torch.sin(2 * x[:, 2]) - x[:, 3]
    y = torch.bucketize(score, torch.quantile(score, torch.tensor([0.33, 0.66])))
    train = DataLoader(TensorDataset(x[:1500], y[:1500]), batch_size=30, shuffle=True)
    model = WineNet()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.05, momentum=0.9)
    for epoch in range(8):
        model.train()
        for inputs, grade in train:
            optimizer.zero_grad()
            loss = F.cross_entropy(model(inputs), grade)
            loss.backward()
            optimizer.step()
        model.eval()
        with torch.no_grad():
            accuracy = (model(x[1500:]).argmax(1) == y[1500:]).float().mean()
        print(f"epoch {epoch} loss {loss.item():.4f} accuracy {accuracy:.3f}")


if __name__ == "__main__":
    main()
