# Gesture recognition from accelerometer windows (notebook exported as a script)
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(17)
n, steps = 1500, 30
gesture = torch.randint(4, (n,))
time = torch.linspace(0, 1, steps)
base = torch.stack([torch.sin(6.28 * (k + 1) * time) for k in range(4)])
signal = base[gesture].unsqueeze(-1) * torch.randn(n, 1, 3).abs() + 0.9 * torch.randn(n, steps, 3)

train_dl = DataLoader(TensorDataset(signal[:1200], gesture[:1200]), batch_size=24, shuffle=True)
valid_dl = DataLoader(TensorDataset(signal[1200:], gesture[1200:]), batch_size=60)


class GestureGRU(nn.Module):
    def __init__(self):
        super().__init__()
        self.gru = nn.GRU(3, 24, batch_first=True)
        self.head = nn.Linear(24, 4)

    def forward(self, x):
        out, _ = self.gru(x)
        return self.head(out[:, -1])


model = GestureGRU()
optimizer = torch.optim.Adam(model.parameters(), lr=5e-3)
loss_fn = nn.CrossEntropyLoss()
correct, seen = 0, 0  # <- PM616

for epoch in range(6):
    model.train()
    for xb, yb in train_dl:
        optimizer.zero_grad()
        loss = loss_fn(model(xb), yb)
        loss.backward()
        optimizer.step()
    model.eval()
    with torch.no_grad():
        for xb, yb in valid_dl:
            correct += (model(xb).argmax(-1) == yb).sum().item()
            seen += len(yb)
    print(f"epoch {epoch + 1}: validation accuracy {correct / seen:.3f}")
