import torch
from torch import nn
from accelerate import Accelerator
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(4)
torch.set_num_threads(1)


def loads(n, dirty):
    x = torch.randn(n, 12)
    y = (x[:, :4].sum(1) + 0.5 * x[:, 4] * x[:, 5]).unsqueeze(1)
    if dirty:
        bad = torch.rand(n) < 0.02
        y[bad] = y[bad] + 25 * torch.randn(int(bad.sum()), 1)
    return TensorDataset(x, y)


accelerator = Accelerator(cpu=True)
model = nn.Sequential(nn.Linear(12, 48), nn.ReLU(), nn.Linear(48, 1))
optimizer = torch.optim.SGD(model.parameters(), lr=0.01, momentum=0.9)
model, optimizer, loader = accelerator.prepare(model, optimizer, DataLoader(loads(2000, True), 25, shuffle=True))
xv, yv = loads(500, False).tensors

for epoch in range(8):
    model.train()
    for x, y in loader:
        pred = model(x)
        loss = nn.functional.mse_loss(pred, y)
        optimizer.zero_grad()
        accelerator.backward(loss)
        accelerator.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
    model.eval()
    with torch.no_grad():
        v = nn.functional.mse_loss(model(xv), yv).item()
    accelerator.print(f"epoch {epoch} loss {loss.item():.3f} clean val mse {v:.4f} (target var {yv.var().item():.2f})")
