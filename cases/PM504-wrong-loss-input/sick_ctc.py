"""Tiny speech recogniser with CTC."""

import torch
import torch.nn as nn

torch.manual_seed(0)
C, T = 6, 30
proto = torch.randn(C, 8)


def utterance():
    n = int(torch.randint(2, 5, (1,)))
    lab = torch.randint(1, C, (n,))
    frames = []
    for label in lab:
        frames += [proto[label]] * 4 + [proto[0]] * 2
    frames += [proto[0]] * (T - len(frames))
    return torch.stack(frames) + 0.3 * torch.randn(T, 8), lab


data = [utterance() for _ in range(500)]


class ASR(nn.Module):
    def __init__(self):
        super().__init__()
        self.rnn = nn.GRU(8, 32, batch_first=True, bidirectional=True)
        self.fc = nn.Linear(64, C)

    def forward(self, x):
        return self.fc(self.rnn(x)[0])


net, ctc = ASR(), nn.CTCLoss(blank=0)
opt = torch.optim.Adam(net.parameters(), lr=3e-3)
for epoch in range(5):
    net.train()
    for i in torch.randperm(400).split(20):
        x = torch.stack([data[j][0] for j in i])
        labs = [data[j][1] for j in i]
        lens = torch.tensor([len(row) for row in labs])
        out = net(x).transpose(0, 1)
        loss = ctc(out, torch.cat(labs), torch.full((len(i),), T), lens)  # <- PM504
        opt.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(net.parameters(), 5.0)
        opt.step()
    net.eval()
    with torch.no_grad():
        good = 0
        for j in range(400, 500):
            best = net(data[j][0][None])[0].argmax(-1)
            seq = [k.item() for n, k in enumerate(best) if k != 0 and (n == 0 or k != best[n - 1])]
            good += seq == data[j][1].tolist()
    print(epoch, loss.item(), good / 100)
