import torch
import torch.nn as nn

torch.manual_seed(16)
torch.set_num_threads(1)


def weather(n):
    """Pressure, humidity, wind and so on; rain in millimetres, zero on dry days."""
    x = torch.randn(n, 8)
    wet = x[:, 0] - 0.6 * x[:, 1] + 0.4 * x[:, 2] * x[:, 3]
    return x, (3 * wet + 0.3 * torch.randn(n)).clamp(min=0)


def compress(mm):
    """Square root for rain, linear below zero, so that heavy showers do not rule the loss."""
    return torch.where(mm > 0, torch.sqrt(mm), mm)  # <- PM103


def step(model, optimizer, x, mm):
    optimizer.zero_grad()
    loss = (compress(model(x).squeeze(1)) - compress(mm)).abs().mean()
    loss.backward()
    optimizer.step()
    return loss.item()


x, mm = weather(2000)
vx, vmm = weather(500)
model = nn.Sequential(nn.Linear(8, 48), nn.ReLU(), nn.Linear(48, 48), nn.ReLU(), nn.Linear(48, 1))
with torch.no_grad():
    model[-1].bias.fill_(2.5)
optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
for epoch in range(12):
    losses = [step(model, optimizer, x[i], mm[i]) for i in torch.randperm(len(x)).split(40)]
    with torch.no_grad():
        mae = (model(vx).squeeze(1).clamp(min=0) - vmm).abs().mean().item()
    print(f"epoch {epoch + 1} loss {sum(losses) / len(losses):.4f} val error {mae:.3f} mm")
print(f"always guessing the mean: {(mm.mean() - vmm).abs().mean().item():.3f} mm")
