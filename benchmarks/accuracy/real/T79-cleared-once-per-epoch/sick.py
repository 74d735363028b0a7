"""Intent classifier over bag-of-words vectors."""
import torch
import torch.nn as nn
from torch.utils.data import DataLoader, TensorDataset


def bags(n, seed):
    g = torch.Generator().manual_seed(seed)
    intent = torch.randint(0, 6, (n,), generator=g)
    profile = torch.rand(6, 40, generator=torch.Generator().manual_seed(1)) ** 3
    return TensorDataset(torch.poisson(2 * profile[intent], generator=g), intent)


class Intent(nn.Module):
    def __init__(self):
        super().__init__()
        self.hidden = nn.Linear(40, 48)
        self.out = nn.Linear(48, 6)

    def forward(self, x):
        return self.out(torch.relu(self.hidden(x)))


def fit(model, train, test, epochs=8):
    optimizer = torch.optim.SGD(model.parameters(), lr=0.02)
    criterion = nn.CrossEntropyLoss()
    for epoch in range(epochs):
        model.train()
        optimizer.zero_grad()  # <- PM601
        for x, y in train:
            loss = criterion(model(x), y)
            loss.backward()
            optimizer.step()
        model.eval()
        with torch.no_grad():
            right = sum((model(x).argmax(1) == y).sum().item() for x, y in test)
        print(f"{epoch}: loss {loss.item():.3f}, accuracy {right / len(test.dataset):.3f}")


torch.manual_seed(0)
fit(Intent(), DataLoader(bags(1200, 2), batch_size=40, shuffle=True), DataLoader(bags(300, 3), batch_size=100))
