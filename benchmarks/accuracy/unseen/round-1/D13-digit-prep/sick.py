import numpy as np
import torch
import torch.nn as nn

torch.manual_seed(0)
torch.set_num_threads(1)
rs = np.random.RandomState(1)
glyphs = rs.rand(6, 12, 12) > 0.6


def sample(n):
    y = rs.randint(0, 6, n)
    img = glyphs[y] * 180 + rs.randint(0, 75, (n, 12, 12))
    return img.astype(np.uint8), y.astype(np.int64)


def preprocess(img):
    img = img // 255  # <- PM303
    return torch.tensor(img, dtype=torch.float32).flatten(1)


(train_x, train_y), (val_x, val_y) = sample(900), sample(300)
train_x, val_x = preprocess(train_x), preprocess(val_x)
train_y, val_y = torch.tensor(train_y), torch.tensor(val_y)

mlp = nn.Sequential(nn.Linear(144, 64), nn.ReLU(), nn.Dropout(0.2), nn.Linear(64, 6))
opt = torch.optim.SGD(mlp.parameters(), lr=0.1, momentum=0.9)
loss_fn = nn.CrossEntropyLoss()
for epoch in range(1, 11):
    mlp.train()
    for idx in torch.randperm(len(train_x)).split(45):
        opt.zero_grad()
        loss = loss_fn(mlp(train_x[idx]), train_y[idx])
        loss.backward()
        opt.step()
    mlp.eval()
    with torch.no_grad():
        acc = (mlp(val_x).argmax(1) == val_y).float().mean().item()
    print(f"epoch {epoch}/10 - loss {loss.item():.4f} - val_acc {acc:.4f}")
