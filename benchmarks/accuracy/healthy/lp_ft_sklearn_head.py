"""LP-FT: features of the frozen backbone, a logistic regression from scikit-learn as the new head, then fine-tune everything."""

import torch
from sklearn.linear_model import LogisticRegression
from torch import nn

torch.set_num_threads(1)
torch.manual_seed(0)


def source(n):
    x = torch.randn(n, 12)
    return x, torch.stack([x[:, 0] * x[:, 1], x[:, 2] + x[:, 3], x[:, 4].abs()], 1)


def target(n):
    x = torch.randn(n, 12)
    return x, (x[:, 0] * x[:, 1] + 0.5 * (x[:, 2] + x[:, 3]) > 0).long()


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.backbone = nn.Sequential(nn.Linear(12, 96), nn.ReLU(), nn.Linear(96, 32), nn.ReLU())
        self.head = nn.Linear(32, 3)

    def forward(self, x):
        return self.head(self.backbone(x))


# "pretrained" weights
torch.manual_seed(0)
net = Net()
for _ in range(200):
    x, y = source(128)
    loss = nn.functional.mse_loss(net(x), y)
    grads = torch.autograd.grad(loss, list(net.parameters()))
    with torch.no_grad():
        for p, g in zip(net.parameters(), grads):
            p -= 0.05 * g

# 1. linear probe with everything frozen
for p in net.parameters():
    p.requires_grad = False
x_train, y_train = target(600)
x_test, y_test = target(1000)
probe = LogisticRegression(max_iter=500).fit(net.backbone(x_train).numpy(), y_train.numpy())
print("probe", probe.score(net.backbone(x_test).numpy(), y_test.numpy()))
net.head = nn.Linear(32, 2)
net.head.weight.data = torch.tensor([-probe.coef_[0], probe.coef_[0]], dtype=torch.float32) / 2
net.head.bias.data = torch.tensor([-probe.intercept_[0], probe.intercept_[0]], dtype=torch.float32) / 2

# 2. fine-tune
for p in net.parameters():
    p.requires_grad = True
optimizer = torch.optim.AdamW(net.parameters(), lr=5e-4)
for epoch in range(8):
    for rows in torch.randperm(600).split(50):
        loss = nn.functional.cross_entropy(net(x_train[rows]), y_train[rows])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    with torch.no_grad():
        accuracy = (net(x_test).argmax(1) == y_test).float().mean().item()
    print(epoch, loss.item(), accuracy)
assert accuracy > 0.8
