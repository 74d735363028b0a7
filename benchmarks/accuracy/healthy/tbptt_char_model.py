"""Character model over one long text: hidden state carried on and detached, batches in reading order, no shuffling."""

import torch
from torch import nn

torch.set_num_threads(1)
torch.manual_seed(0)

phrases = ["the cat sat on the mat. ", "a dog ran in the fog. ", "the sun is up now. ", "we run and run. "]
text = "".join(phrases[i] for i in torch.randint(4, (700,)).tolist())
alphabet = sorted(set(text))
encoded = torch.tensor([alphabet.index(c) for c in text])


def batchify(stream, rows):
    length = len(stream) // rows
    return stream[: rows * length].view(rows, length).t().contiguous()


def get_batch(source, i, bptt):
    seq_len = min(bptt, len(source) - 1 - i)
    return source[i : i + seq_len], source[i + 1 : i + 1 + seq_len].reshape(-1)


class RNNModel(nn.Module):
    def __init__(self, tokens, size=64):
        super().__init__()
        self.drop = nn.Dropout(0.1)
        self.encoder = nn.Embedding(tokens, size)
        self.rnn = nn.GRU(size, size)
        self.decoder = nn.Linear(size, tokens)
        self.decoder.weight = self.encoder.weight
        nn.init.uniform_(self.encoder.weight, -0.1, 0.1)

    def forward(self, inputs, hidden):
        output, hidden = self.rnn(self.drop(self.encoder(inputs)), hidden)
        return self.decoder(self.drop(output)).view(-1, len(alphabet)), hidden

    def init_hidden(self, rows):
        return torch.zeros(1, rows, 64)


def repackage_hidden(h):
    return h.detach() if isinstance(h, torch.Tensor) else tuple(repackage_hidden(v) for v in h)


train, valid = batchify(encoded[:-2000], 20), batchify(encoded[-2000:], 10)
model, criterion = RNNModel(len(alphabet)), nn.CrossEntropyLoss()
lr = 1e-2
optimizer = torch.optim.Adam(model.parameters(), lr=lr)
for epoch in range(3):
    model.train()
    hidden = model.init_hidden(20)
    for batch, i in enumerate(range(0, train.size(0) - 1, 12)):
        data, targets = get_batch(train, i, 12)
        hidden = repackage_hidden(hidden)
        model.zero_grad()
        output, hidden = model(data, hidden)
        loss = criterion(output, targets)
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 0.5)
        optimizer.step()
        if batch % 20 == 0:
            print(f"| epoch {epoch} | batch {batch} | loss {loss.item()!r}")
    model.eval()
    hidden, total = model.init_hidden(10), 0.0
    with torch.no_grad():
        for i in range(0, valid.size(0) - 1, 12):
            data, targets = get_batch(valid, i, 12)
            output, hidden = model(data, hidden)
            total += len(data) * criterion(output, targets).item()
    print("valid", total / (len(valid) - 1))
assert total / (len(valid) - 1) < 1.2
