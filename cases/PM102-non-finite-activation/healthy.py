"""A decoder full of infinities that are meant: causal masks, padding, log-space scores, an uninitialised cache."""

import torch
from torch import nn

torch.manual_seed(0)
torch.set_num_threads(1)
VOCAB, LENGTH, WIDTH = 12, 9, 24


class Decoder(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.embed = nn.Embedding(VOCAB, WIDTH)
        self.q, self.k, self.v = (nn.Linear(WIDTH, WIDTH) for _ in range(3))
        self.head = nn.Linear(WIDTH, VOCAB)
        causal = torch.triu(torch.full((LENGTH, LENGTH), float("-inf")), diagonal=1)
        self.register_buffer("causal", causal)
        self.register_buffer("cache", torch.empty(LENGTH, WIDTH).fill_(float("nan")), persistent=False)

    def forward(self, tokens: torch.Tensor) -> torch.Tensor:
        x = self.embed(tokens)
        scores = self.q(x) @ self.k(x).transpose(1, 2) / WIDTH**0.5 + self.causal
        scores = scores.masked_fill((tokens == 0)[:, None, :] & ~torch.eye(LENGTH, dtype=torch.bool), -torch.inf)
        out = x + scores.softmax(-1) @ self.v(x)
        workspace = torch.empty_like(out)  # whatever lay in memory, overwritten at once
        workspace[:] = out
        return self.head(workspace)


def loss_of(logits: torch.Tensor, tokens: torch.Tensor) -> torch.Tensor:
    forbidden = torch.zeros(VOCAB).index_fill(0, torch.tensor([0]), 1.0)
    allowed = torch.log(1 - forbidden)  # log-space: -inf for what cannot come
    log_p = (logits[:, :-1] + allowed).log_softmax(-1)
    target = tokens[:, 1:]
    picked = log_p.gather(-1, target.clamp(min=1)[..., None]).squeeze(-1)
    return -(picked * (target > 0)).sum() / (target > 0).sum()


model = Decoder()
optimizer = torch.optim.Adam(model.parameters(), lr=5e-3)
for step in range(250):
    start = torch.randint(1, VOCAB, (32, 1))
    tokens = (start + torch.arange(LENGTH) - 1) % (VOCAB - 1) + 1
    lengths = torch.randint(3, LENGTH + 1, (32, 1))
    tokens = tokens * (torch.arange(LENGTH) < lengths)
    loss = loss_of(model(tokens), tokens)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if step % 50 == 0:
        print(f"step {step} loss {loss.item():.3f}")
