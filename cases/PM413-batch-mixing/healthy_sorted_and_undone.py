"""Does a row of marks hold more ones than twos? A packed LSTM, whose samples are sorted inside and put back."""

import torch
from torch import nn
from torch.nn.utils.rnn import pack_padded_sequence
from torch.utils.data import DataLoader

torch.set_num_threads(1)
torch.manual_seed(0)


class Counter(nn.Module):
    def __init__(self, width=16):
        super().__init__()
        self.embed = nn.Embedding(3, width, padding_idx=0)
        self.lstm = nn.LSTM(width, width, batch_first=True)
        self.head = nn.Linear(width, 2)

    def forward(self, marks, lengths):
        lengths, order = lengths.sort(descending=True)
        packed = pack_padded_sequence(self.embed(marks[order]), lengths, batch_first=True)
        _, (hidden, _) = self.lstm(packed)
        return self.head(hidden[-1])[order.argsort()]


def collate(rows):
    lengths = torch.tensor([len(row) for row in rows])
    marks = nn.utils.rnn.pad_sequence(rows, batch_first=True)
    return marks, lengths, ((marks == 1).sum(1) > (marks == 2).sum(1)).long()


data = [torch.randint(1, 3, (int(n),)) for n in torch.randint(3, 12, (640,))]
loader = DataLoader(data, batch_size=32, shuffle=True, collate_fn=collate)
model = Counter()
optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
for epoch in range(6):
    for marks, lengths, label in loader:
        loss = nn.functional.cross_entropy(model(marks, lengths), label)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    print(f"epoch {epoch}: loss {loss.item():.3f}")
