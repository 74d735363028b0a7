import json
import os

import torch
from torch import nn
from torch.nn.utils.rnn import pack_padded_sequence
from torch.utils.data import DataLoader, random_split

os.chdir(os.path.dirname(os.path.abspath(__file__)))
torch.manual_seed(0)
torch.set_num_threads(1)

with open("vocab.txt") as fh:
    vocab = {w.strip(): i for i, w in enumerate(fh)}
rows = [json.loads(l) for l in open("utterances.jsonl")]
intents = sorted({r["intent"] for r in rows})


def encode(text, max_len=12):
    ids = [vocab.get(tok, vocab["<unk>"]) for tok in text.split()][:max_len]
    return ids + [0] * (max_len - len(ids)), len(ids)


samples = []
for r in rows:
    ids, n = encode(r["text"])
    samples.append((torch.tensor(ids), n, intents.index(r["intent"])))
train_set, val_set = random_split(samples, [1200, 300])
train_loader = DataLoader(train_set, 32, shuffle=True)
val_loader = DataLoader(val_set, 300)


class IntentNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed = nn.Embedding(len(vocab), 32, padding_idx=0)
        self.gru = nn.GRU(32, 64, batch_first=True)
        self.head = nn.Linear(64, len(intents))

    def forward(self, ids, lengths):
        packed = pack_padded_sequence(self.embed(ids), lengths, batch_first=True, enforce_sorted=False)
        _, h = self.gru(packed)
        return self.head(h[-1])


net = IntentNet()
optimizer = torch.optim.Adam(net.parameters(), lr=2e-3)
criterion = nn.CrossEntropyLoss()

for epoch in range(10):
    net.train()
    total = 0
    for ids, lengths, y in train_loader:
        optimizer.zero_grad()
        loss = criterion(net(ids, lengths), y)
        loss.backward()
        optimizer.step()
        total += loss.item() * len(y)
    net.eval()
    with torch.no_grad():
        ids, lengths, y = next(iter(val_loader))
        acc = (net(ids, lengths).argmax(1) == y).float().mean()
    print(f"Epoch {epoch + 1}/10 - loss: {total / 1200:.4f} - val_acc: {acc:.4f}")
