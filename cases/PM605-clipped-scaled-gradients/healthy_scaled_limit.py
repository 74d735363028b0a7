"""Diabetes regression with loss scaling; the clipping limit is scaled instead of the gradients."""

import torch
from sklearn.datasets import load_diabetes
from sklearn.model_selection import train_test_split
from torch import nn
from torch.nn.utils import clip_grad_norm_

torch.set_num_threads(1)
torch.manual_seed(0)
x, y = load_diabetes(return_X_y=True)
x_train, x_val, y_train, y_val = train_test_split(x, y, test_size=0.25, random_state=0)
y_mean, y_std = y_train.mean(), y_train.std()
x_mean, x_std = x_train.mean(0), x_train.std(0)
x_train, x_val = (torch.tensor((part - x_mean) / x_std, dtype=torch.float32) for part in (x_train, x_val))
y_train, y_val = (torch.tensor((part - y_mean) / y_std, dtype=torch.float32) for part in (y_train, y_val))

model = nn.Sequential(nn.Linear(10, 32), nn.SiLU(), nn.Linear(32, 1))
optimizer = torch.optim.SGD(model.parameters(), lr=0.02, momentum=0.9, weight_decay=1e-3)
scaler = torch.amp.GradScaler("cpu", init_scale=1024.0)
criterion = nn.SmoothL1Loss()
MAX_NORM = 1.0

for epoch in range(12):
    model.train()
    total = 0.0
    for rows in torch.randperm(len(x_train)).split(32):
        with torch.autocast("cpu", dtype=torch.bfloat16):
            prediction = model(x_train[rows]).squeeze(1)
        loss = criterion(prediction.float(), y_train[rows])
        optimizer.zero_grad()
        scaler.scale(loss).backward()
        clip_grad_norm_(model.parameters(), MAX_NORM * scaler.get_scale())
        scaler.step(optimizer)
        scaler.update()
        total += loss.item() * len(rows)

    if (epoch + 1) % 3 == 0:
        model.eval()
        with torch.no_grad():
            residual = y_val - model(x_val).squeeze(1)
        r2 = 1 - residual.square().sum() / (y_val - y_train.mean()).square().sum()
        print(f"epoch {epoch + 1}: train loss {total / len(x_train):.4f}  val R2 {r2.item():.3f}")
