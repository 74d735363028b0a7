"""Half-precision training as it should be: the scaler starts too high, meets infinite gradients, skips and recovers."""

import torch
from sklearn.datasets import load_digits
from torch import nn
from torch.nn import functional as F

torch.manual_seed(0)
torch.set_num_threads(1)

digits = load_digits()
images = torch.tensor(digits.data / 16, dtype=torch.float32)
labels = torch.tensor(digits.target)
model = nn.Sequential(nn.Linear(64, 64), nn.ReLU(), nn.Linear(64, 10))
optimizer = torch.optim.Adam(model.parameters(), lr=2e-3)
scaler = torch.amp.GradScaler("cpu", init_scale=2.0**40, growth_interval=50)

for step in range(300):
    pick = torch.randint(0, 1500, (64,))
    with torch.autocast("cpu", dtype=torch.float16):
        logits = model(images[pick])
    loss = F.cross_entropy(logits.float(), labels[pick])
    optimizer.zero_grad()
    scaler.scale(loss).backward()
    scaler.step(optimizer)
    scaler.update()
    if step % 60 == 0:
        print(f"step {step} loss {loss.item():.3f} scale {scaler.get_scale():.0f}")

with torch.no_grad():
    accuracy = (model(images[1500:]).argmax(1) == labels[1500:]).float().mean()
print(f"accuracy {accuracy:.3f}")
