"""Character-level RNN read in consecutive chunks; the hidden state goes from chunk to chunk."""
import torch
from torch import nn

torch.set_num_threads(1)
torch.manual_seed(1)

text = "she sells sea shells by the sea shore and the shells she sells are sea shells for sure " * 30
alphabet = sorted(set(text))
ids = torch.tensor([alphabet.index(c) for c in text])
STREAMS, CHUNK = 8, 10
stream_length = len(ids) // STREAMS
streams = ids[: STREAMS * stream_length].view(STREAMS, stream_length)


class CharRNN(nn.Module):
    def __init__(self, n_chars, hidden=48):
        super().__init__()
        self.embed = nn.Embedding(n_chars, 16)
        self.rnn = nn.RNN(16, hidden, batch_first=True)
        self.decode = nn.Linear(hidden, n_chars)
        self.hidden_size = hidden

    def init_hidden(self, batch):
        return torch.zeros(1, batch, self.hidden_size)

    def forward(self, x, hidden):
        out, hidden = self.rnn(self.embed(x), hidden)
        return self.decode(out), hidden


net = CharRNN(len(alphabet))
optimizer = torch.optim.Adam(net.parameters(), lr=5e-3)
criterion = nn.CrossEntropyLoss()

for epoch in range(5):
    hidden = net.init_hidden(STREAMS)
    total, count = 0.0, 0
    for start in range(0, stream_length - CHUNK - 1, CHUNK):
        x = streams[:, start:start + CHUNK]
        y = streams[:, start + 1:start + CHUNK + 1]
        optimizer.zero_grad()
        output, hidden = net(x, hidden)  # <- PM617
        loss = criterion(output.transpose(1, 2), y)
        loss.backward()
        optimizer.step()
        total += loss.item()
        count += 1
    print(f"epoch {epoch} loss {total / count:.3f}")
