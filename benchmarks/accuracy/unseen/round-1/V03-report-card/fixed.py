import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(2)
torch.set_num_threads(1)


def exams(n_easy, n_hard):
    x = torch.randn(n_easy + n_hard, 10)
    y = (x[:, :5].sum(1) > 0).long()
    x[n_easy:] = x[n_easy:] * 0.1 + torch.randn(n_hard, 10)
    return TensorDataset(x, y)


train_ds = exams(1200, 0)
val_ds = exams(256, 6)
model = nn.Sequential(nn.Linear(10, 32), nn.ReLU(), nn.Linear(32, 2))
opt = torch.optim.Adam(model.parameters(), lr=5e-3)
crit = nn.CrossEntropyLoss()


def validate():
    model.eval()
    loss_sum, acc_sum, hits = 0.0, 0.0, 0
    loader = DataLoader(val_ds, batch_size=256)
    with torch.no_grad():
        for x, y in loader:
            out = model(x)
            ok = out.argmax(1) == y
            hits += ok.sum().item()
            acc_sum += ok.float().sum().item() / len(val_ds)
            loss_sum += crit(out, y).item() * len(y) / len(val_ds)
    return loss_sum, acc_sum, hits


for epoch in range(10):
    model.train()
    for x, y in DataLoader(train_ds, 60, shuffle=True):
        opt.zero_grad()
        loss = crit(model(x), y)
        loss.backward()
        opt.step()
    vl, va, hits = validate()
    print(f"epoch {epoch} val loss {vl:.3f} val acc {va:.3f} ({hits} of {len(val_ds)} right)")
