"""Masked-token pretraining on synthetic machine logs, then a frozen probe: 85 % of the targets are ignored on purpose."""
import torch
import torch.nn as nn
import torch.nn.functional as F

torch.set_num_threads(1)
torch.manual_seed(10)
PAD, MASK, V, L = 0, 1, 24, 20


MOTIFS = torch.randint(2, V, (12, 5), generator=torch.Generator().manual_seed(77))


def logs(n, seed):
    g = torch.Generator().manual_seed(seed)
    which = torch.randint(0, 12, (n,), generator=g)
    phase = torch.randint(0, 5, (n, 1), generator=g)
    seq = MOTIFS[which].gather(1, (phase + torch.arange(L)) % 5)
    noise = torch.rand(n, L, generator=g) < 0.03
    seq = torch.where(noise, torch.randint(2, V, (n, L), generator=g), seq)
    length = torch.randint(10, L + 1, (n, 1), generator=g)
    return torch.where(torch.arange(L) < length, seq, PAD), which // 3


class Encoder(nn.Module):
    def __init__(self, d=48):
        super().__init__()
        self.tok = nn.Embedding(V, d, padding_idx=PAD)
        nn.init.normal_(self.tok.weight, std=0.02)
        self.pos = nn.Parameter(torch.randn(L, d) * 0.02)
        layer = nn.TransformerEncoderLayer(d, 4, 96, dropout=0.0, batch_first=True, norm_first=True)
        self.enc = nn.TransformerEncoder(layer, 2, norm=nn.LayerNorm(d), enable_nested_tensor=False)
        self.bias = nn.Parameter(torch.zeros(V))

    def features(self, ids):
        return self.enc(self.tok(ids) + self.pos, src_key_padding_mask=ids == PAD)

    def forward(self, ids):
        return F.linear(self.features(ids), self.tok.weight, self.bias)


def corrupt(ids):
    labels = ids.clone()
    chosen = (torch.rand(ids.shape) < 0.15) & (ids != PAD)
    labels[~chosen] = -100
    roll = torch.rand(ids.shape)
    out = torch.where(chosen & (roll < 0.8), MASK, ids)
    out = torch.where(chosen & (roll > 0.9), torch.randint(2, V, ids.shape), out)
    return out, labels


x, kind = logs(2000, 0)
xv, kindv = logs(400, 1)
torch.manual_seed(11)
model = Encoder()
opt = torch.optim.AdamW(model.parameters(), lr=3e-3, betas=(0.9, 0.98))
sched = torch.optim.lr_scheduler.OneCycleLR(opt, 3e-3, total_steps=7 * 40, pct_start=0.15)
for epoch in range(7):
    model.train()
    tot = 0.0
    for b in torch.randperm(len(x)).split(50):
        inp, lab = corrupt(x[b])
        loss = F.cross_entropy(model(inp).flatten(0, 1), lab.flatten())
        opt.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        opt.step()
        sched.step()
        tot += loss.item()
    model.eval()
    with torch.no_grad():
        inp, lab = corrupt(xv)
        pred = model(inp).argmax(-1)
        acc = (pred == lab)[lab != -100].float().mean().item()
    print(f"mlm epoch {epoch} loss {tot / 40:.4f} masked acc {acc:.3f}")

with torch.no_grad():
    f, fv = (model.features(t).mean(1) for t in (x[:600], xv))
probe = nn.Linear(48, 4)
lbfgs = torch.optim.LBFGS(probe.parameters(), max_iter=60)


def closure():
    lbfgs.zero_grad()
    loss = F.cross_entropy(probe(f), kind[:600]) + 1e-4 * probe.weight.square().sum()
    loss.backward()
    return loss


first = lbfgs.step(closure)
print(f"probe loss {first.item():.3f} -> {closure().item():.3f} acc {(probe(fv).argmax(1) == kindv).float().mean().item():.3f}")
