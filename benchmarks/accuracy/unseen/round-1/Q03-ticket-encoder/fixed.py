import torch
import torch.nn as nn
from torch.nn.utils.rnn import pad_sequence

torch.manual_seed(1)
torch.set_num_threads(1)
PAD, VOCAB = 0, 40


def tickets(n):
    docs, labels = [], []
    for _ in range(n):
        length = int(torch.randint(4, 20, (1,)))
        d = torch.randint(5, VOCAB, (length,))
        y = int(torch.randint(0, 2, (1,)))
        d[torch.randint(0, length, (1,))] = 1 + y
        docs.append(d)
        labels.append(y)
    return docs, torch.tensor(labels)


def collate(docs):
    ids = pad_sequence(docs, batch_first=True, padding_value=PAD)
    return ids, ids != PAD


class TicketEncoder(nn.Module):
    def __init__(self, d=32):
        super().__init__()
        self.emb = nn.Embedding(VOCAB, d, padding_idx=PAD)
        layer = nn.TransformerEncoderLayer(d, 4, 64, dropout=0.0, batch_first=True)
        self.enc = nn.TransformerEncoder(layer, 1, enable_nested_tensor=False)
        self.query = nn.Parameter(torch.randn(1, 1, d) * 0.1)
        self.out = nn.Linear(d, 2)

    def forward(self, ids, valid):
        x = torch.cat([self.query.expand(len(ids), -1, -1), self.emb(ids)], 1)
        mask = torch.cat([torch.zeros(len(ids), 1, dtype=torch.bool), ~valid], 1)
        return self.out(self.enc(x, src_key_padding_mask=mask)[:, 0])


docs, labels = tickets(1000)
vdocs, vlabels = tickets(300)
model = TicketEncoder()
opt = torch.optim.Adam(model.parameters(), lr=2e-3)
for epoch in range(6):
    model.train()
    for idx in torch.randperm(len(docs)).split(32):
        ids, valid = collate([docs[i] for i in idx])
        loss = nn.functional.cross_entropy(model(ids, valid), labels[idx])
        opt.zero_grad()
        loss.backward()
        opt.step()
    model.eval()
    with torch.no_grad():
        acc = (model(*collate(vdocs)).argmax(1) == vlabels).float().mean().item()
    print(f"epoch {epoch}: loss {loss.item():.3f} acc {acc:.3f}")
