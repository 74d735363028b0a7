"""LSTM language model with tied embeddings; summed token loss divided by the number of real tokens; stateful BPTT."""
import math

import torch
import torch.nn as nn

torch.manual_seed(0)
V, D, BS, BPTT = 40, 48, 16, 20


def stream(n, seed):
    g = torch.Generator().manual_seed(seed)
    table = torch.randint(0, V, (V, 3), generator=torch.Generator().manual_seed(7))
    pick = torch.randint(0, 3, (n,), generator=g)
    out = [0]
    for k in pick.tolist():
        out.append(int(table[out[-1], k]))
    return torch.tensor(out[1:])


def batchify(x):
    n = len(x) // BS
    return x[: n * BS].view(BS, n)


class TiedLM(nn.Module):
    def __init__(self):
        super().__init__()
        self.emb = nn.Embedding(V, D)
        self.rnn = nn.LSTM(D, D, batch_first=True)
        self.dec = nn.Linear(D, V)
        self.dec.weight = self.emb.weight

    def forward(self, x, state):
        h, state = self.rnn(self.emb(x), state)
        return self.dec(h), state


train, valid = batchify(stream(16000, 0)), batchify(stream(3200, 1))
model = TiedLM()
criterion = nn.CrossEntropyLoss(reduction="sum")
opt = torch.optim.Adam(model.parameters(), lr=4e-3)


def run(data, fit):
    model.train(fit)
    state, total, tokens = None, 0.0, 0
    for i in range(0, data.size(1) - 1, BPTT):
        x = data[:, i:i + BPTT]
        y = data[:, i + 1:i + 1 + BPTT]
        x = x[:, : y.size(1)]
        if state is not None:
            state = tuple(s.detach() for s in state)
        logits, state = model(x, state)
        loss = criterion(logits.flatten(0, 1), y.flatten())
        if fit:
            opt.zero_grad()
            (loss / y.numel()).backward()
            nn.utils.clip_grad_norm_(model.parameters(), 0.5)
            opt.step()
        total, tokens = total + loss.item(), tokens + y.numel()
    return total / tokens


for epoch in range(6):
    tl = run(train, True)
    with torch.no_grad():
        vl = run(valid, False)
    print(f"epoch {epoch} train ppl {math.exp(tl):.2f} valid ppl {math.exp(vl):.2f} (floor about 3)")
