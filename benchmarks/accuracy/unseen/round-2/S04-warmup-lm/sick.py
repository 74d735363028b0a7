import math
import torch
import torch.nn as nn

torch.manual_seed(0)
torch.set_num_threads(1)
V = 24
trans = torch.softmax(torch.randn(V, V) * 2.5, 1)


def stream(n, t=24):
    s = [torch.randint(0, V, (n,))]
    for _ in range(t):
        s.append(torch.multinomial(trans[s[-1]], 1).squeeze(1))
    return torch.stack(s, 1)


class LM(nn.Module):
    def __init__(self, d=32):
        super().__init__()
        self.emb = nn.Embedding(V, d)
        self.rnn = nn.GRU(d, d, batch_first=True)
        self.out = nn.Linear(d, V)

    def forward(self, x):
        h, _ = self.rnn(self.emb(x))
        return self.out(h)


MAX_STEPS, WARMUP = 300, 300


def lr_at(step):
    return min(1, (step + 1) // WARMUP)  # <- PM206


def nll(model, batch):
    logits = model(batch[:, :-1])
    return nn.functional.cross_entropy(logits.flatten(0, 1), batch[:, 1:].flatten())


model = LM()
opt = torch.optim.AdamW(model.parameters(), lr=1e-2)
sched = torch.optim.lr_scheduler.LambdaLR(opt, lr_at)
train, val = stream(1500), stream(200)
for step in range(MAX_STEPS):
    batch = train[torch.randint(0, len(train), (32,))]
    loss = nll(model, batch)
    opt.zero_grad(set_to_none=True)
    loss.backward()
    torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
    opt.step()
    sched.step()
    if (step + 1) % 100 == 0:
        with torch.no_grad():
            v = nll(model, val).item()
        print(f"step {step + 1} train {loss.item():.3f} val {v:.3f} ppl {math.exp(v):.2f}")
