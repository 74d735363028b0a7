import torch
from torch import nn

torch.manual_seed(2)
torch.set_num_threads(1)


def opinions(n, positive):
    """Bags of 50 words. Positive opinions are written more freely and are harder to recognise."""
    y = torch.full((n,), int(positive))
    x = torch.randn(n, 50)
    x[:, :5] += -0.1 if positive else -0.9
    return x, y


def stack(*parts):
    return torch.cat([p[0] for p in parts]), torch.cat([p[1] for p in parts])


x_train, y_train = stack(opinions(1300, False), opinions(300, True))
x_test, y_test = stack(opinions(512, False), opinions(12, True))

model = nn.Sequential(nn.Linear(50, 32), nn.ReLU(), nn.Linear(32, 2))
opt = torch.optim.Adam(model.parameters(), lr=2e-3)
loss_fn = nn.CrossEntropyLoss()


def evaluate(batch_size=128):
    model.eval()
    scores = []
    with torch.no_grad():
        for xb, yb in zip(x_test.split(batch_size), y_test.split(batch_size)):
            pred = model(xb).argmax(dim=1)
            scores.append((pred == yb).float().mean().item())
    return sum(scores) / len(scores)  # <- PM616


for epoch in range(12):
    model.train()
    for idx in torch.randperm(len(x_train)).split(64):
        loss = loss_fn(model(x_train[idx]), y_train[idx])
        opt.zero_grad()
        loss.backward()
        opt.step()
    print(f"epoch {epoch + 1} loss {loss.item():.4f} test accuracy {evaluate():.4f}")

with torch.no_grad():
    right = (model(x_test).argmax(1) == y_test).sum().item()
print(f"{right} of {len(y_test)} opinions read correctly ({right / len(y_test):.4f})")
