"""Mixed precision on the CPU: autocast, GradScaler, accumulation over four micro-batches, unscale, clip, two schedulers."""

import torch
from torch import nn
from torch.amp import GradScaler, autocast
from torch.utils.data import DataLoader, TensorDataset

torch.set_num_threads(1)
torch.manual_seed(0)


def make(n):
    x = torch.randn(n, 1, 16)
    shift = torch.randint(0, 3, (n,))
    wave = torch.sin(torch.arange(16) * 0.5 * (shift[:, None] + 1))
    return TensorDataset(x * 0.5 + wave.unsqueeze(1), shift)


model = nn.Sequential(
    nn.Conv1d(1, 16, 5, padding=2),
    nn.BatchNorm1d(16),
    nn.ReLU(),
    nn.AdaptiveAvgPool1d(4),
    nn.Flatten(),
    nn.Linear(64, 3),
)
loader = DataLoader(make(1200), batch_size=16, shuffle=True, drop_last=True)
optimizer = torch.optim.AdamW(model.parameters(), lr=5e-3)
warm = torch.optim.lr_scheduler.LinearLR(optimizer, start_factor=0.1, total_iters=10)
cosine = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, T_max=70)
scheduler = torch.optim.lr_scheduler.SequentialLR(optimizer, [warm, cosine], milestones=[10])
scaler = GradScaler("cpu", init_scale=2.0**14, growth_interval=20)
criterion = nn.CrossEntropyLoss()
ACCUMULATE = 4

for epoch in range(4):
    model.train()
    optimizer.zero_grad(set_to_none=True)
    for i, (x, y) in enumerate(loader, start=1):
        with autocast("cpu", dtype=torch.bfloat16):
            loss = criterion(model(x).float(), y) / ACCUMULATE
        scaler.scale(loss).backward()
        if i % ACCUMULATE == 0 or i == len(loader):
            scaler.unscale_(optimizer)
            norm = nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            scaler.step(optimizer)
            scaler.update()
            optimizer.zero_grad(set_to_none=True)
            scheduler.step()
    print(epoch, loss.item() * ACCUMULATE, norm.item(), scaler.get_scale(), scheduler.get_last_lr()[0])

model.eval()
with torch.inference_mode(), autocast("cpu", dtype=torch.bfloat16):
    x, y = make(400).tensors
    accuracy = (model(x).argmax(1) == y).float().mean().item()
print("accuracy", accuracy)
assert accuracy > 0.9
