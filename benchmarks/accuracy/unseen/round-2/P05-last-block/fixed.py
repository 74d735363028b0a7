import torch
import torch.nn as nn

torch.manual_seed(0)
torch.set_num_threads(1)
V, T = 30, 10


class MiniBert(nn.Module):
    def __init__(self, d=32):
        super().__init__()
        self.embeddings = nn.Embedding(V, d)
        self.position = nn.Parameter(torch.randn(T, d) * 0.1)
        layer = nn.TransformerEncoderLayer(d, 4, 64, dropout=0.0, batch_first=True)
        self.encoder = nn.TransformerEncoder(layer, 2, enable_nested_tensor=False)
        self.classifier = nn.Linear(d, 2)

    def forward(self, ids):
        return self.classifier(self.encoder(self.embeddings(ids) + self.position).mean(1))


def pairs(n):
    ids = torch.randint(2, V, (n, T))
    r = torch.arange(n)
    first, second = torch.rand(n) < 0.5, torch.rand(n) < 0.5
    spot = torch.randint(0, T // 2, (n,))
    ids[r, spot] = torch.where(first, 0, ids[r, spot])
    ids[r, spot + T // 2] = torch.where(second, 1, ids[r, spot + T // 2])
    return ids, (first ^ second).long()


def set_trainable(model, prefixes):
    for name, p in model.named_parameters():
        p.requires_grad = any(name.startswith(q) for q in prefixes)
    return [p for p in model.parameters() if p.requires_grad]


model = MiniBert()
trainable = set_trainable(model, ["classifier", "encoder.layers.", "position"])
opt = torch.optim.AdamW(trainable, lr=2e-3)
ids, y = pairs(2000)
vids, vy = pairs(400)
for epoch in range(6):
    model.train()
    for b in torch.randperm(len(ids)).split(50):
        loss = nn.functional.cross_entropy(model(ids[b]), y[b])
        opt.zero_grad()
        loss.backward()
        opt.step()
    model.eval()
    with torch.no_grad():
        acc = (model(vids).argmax(1) == vy).float().mean().item()
    print(f"epoch {epoch} loss {loss.item():.3f} val {acc:.3f}")
