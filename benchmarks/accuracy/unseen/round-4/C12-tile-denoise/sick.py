import torch
from torch import nn
from torch.optim.lr_scheduler import CosineAnnealingLR

EPOCHS, BATCH = 12, 40
torch.manual_seed(6)
torch.set_num_threads(1)

basis = torch.randn(10, 100)
clean = torch.randn(1200, 10) @ basis / 3
noisy = clean + 0.7 * torch.randn_like(clean)
val_clean = torch.randn(400, 10) @ basis / 3
val_noisy = val_clean + 0.7 * torch.randn_like(val_clean)

net = nn.Sequential(nn.Linear(100, 64), nn.ReLU(), nn.Linear(64, 64), nn.ReLU(), nn.Linear(64, 100))
optimizer = torch.optim.SGD(net.parameters(), lr=0.5, momentum=0.9)
scheduler = CosineAnnealingLR(optimizer, T_max=EPOCHS)
mse = nn.MSELoss()

for epoch in range(EPOCHS):
    net.train()
    running = 0.0
    order = torch.randperm(len(clean)).split(BATCH)
    for idx in order:
        optimizer.zero_grad()
        loss = mse(net(noisy[idx]), clean[idx])
        loss.backward()
        optimizer.step()
        scheduler.step()  # <- PM608
        running += loss.item()
    net.eval()
    with torch.no_grad():
        val = mse(net(val_noisy), val_clean).item()
    print(f"epoch {epoch + 1}/{EPOCHS} train {running / len(order):.4f} val {val:.4f}")
