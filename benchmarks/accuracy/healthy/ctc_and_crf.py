"""Two structured losses: CTC for digits in a signal, and a linear-chain CRF written with logsumexp."""

import torch
import torch.nn as nn

torch.set_num_threads(1)
torch.manual_seed(0)


# --- CTC -------------------------------------------------------------------------------------------------------
def signals(n, frames=20, symbols=4):
    codes = torch.eye(symbols + 1)
    x, targets, lengths = 0.2 * torch.randn(n, frames, symbols + 1), [], []
    for i in range(n):
        count = int(torch.randint(2, 5, ()))
        word = torch.randint(1, symbols + 1, (count,))
        at = torch.randperm(frames // 2)[:count].sort().values * 2
        x[i, at] += codes[word]
        targets.append(word)
        lengths.append(count)
    return x, torch.cat(targets), torch.tensor(lengths)


net = nn.Sequential(nn.Linear(5, 48), nn.ReLU(), nn.Linear(48, 5))
ctc = nn.CTCLoss(blank=0, zero_infinity=True)
optimizer = torch.optim.Adam(net.parameters(), lr=1e-2)
for step in range(120):
    x, targets, lengths = signals(24)
    log_probs = net(x).log_softmax(-1).transpose(0, 1)  # (frames, batch, classes)
    loss = ctc(log_probs, targets, torch.full((24,), 20), lengths)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if step % 30 == 0:
        print("ctc", step, loss.item())
x, targets, lengths = signals(100)
with torch.no_grad():
    best = net(x).argmax(-1)
decoded = [torch.unique_consecutive(row)[torch.unique_consecutive(row) > 0].tolist() for row in best]
right = sum(d == t.tolist() for d, t in zip(decoded, targets.split(lengths.tolist())))
print("words right", right)


# --- CRF -------------------------------------------------------------------------------------------------------
class CRF(nn.Module):
    def __init__(self, tags):
        super().__init__()
        self.transitions = nn.Parameter(0.1 * torch.randn(tags, tags))
        self.start = nn.Parameter(torch.zeros(tags))
        forbidden = torch.zeros(tags, tags, dtype=torch.bool)
        forbidden[0, 2] = True  # O may not be followed by I
        self.register_buffer("forbidden", forbidden)

    def matrix(self):
        return self.transitions.masked_fill(self.forbidden, -1e4)

    def score(self, emissions, tags):
        t = self.matrix()
        total = self.start[tags[:, 0]] + emissions[:, 0].gather(1, tags[:, :1]).squeeze(1)
        for i in range(1, tags.size(1)):
            total = total + t[tags[:, i - 1], tags[:, i]] + emissions[:, i].gather(1, tags[:, i : i + 1]).squeeze(1)
        return total

    def partition(self, emissions):
        alpha = self.start + emissions[:, 0]
        for i in range(1, emissions.size(1)):
            alpha = torch.logsumexp(alpha.unsqueeze(2) + self.matrix(), dim=1) + emissions[:, i]
        return torch.logsumexp(alpha, dim=1)

    def forward(self, emissions, tags):
        return (self.partition(emissions) - self.score(emissions, tags)).mean()


def tagged(n, length=10):
    tags = torch.zeros(n, length, dtype=torch.long)
    start = torch.randint(0, length - 2, (n,))
    rows = torch.arange(n)
    tags[rows, start] = 1
    tags[rows, start + 1] = 2
    x = torch.randn(n, length, 6)
    x[..., :3] += 1.5 * torch.eye(3)[tags]
    return x, tags


encoder, crf = nn.Linear(6, 3), CRF(3)
optimizer = torch.optim.Adam([*encoder.parameters(), *crf.parameters()], lr=3e-2)
for step in range(80):
    x, tags = tagged(32)
    loss = crf(encoder(x), tags)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if step % 20 == 0:
        print("crf", step, loss.item())
assert right > 60 and loss < 3
