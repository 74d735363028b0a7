import torch
import torch.nn as nn
from torch.nn.utils.rnn import pad_sequence

torch.manual_seed(2)
torch.set_num_threads(1)
WORDS, TAGS = 60, 9
TAG_PAD = 0
lexicon = torch.randint(1, TAGS, (WORDS, 2))


def sentences(n):
    xs, ys = [], []
    for i in range(n):
        k = 40 if i % 25 == 0 else int(torch.randint(2, 6, (1,)))
        w = torch.randint(1, WORDS, (k,))
        prev_even = torch.cat([torch.zeros(1, dtype=torch.long), w[:-1] % 2])
        xs.append(w)
        ys.append(lexicon[w, prev_even])
    return xs, ys


class Tagger(nn.Module):
    def __init__(self):
        super().__init__()
        self.emb = nn.Embedding(WORDS, 24, padding_idx=0)
        self.rnn = nn.GRU(24, 32, batch_first=True)
        self.fc = nn.Linear(32, TAGS)

    def forward(self, x):
        return self.fc(self.rnn(self.emb(x))[0])


xs, ys = sentences(600)
vx, vy = sentences(200)
model = Tagger()
criterion = nn.CrossEntropyLoss(ignore_index=TAG_PAD)
opt = torch.optim.SGD(model.parameters(), lr=0.5, momentum=0.5)
for epoch in range(14):
    for idx in torch.randperm(600).split(25):
        x = pad_sequence([xs[i] for i in idx], batch_first=True)
        y = pad_sequence([ys[i] for i in idx], batch_first=True, padding_value=TAG_PAD)
        loss = criterion(model(x).transpose(1, 2), y)
        opt.zero_grad()
        loss.backward()
        opt.step()
with torch.no_grad():
    x = pad_sequence(vx, batch_first=True)
    y = pad_sequence(vy, batch_first=True, padding_value=-1)
    pred = model(x).argmax(-1)
    keep = y >= 0
    print("final loss %.3f" % loss.item())
    print("share of positions with a word %.2f" % keep.float().mean().item())
    print("tag accuracy on words %.3f" % (pred[keep] == y[keep]).float().mean().item())
