"""Where does a random walk end? Walks of different lengths, read by an LSTM."""

import torch
import torch.nn as nn
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence, pad_sequence
from torch.utils.data import DataLoader, Dataset

torch.manual_seed(0)
torch.set_num_threads(1)


class Walks(Dataset):
    def __init__(self, n):
        self.x = [torch.randn(int(torch.randint(5, 40, (1,))), 3).cumsum(0) for _ in range(n)]
        self.y = [float(w[-1].sum() > 0) for w in self.x]

    def __len__(self):
        return len(self.x)

    def __getitem__(self, i):
        return self.x[i], self.y[i]


def collate(b):
    x, y = zip(*b)
    return pad_sequence(x, batch_first=True), torch.tensor([len(s) for s in x]), torch.tensor(y)


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.lstm = nn.LSTM(3, 32, batch_first=True)
        self.fc = nn.Linear(32, 1)

    def forward(self, x, lengths):
        packed = pack_padded_sequence(x, lengths, batch_first=True, enforce_sorted=False)
        out, _ = self.lstm(packed)
        out, _ = pad_packed_sequence(out, batch_first=True)
        return self.fc(out[:, -1]).squeeze(1)  # <- PM315


tr, va = Walks(1200), Walks(300)
net = Net()
opt = torch.optim.Adam(net.parameters(), 3e-3)
bce = nn.BCEWithLogitsLoss()
for ep in range(6):
    net.train()
    for x, l, y in DataLoader(tr, 32, shuffle=True, collate_fn=collate):
        loss = bce(net(x, l), y)
        opt.zero_grad()
        loss.backward()
        opt.step()
    net.eval()
    with torch.no_grad():
        acc = (
            sum(
                ((net(x, l) > 0).float() == y).sum().item()
                for x, l, y in DataLoader(va, 64, collate_fn=collate)
            )
            / 300
        )
    print(ep, loss.item(), acc)
