"""Tag tokens of free-form addresses: O / STREET / NUMBER / CITY."""
import random

import torch
import torch.nn as nn
from torch.nn.utils.rnn import pad_sequence
from torch.utils.data import DataLoader

random.seed(2)
torch.manual_seed(2)
torch.set_num_threads(1)

TAGS = ["O", "STREET", "NUMBER", "CITY"]
WORDS = [f"w{i}" for i in range(60)]
VOCAB = {"<pad>": 0, "at": 1, "in": 2, "no": 3}
for w in WORDS:
    VOCAB[w] = len(VOCAB)


def sentence():
    toks, tags = [], []

    def add(ws, tag):
        for w in ws:
            toks.append(VOCAB[w])
            tags.append(TAGS.index(tag))

    add(random.choices(WORDS, k=random.randint(1, 6)), "O")
    add(["at"], "O")
    add(random.choices(WORDS, k=random.randint(1, 2)), "STREET")
    add(["no"], "O")
    add(random.choices(WORDS, k=1), "NUMBER")
    if random.random() < 0.7:
        add(["in"], "O")
        add(random.choices(WORDS, k=random.randint(1, 3)), "CITY")
    return torch.tensor(toks), torch.tensor(tags)


def collate(batch):
    xs, ys = zip(*batch)
    x = pad_sequence(xs, batch_first=True, padding_value=0)
    y = pad_sequence(ys, batch_first=True, padding_value=-100)
    return x, y


class Tagger(nn.Module):
    def __init__(self, vocab, dim=32, hidden=48, n_tags=4):
        super().__init__()
        self.emb = nn.Embedding(vocab, dim, padding_idx=0)
        self.lstm = nn.LSTM(dim, hidden, bidirectional=True)
        self.drop = nn.Dropout(0.1)
        self.fc = nn.Linear(2 * hidden, n_tags)

    def forward(self, x):
        h, _ = self.lstm(self.emb(x))
        return self.fc(self.drop(h))


train = [sentence() for _ in range(1600)]
dev = [sentence() for _ in range(300)]
train_dl = DataLoader(train, batch_size=32, shuffle=True, collate_fn=collate)
dev_dl = DataLoader(dev, batch_size=64, collate_fn=collate)

model = Tagger(len(VOCAB))
optim = torch.optim.Adam(model.parameters(), lr=3e-3)
loss_fn = nn.CrossEntropyLoss(ignore_index=-100)

for epoch in range(8):
    model.train()
    run = 0.0
    for x, y in train_dl:
        optim.zero_grad()
        logits = model(x)
        loss = loss_fn(logits.reshape(-1, len(TAGS)), y.reshape(-1))
        loss.backward()
        optim.step()
        run += loss.item()
    model.eval()
    ok = n = 0
    with torch.no_grad():
        for x, y in dev_dl:
            keep = y != -100
            ok += (model(x).argmax(-1)[keep] == y[keep]).sum().item()
            n += keep.sum().item()
    print(f"epoch {epoch + 1}: loss {run / len(train_dl):.4f}  token accuracy {ok / n:.4f}")
