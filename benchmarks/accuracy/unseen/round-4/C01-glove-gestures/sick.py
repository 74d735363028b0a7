import numpy as np
import torch
from torch import nn

N_CH, N_T, N_CLASSES = 6, 48, 4


def record(rng, n):
    """Six strain sensors; a gesture makes one pair of fingers move together."""
    pairs = [(0, 3), (1, 4), (2, 5), (0, 5)]
    y = rng.integers(0, N_CLASSES, n)
    t = np.arange(N_T) / N_T
    x = np.zeros((n, N_T, N_CH), dtype=np.float32)
    for i in range(n):
        f = rng.uniform(2, 5, N_CH)
        ph = rng.uniform(0, 2 * np.pi, N_CH)
        a, b = pairs[y[i]]
        f[b], ph[b] = f[a], ph[a]
        x[i] = np.sin(2 * np.pi * f[None] * t[:, None] + ph[None])
    x += 0.2 * rng.standard_normal(x.shape).astype(np.float32)
    return x, y


class Net(nn.Module):
    def __init__(self, width=32):
        super().__init__()
        self.conv1 = nn.Conv1d(N_CH, width, 5, padding=2)
        self.conv2 = nn.Conv1d(width, width, 3, padding=1)
        self.out = nn.Linear(width, N_CLASSES)

    def forward(self, x):
        h = torch.relu(self.conv1(x))
        h = torch.relu(self.conv2(h))
        return self.out(h.mean(-1))


class Trainer:
    def __init__(self, net, lr=3e-3):
        self.net = net
        self.opt = torch.optim.Adam(net.parameters(), lr=lr)
        self.loss = nn.CrossEntropyLoss()

    def to_batch(self, x):
        return torch.from_numpy(x.reshape(len(x), N_CH, N_T))  # <- PM313

    def fit(self, x, y, epochs, rng, bs=64):
        for epoch in range(epochs):
            order = rng.permutation(len(x))
            total = 0.0
            self.net.train()
            for s in range(0, len(order), bs):
                idx = order[s : s + bs]
                loss = self.loss(self.net(self.to_batch(x[idx])), torch.from_numpy(y[idx]))
                self.opt.zero_grad()
                loss.backward()
                self.opt.step()
                total += loss.item() * len(idx)
            print(f"epoch {epoch:2d} loss {total / len(x):.4f}")

    @torch.no_grad()
    def accuracy(self, x, y):
        self.net.eval()
        return (self.net(self.to_batch(x)).argmax(1).numpy() == y).mean()


if __name__ == "__main__":
    torch.manual_seed(3)
    torch.set_num_threads(1)
    rng = np.random.default_rng(3)
    x_train, y_train = record(rng, 2000)
    x_val, y_val = record(rng, 500)
    trainer = Trainer(Net())
    trainer.fit(x_train, y_train, epochs=15, rng=rng)
    print(f"val accuracy {trainer.accuracy(x_val, y_val):.3f}")
