import torch
from torch import nn

torch.manual_seed(12)
torch.set_num_threads(1)

V, L = 30, 14
WORDS_A, WORDS_B = torch.arange(1, 6), torch.arange(6, 11)


def texts(n):
    x = torch.randint(11, V, (n, L))
    y = torch.randint(0, 2, (n,))
    for i in range(n):
        pool = WORDS_A if y[i] else WORDS_B
        spots = torch.randperm(L)[:2]
        x[i, spots] = pool[torch.randint(0, 5, (2,))]
    return x, y


class SmsGRU(nn.Module):
    def __init__(self):
        super().__init__()
        self.emb = nn.Embedding(V, 16)
        self.gru = nn.GRU(16, 32, batch_first=True, bidirectional=True)
        self.drop = nn.Dropout(0.2)
        self.fc = nn.Linear(64, 2)

    def forward(self, x):
        _, h = self.gru(self.emb(x))
        h = h.view(x.size(0), -1)  # <- PM413
        return self.fc(self.drop(h))


xtr, ytr = texts(2000)
xte, yte = texts(500)
model = SmsGRU()
opt = torch.optim.Adam(model.parameters(), lr=3e-3)
for epoch in range(8):
    model.train()
    running = 0.0
    batches = torch.randperm(len(xtr)).split(50)
    for b in batches:
        opt.zero_grad()
        loss = nn.functional.cross_entropy(model(xtr[b]), ytr[b])
        loss.backward()
        opt.step()
        running += loss.item()
    model.eval()
    with torch.no_grad():
        acc = (model(xte).argmax(1) == yte).float().mean()
    print(f"{epoch + 1}/8 loss={running / len(batches):.4f} test_acc={acc:.3f}")
