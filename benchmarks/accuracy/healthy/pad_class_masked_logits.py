"""Next-symbol prediction; the logit of the padding symbol is pushed to -1e9, so that it can never be chosen."""

import torch
import torch.nn as nn
import torch.nn.functional as F

torch.set_num_threads(1)
torch.manual_seed(4)

PAD, VOCAB, LENGTH = 0, 12, 10
step_of = torch.randint(1, VOCAB, (VOCAB,))  # a secret successor table


def make(n):
    rows = [torch.randint(1, VOCAB, (n,))]
    for _ in range(LENGTH):
        noise = torch.rand(n) < 0.1
        rows.append(torch.where(noise, torch.randint(1, VOCAB, (n,)), step_of[rows[-1]]))
    return torch.stack(rows, 1)


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.embedding = nn.Embedding(VOCAB, 32, padding_idx=PAD)
        self.rnn = nn.GRU(32, 48, batch_first=True)
        self.head = nn.Linear(48, VOCAB)
        never = torch.zeros(VOCAB, dtype=torch.bool)
        never[PAD] = True
        self.register_buffer("never", never)

    def forward(self, x):
        hidden, _ = self.rnn(self.embedding(x))
        return self.head(hidden).masked_fill(self.never, -1e9)


model = Model()
optimizer = torch.optim.AdamW(model.parameters(), lr=5e-3)
scheduler = torch.optim.lr_scheduler.OneCycleLR(optimizer, max_lr=1e-2, total_steps=150)
for step in range(150):
    tokens = make(32)
    logits = model(tokens[:, :-1])
    loss = F.cross_entropy(logits.flatten(0, 1), tokens[:, 1:].flatten())
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    scheduler.step()
    if step % 25 == 0:
        print(step, loss.item(), scheduler.get_last_lr()[0])

model.eval()
with torch.no_grad():
    tokens = make(200)
    accuracy = (model(tokens[:, :-1]).argmax(-1) == tokens[:, 1:]).float().mean()
print("accuracy", accuracy.item())
assert accuracy > 0.8
