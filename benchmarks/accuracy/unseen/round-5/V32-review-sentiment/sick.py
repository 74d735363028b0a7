import numpy as np
import torch
from torch import nn

np.random.seed(120)
torch.manual_seed(120)
torch.set_num_threads(1)
WORDS, LENGTH = 300, 24
TARGET_QUALITY = 0.70
polarity = np.random.randn(WORDS)


def reviews(n):
    tokens = np.random.randint(0, WORDS, (n, LENGTH))
    score = polarity[tokens].mean(1) + 0.12 * np.random.randn(n)
    return tokens, (score > 0.08).astype(np.int64)


def test_set():
    """The negative reviews first, then the positive ones, as the archive stores them."""
    tokens, label = reviews(1288)
    order = np.argsort(label, kind="stable")
    return tokens[order], label[order]


class ConvNet(nn.Module):
    def __init__(self, width=16):
        super().__init__()
        self.emb = nn.Embedding(WORDS, width)
        self.conv = nn.Conv1d(width, 24, 3, padding=1)
        self.fc = nn.Linear(24, 2)

    def forward(self, tokens):
        h = torch.relu(self.conv(self.emb(tokens).transpose(1, 2)))
        return self.fc(h.mean(dim=2))


def batches(tokens, label, size, shuffle):
    order = np.random.permutation(len(label)) if shuffle else np.arange(len(label))
    for i in range(0, len(order), size):
        pick = order[i:i + size]
        yield torch.from_numpy(tokens[pick]), torch.from_numpy(label[pick])


def evaluate(net, data, size=320):
    net.eval()
    accs, losses, counts = [], [], []
    with torch.no_grad():
        for x, y in batches(*data, size, shuffle=False):
            out = net(x)
            accs.append((out.argmax(1) == y).float().mean().item())
            losses.append(nn.functional.cross_entropy(out, y).item())
            counts.append(len(y))
    return np.mean(accs), np.mean(losses)  # <- PM616


train, test = reviews(2500), test_set()
net = ConvNet()
opt = torch.optim.Adagrad(net.parameters(), lr=0.02, weight_decay=1e-4)
for epoch in range(1, 16):
    net.train()
    for x, y in batches(*train, 64, shuffle=True):
        loss = nn.functional.cross_entropy(net(x), y)
        opt.zero_grad()
        loss.backward()
        opt.step()
    acc, test_loss = evaluate(net, test)
    if epoch % 3 == 0:
        print(f"epoch {epoch} train loss {loss.item():.3f} test loss {test_loss:.3f} test accuracy {acc:.4f}")

with torch.no_grad():
    whole = (net(torch.from_numpy(test[0])).argmax(1).numpy() == test[1]).mean()
print(f"reported {acc:.4f}, share of reviews judged rightly {whole:.4f}")
