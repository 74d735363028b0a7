"""Next-symbol model for a small Markov language; used to continue given prefixes."""
import torch
import torch.nn as nn
import torch.nn.functional as F

K = 12


def transition(seed=5):
    g = torch.Generator().manual_seed(seed)
    t = torch.zeros(K, K, K)
    best = torch.randint(0, K, (K, K), generator=g)
    t.scatter_(2, best.unsqueeze(-1), 0.88)
    return t + 0.01, best


def sample_corpus(n, length, table):
    seq = torch.randint(0, K, (n, 2))
    for _ in range(length - 2):
        nxt = torch.multinomial(table[seq[:, -2], seq[:, -1]], 1)
        seq = torch.cat([seq, nxt], 1)
    return seq


class LanguageModel(nn.Module):
    def __init__(self, emb=24, hid=64):
        super().__init__()
        self.embed = nn.Embedding(K, emb)
        self.lstm = nn.LSTM(emb, hid, batch_first=True)
        self.out = nn.LazyLinear(K)

    def forward(self, ids):
        h, _ = self.lstm(self.embed(ids))
        return self.out(h)


torch.manual_seed(0)
torch.set_num_threads(1)
table, best = transition()
train, fresh = sample_corpus(500, 25, table), sample_corpus(300, 10, table)
lm = LanguageModel()
lm(train[:2])
opt = torch.optim.Adam(lm.parameters(), lr=4e-3)
for epoch in range(15):
    for rows in torch.randperm(len(train)).split(25):
        ids = train[rows]
        logits = lm(ids[:, :-1])
        loss = F.cross_entropy(logits.reshape(-1, K), ids[:, 1:].reshape(-1))
        opt.zero_grad()
        loss.backward()
        opt.step()
    if epoch % 3 == 2:
        with torch.no_grad():
            guess = lm(fresh)[:, -1].argmax(-1)
        right = (guess == best[fresh[:, -2], fresh[:, -1]]).float().mean()
        print(f"epoch {epoch + 1}: training loss {loss.item():.3f}, most likely continuation found {right:.3f}")
