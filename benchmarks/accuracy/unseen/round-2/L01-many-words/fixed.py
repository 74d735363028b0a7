import torch
import torch.nn as nn

torch.manual_seed(0)
torch.set_num_threads(1)
WORDS, CTX = 60, 3
table = torch.randint(0, WORDS, (WORDS,))


class NextWord(nn.Module):
    def __init__(self):
        super().__init__()
        self.emb = nn.Embedding(WORDS, 16)
        self.hidden = nn.Linear(16 * CTX, 64)
        self.out = nn.Linear(64, WORDS)
        self.softmax = nn.Softmax(dim=1)

    def forward(self, x):
        x = torch.tanh(self.hidden(self.emb(x).flatten(1)))
        return self.out(x)


def contexts(n):
    x = torch.randint(0, WORDS, (n, CTX))
    return x, table[x[:, -1]]


x, y = contexts(3000)
xv, yv = contexts(500)
model = NextWord()
criterion = nn.CrossEntropyLoss()
opt = torch.optim.Adam(model.parameters(), lr=2e-3)
for epoch in range(8):
    running = 0.0
    for b in torch.randperm(3000).split(30):
        opt.zero_grad()
        loss = criterion(model(x[b]), y[b])
        loss.backward()
        opt.step()
        running += loss.item() / 100
    with torch.no_grad():
        acc = (model(xv).argmax(1) == yv).float().mean().item()
    print(f"[{epoch + 1}] loss: {running:.3f} accuracy: {acc:.3f}")
