"""A model of short melodies; what fills the batch has an id of its own, and the loss leaves it out."""
# judged by: audit

import torch
from torch import nn
from torch.nn.utils.rnn import pad_sequence
from torch.utils.data import DataLoader

START, END, PAD = 0, 1, 2


def melody(generator):
    """Up or down a scale, to its last note."""
    first, count = (int(torch.randint(low, high, (1,), generator=generator)) for low, high in ((10, 20), (4, 9)))
    step = 1 if torch.rand(1, generator=generator) < 0.5 else -1
    return torch.tensor([START, *(first + step * place for place in range(count)), END])


def filled(melodies):
    notes = pad_sequence(melodies, batch_first=True, padding_value=PAD)
    return notes[:, :-1], notes[:, 1:]


class Composer(nn.Module):
    def __init__(self):
        super().__init__()
        self.notes = nn.Embedding(32, 16)
        self.memory = nn.GRU(16, 32, batch_first=True)
        self.scores = nn.Linear(32, 32)

    def forward(self, notes):
        return self.scores(self.memory(self.notes(notes))[0])


torch.manual_seed(0)
drawn = torch.Generator().manual_seed(1)
loader = DataLoader([melody(drawn) for _ in range(160)], batch_size=16, shuffle=True, collate_fn=filled)
model = Composer()
optimizer = torch.optim.Adam(model.parameters(), lr=5e-3)
criterion = nn.CrossEntropyLoss(ignore_index=PAD)
for _ in range(3):
    for notes, following in loader:
        optimizer.zero_grad()
        loss = criterion(model(notes).transpose(1, 2), following)
        loss.backward()
        optimizer.step()
