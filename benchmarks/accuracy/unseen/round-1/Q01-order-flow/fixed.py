import torch
import torch.nn as nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(0)
torch.set_num_threads(1)


def ticks(n, steps=16):
    x = torch.randn(n, steps, 3)
    # does the net flow over the window end above zero
    y = ((x[:, :, 0] - 0.5 * x[:, :, 1]).sum(1) > 0).float()
    return x, y


class FlowModel(nn.Module):
    def __init__(self, hidden=32):
        super().__init__()
        self.rnn = nn.LSTM(3, hidden, num_layers=1, batch_first=True)
        self.head = nn.Sequential(nn.Linear(hidden, 16), nn.ReLU(), nn.Linear(16, 1))

    def forward(self, x):
        seq, _ = self.rnn(x)
        return self.head(seq[:, -1]).squeeze(-1)


train_dl = DataLoader(TensorDataset(*ticks(2000)), batch_size=50, shuffle=True)
val_dl = DataLoader(TensorDataset(*ticks(500)), batch_size=50)
model = FlowModel()
opt = torch.optim.Adam(model.parameters(), lr=6e-3)
bce = nn.BCEWithLogitsLoss()

for epoch in range(7):
    model.train()
    train_loss = 0.0
    for xb, yb in train_dl:
        loss = bce(model(xb), yb)
        opt.zero_grad()
        loss.backward()
        opt.step()
        train_loss += loss.item() / len(train_dl)
    model.eval()
    hits = 0
    with torch.no_grad():
        for xb, yb in val_dl:
            hits += ((model(xb) > 0).float() == yb).sum().item()
    print(f"epoch {epoch} train_loss {train_loss:.4f} val_acc {hits / 500:.3f}")
