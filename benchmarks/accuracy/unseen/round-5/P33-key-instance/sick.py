import numpy as np
import torch
import torch.nn as nn

SEED = 17
np.random.seed(17)
torch.manual_seed(17)
torch.set_num_threads(1)


class EfficientAdditiveAttention(nn.Module):
    """One learned query scores all tokens; the weighted sum of the tokens is the summary."""

    def __init__(self, in_dims, token_dim):
        super().__init__()
        self.to_query = nn.Linear(in_dims, token_dim)
        self.to_key = nn.Linear(in_dims, token_dim)
        self.w_a = nn.Parameter(torch.randn(token_dim, 1) * token_dim**-0.5)

    def forward(self, x):
        query = torch.tanh(self.to_query(x))
        key = self.to_key(x)
        score = query @ self.w_a
        score = torch.softmax(score, dim=-1)  # <- PM414
        return (score * key).sum(dim=1)


class BagNet(nn.Module):
    def __init__(self, dims=10, width=32, classes=4):
        super().__init__()
        self.embed = nn.Sequential(nn.Linear(dims, width), nn.ReLU())
        self.pool = EfficientAdditiveAttention(width, width)
        self.head = nn.Linear(width, classes)

    def forward(self, bags):
        return self.head(self.pool(self.embed(bags)))


def make_bags(n, size=48):
    bags = np.random.randn(n, size, 10).astype("float32")
    labels = np.random.randint(0, 4, n)
    where = np.random.randint(0, size, n)
    key = np.zeros((n, 10), "float32")
    key[:, 0] = 4.5
    key[np.arange(n), 1 + labels] = 2.5
    bags[np.arange(n), where] = key + 0.3 * np.random.randn(n, 10)
    return bags, labels


train_bags, train_labels = make_bags(1600)
test_bags, test_labels = make_bags(600)
net = BagNet()
opt = torch.optim.AdamW(net.parameters(), lr=2e-3, weight_decay=1e-2)
loss_fn = nn.CrossEntropyLoss()
for epoch in range(14):
    for rows in np.array_split(np.random.permutation(1600), 25):
        loss = loss_fn(net(torch.from_numpy(train_bags[rows])), torch.from_numpy(train_labels[rows]))
        opt.zero_grad()
        loss.backward()
        opt.step()
    with torch.no_grad():
        guess = net(torch.from_numpy(test_bags)).argmax(1).numpy()
    print(f"epoch {epoch:2d}  loss {loss.item():.3f}  test accuracy {(guess == test_labels).mean():.3f}")
