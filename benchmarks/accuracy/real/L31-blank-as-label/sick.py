"""Digit strings from strips with CTC."""
import torch
import torch.nn as nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(0)
K, T, L = 10, 24, 4
codes = torch.randn(K, 8)
digits = torch.randint(0, K, (400, L))
strips = torch.zeros(400, T, 8)
for j in range(L):
    strips[:, 6 * j + 1:6 * j + 5] = codes[digits[:, j]][:, None]
strips += 0.2 * torch.randn_like(strips)


class Reader(nn.Module):
    def __init__(self):
        super().__init__()
        self.rnn = nn.GRU(8, 32, batch_first=True, bidirectional=True)
        self.out = nn.Linear(64, K + 1)

    def forward(self, x):
        return self.out(self.rnn(x)[0]).log_softmax(-1).transpose(0, 1)


net = Reader()
ctc = nn.CTCLoss(zero_infinity=True)
opt = torch.optim.Adam(net.parameters(), lr=1e-2)
train = DataLoader(TensorDataset(strips[:320], digits[:320]), batch_size=20, shuffle=True)
val = DataLoader(TensorDataset(strips[320:], digits[320:]), batch_size=40)
for epoch in range(5):
    net.train()
    for a, b in train:
        opt.zero_grad()
        loss = ctc(net(a), b, torch.full((len(a),), T), torch.full((len(a),), L))  # <- PM304
        loss.backward()
        opt.step()
    net.eval()
    with torch.no_grad():
        v = sum(ctc(net(a), b, torch.full((len(a),), T), torch.full((len(a),), L)).item() for a, b in val) / len(val)
    print(epoch, loss.item(), v)
