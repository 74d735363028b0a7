"""A small language model that writes with top-k and nucleus filters between its steps: scores of -inf all over."""

import torch
import torch.nn.functional as F
from torch import nn

torch.manual_seed(0)
torch.set_num_threads(1)
VOCAB = 12


class Writer(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed, self.head = nn.Embedding(VOCAB, 16), nn.Linear(32, VOCAB)
        self.rnn = nn.GRU(16, 32, batch_first=True)

    def forward(self, tokens):
        return self.head(self.rnn(self.embed(tokens))[0])


@torch.no_grad()
def write(model, length=6):
    model.eval()
    tokens, score = torch.zeros(1, 1, dtype=torch.long), 0.0
    for _ in range(length):
        logits = model(tokens)[0, -1]
        logits[logits < logits.topk(3).values[-1]] = float("-inf")
        forced = logits.log_softmax(0)
        token = torch.multinomial(forced.exp(), 1)
        score += forced[0].item()  # -inf where the filter forbids it
        tokens = torch.cat([tokens, token[None]], 1)
    model.train()
    return tokens, score


model = Writer()
optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
for step in range(60):
    tokens = (torch.randint(0, VOCAB, (16, 1)) + torch.arange(9)) % VOCAB
    logits = model(tokens[:, :-1])
    loss = F.cross_entropy(logits.flatten(0, 1), tokens[:, 1:].flatten())
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if step % 20 == 0:
        write(model)
print("last loss", loss.item())
