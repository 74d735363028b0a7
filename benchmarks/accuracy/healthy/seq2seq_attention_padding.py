"""Reverse a sequence: encoder, attention with -inf on padding, teacher forcing, ignore_index for the padded targets."""

import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.nn.utils.rnn import pad_sequence

PAD, BOS, EOS, FIRST, VOCAB = 0, 1, 2, 3, 11


def make_batch(n):
    rows = [torch.randint(FIRST, VOCAB, (int(k),)) for k in torch.randint(3, 7, (n,))]
    source = pad_sequence([torch.cat([r, torch.tensor([EOS])]) for r in rows], batch_first=True, padding_value=PAD)
    target = pad_sequence(
        [torch.cat([torch.tensor([BOS]), r.flip(0), torch.tensor([EOS])]) for r in rows],
        batch_first=True,
        padding_value=PAD,
    )
    return source, target


class Seq2Seq(nn.Module):
    def __init__(self, d=48):
        super().__init__()
        self.embed = nn.Embedding(VOCAB, d, padding_idx=PAD)
        self.encoder = nn.GRU(d, d, batch_first=True, bidirectional=True)
        self.bridge = nn.Linear(2 * d, d)
        self.decoder = nn.GRUCell(d + 2 * d, d)
        self.query = nn.Linear(d, 2 * d)
        self.dropout = nn.Dropout(0.1)
        self.out = nn.Linear(3 * d, VOCAB)

    def forward(self, source, target):
        memory, h = self.encoder(self.embed(source))
        state = torch.tanh(self.bridge(torch.cat([h[0], h[1]], dim=1)))
        context = memory.mean(1)
        outputs = []
        for t in range(target.size(1) - 1):
            state = self.decoder(torch.cat([self.dropout(self.embed(target[:, t])), context], 1), state)
            energy = torch.bmm(memory, self.query(state).unsqueeze(2)).squeeze(2)
            energy = energy.masked_fill(source == PAD, float("-inf"))
            attention = F.softmax(energy, dim=-1)
            context = torch.bmm(attention.unsqueeze(1), memory).squeeze(1)
            outputs.append(self.out(torch.cat([state, context], dim=1)))
        return torch.stack(outputs, dim=1)


torch.set_num_threads(1)
torch.manual_seed(0)
model = Seq2Seq()
criterion = nn.CrossEntropyLoss(ignore_index=PAD)
optimizer = torch.optim.Adam(model.parameters(), lr=4e-3)
for step in range(150):
    model.train()
    source, target = make_batch(48)
    logits = model(source, target)
    loss = criterion(logits.reshape(-1, VOCAB), target[:, 1:].reshape(-1))
    optimizer.zero_grad()
    loss.backward()
    nn.utils.clip_grad_norm_(model.parameters(), 1.0)
    optimizer.step()
    if step % 40 == 0:
        print(step, loss.item())
model.eval()
with torch.no_grad():
    source, target = make_batch(300)
    guess = model(source, target).argmax(-1)
    real = target[:, 1:] != PAD
    accuracy = ((guess == target[:, 1:]) & real).sum().item() / real.sum().item()
print("token accuracy", accuracy)
assert accuracy > 0.85
