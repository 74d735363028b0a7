import torch
import torch.nn as nn
from accelerate import Accelerator
from torch.optim.lr_scheduler import LambdaLR
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(0)
torch.set_num_threads(1)
V, ACCUM, EPOCHS = 20, 8, 3
table = torch.softmax(torch.randn(V, V) * 3, 1)


def text(n, t=12):
    s = [torch.randint(0, V, (n,))]
    for _ in range(t):
        s.append(torch.multinomial(table[s[-1]], 1)[:, 0])
    return TensorDataset(torch.stack(s, 1))


class Bigram(nn.Module):
    def __init__(self):
        super().__init__()
        self.e = nn.Embedding(V, 32)
        self.f = nn.Sequential(nn.Linear(32, 64), nn.GELU(), nn.Linear(64, V))

    def forward(self, x):
        return self.f(self.e(x))


def warmup_linear(total, share=0.3):
    warm = int(total * share)
    return lambda s: (s + 1) / warm if s < warm else max(0.02, (total - s) / (total - warm))


acc = Accelerator(gradient_accumulation_steps=ACCUM, cpu=True)
model = Bigram()
opt = torch.optim.AdamW(model.parameters(), lr=3e-2)
loader = DataLoader(text(2400), batch_size=10, shuffle=True)
micro_steps = EPOCHS * len(loader)
sched = LambdaLR(opt, warmup_linear(micro_steps * ACCUM))  # <- PM608
model, opt, loader, sched = acc.prepare(model, opt, loader, sched)
val = text(400).tensors[0]


def nll(batch):
    return nn.functional.cross_entropy(model(batch[:, :-1]).flatten(0, 1), batch[:, 1:].flatten())


for epoch in range(EPOCHS):
    for (batch,) in loader:
        with acc.accumulate(model):
            loss = nll(batch)
            acc.backward(loss)
            opt.step()
            sched.step()
            opt.zero_grad()
    with torch.no_grad():
        print(f"epoch {epoch} lr {sched.get_last_lr()[0]:.2e} val nll {nll(val).item():.3f}")
floor = -(table * table.log()).sum(1).mean().item()
print(f"entropy of the source about {floor:.3f}")
