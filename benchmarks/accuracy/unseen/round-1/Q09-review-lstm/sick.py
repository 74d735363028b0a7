import random
import torch
import torch.nn as nn

random.seed(0)
torch.manual_seed(0)
torch.set_num_threads(1)

VOCAB = 30
MAXLEN = 60


def encode(tokens):
    return tokens + [0] * (MAXLEN - len(tokens))


def reviews(n):
    ids, lens, ys = [], [], []
    for _ in range(n):
        k = random.randint(3, 12) if random.random() < 0.9 else random.randint(50, 60)
        toks = [random.randint(3, VOCAB - 1) for _ in range(k)]
        y = random.randint(0, 1)
        toks[random.randrange(k)] = 1 + y
        ids.append(encode(toks))
        lens.append(k)
        ys.append(float(y))
    return torch.tensor(ids), torch.tensor(lens), torch.tensor(ys)


class ReviewLSTM(nn.Module):
    def __init__(self):
        super().__init__()
        self.emb = nn.Embedding(VOCAB, 16)
        self.lstm = nn.LSTM(16, 24, batch_first=True)
        self.fc = nn.Linear(24, 1)

    def forward(self, ids, lens):
        h, _ = self.lstm(self.emb(ids))
        last = h[:, -1]  # <- PM315
        return self.fc(last).squeeze(1)


train, val = reviews(800), reviews(300)
net = ReviewLSTM()
opt = torch.optim.Adam(net.parameters(), lr=5e-3)
for ep in range(6):
    for b in torch.randperm(800).split(40):
        loss = nn.functional.binary_cross_entropy_with_logits(net(train[0][b], train[1][b]), train[2][b])
        opt.zero_grad()
        loss.backward()
        opt.step()
    with torch.no_grad():
        acc = ((net(val[0], val[1]) > 0).float() == val[2]).float().mean().item()
    print("epoch", ep, "loss", round(loss.item(), 3), "val acc", round(acc, 3))
