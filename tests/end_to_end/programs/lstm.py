"""A recurrent language model on packed sequences, then with its state carried over, detached."""

import torch
from fingerprint import bits, finish
from torch import nn
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence

torch.manual_seed(0)


class Language(nn.Module):
    def __init__(self):
        super().__init__()
        self.embedding = nn.Embedding(12, 8, padding_idx=0)
        self.lstm = nn.LSTM(8, 16, num_layers=2, dropout=0.2, batch_first=True)
        self.head = nn.Linear(16, 12)

    def forward(self, tokens, lengths=None, state=None):
        x = self.embedding(tokens)
        if lengths is not None:
            x = pack_padded_sequence(x, lengths, batch_first=True, enforce_sorted=False)
        x, state = self.lstm(x, state)
        if lengths is not None:
            x, _ = pad_packed_sequence(x, batch_first=True, total_length=tokens.shape[1])
        return self.head(x), state


model = Language()
optimizer = torch.optim.RMSprop(model.parameters(), lr=0.005)
criterion = nn.CrossEntropyLoss(ignore_index=0)


def counting(batch, length):
    start = torch.randint(1, 12, (batch, 1))
    return (start + torch.arange(length) - 1) % 11 + 1


def learn(loss):
    optimizer.zero_grad()
    loss.backward()
    nn.utils.clip_grad_value_(model.parameters(), 0.5)
    optimizer.step()
    bits(loss)


for _step in range(20):
    tokens, lengths = counting(16, 10), torch.randint(3, 10, (16,))
    tokens[torch.arange(10)[None] > lengths[:, None]] = 0
    logits, _ = model(tokens[:, :-1], lengths)
    learn(criterion(logits.transpose(1, 2), tokens[:, 1:]))
state = None
for _step in range(15):
    tokens = counting(8, 12)
    logits, state = model(tokens[:, :-1], state=state)
    state = tuple(part.detach() for part in state)
    learn(criterion(logits.transpose(1, 2), tokens[:, 1:]))
finish(model)
