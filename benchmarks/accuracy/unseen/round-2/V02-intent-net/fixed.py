import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(0)
torch.set_num_threads(1)
VOCAB, INTENTS = 120, 12
words = torch.rand(INTENTS, VOCAB).pow(5)


class IntentNet(nn.Module):
    def __init__(self, d=24, p=0.6):
        super().__init__()
        self.p = p
        self.emb = nn.EmbeddingBag(VOCAB, d)
        self.hidden = nn.Linear(d, 32)
        self.out = nn.Linear(32, INTENTS)

    def forward(self, ids):
        h = torch.relu(self.hidden(self.emb(ids)))
        h = F.dropout(h, self.p, self.training)
        return self.out(h)


def utterances(n):
    y = torch.randint(0, INTENTS, (n,))
    return torch.multinomial(words[y], 12, replacement=True), y


x, y = utterances(2500)
xv, yv = utterances(500)
net = IntentNet()
opt = torch.optim.Adam(net.parameters(), lr=5e-3)
for epoch in range(10):
    net.train()
    for b in torch.randperm(2500).split(50):
        loss = F.cross_entropy(net(x[b]), y[b])
        opt.zero_grad()
        loss.backward()
        opt.step()
    net.eval()
    with torch.no_grad():
        first, again = net(xv).argmax(1), net(xv).argmax(1)
    print(f"epoch {epoch} loss {loss.item():.3f} val acc {(first == yv).float().mean():.3f} "
          f"second pass agrees {(first == again).float().mean():.3f}")
