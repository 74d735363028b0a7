"""Medusa-style heads that predict several tokens ahead from a small GRU language model."""
import torch
from torch import nn

VOCAB, DIM, HEADS, LAYERS = 26, 32, 4, 2


class ResBlock(nn.Module):
    def __init__(self, hidden_size):
        super().__init__()
        self.linear = nn.Linear(hidden_size, hidden_size)
        nn.init.zeros_(self.linear.weight)
        self.act = nn.SiLU()

    def forward(self, x):
        return x + self.act(self.linear(x))


class MedusaModel(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed = nn.Embedding(VOCAB, DIM)
        self.rnn = nn.GRU(DIM, DIM, batch_first=True)
        self.medusa_heads = nn.ModuleList(
            [
                nn.Sequential(
                    *([ResBlock(DIM)] * LAYERS),  # <- PM406
                    nn.Linear(DIM, VOCAB, bias=False),
                )
                for _ in range(HEADS)
            ]
        )

    def forward(self, ids):
        hidden, _ = self.rnn(self.embed(ids))
        return torch.stack([head(hidden) for head in self.medusa_heads])


def medusa_loss(logits, ids, coefficient=0.8):
    total = 0
    for i in range(HEADS):
        shift = i + 1
        pred = logits[i, :, :-shift].reshape(-1, VOCAB)
        total = total + coefficient**i * nn.functional.cross_entropy(pred, ids[:, shift:].reshape(-1))
    return total


def counting_strings(n, length=16):
    start = torch.randint(VOCAB, (n, 1))
    stride = torch.randint(1, 4, (n, 1))
    return (start + stride * torch.arange(length)) % VOCAB


if __name__ == "__main__":
    torch.set_num_threads(1)
    torch.manual_seed(0)
    model = MedusaModel()
    print("parameters", sum(p.numel() for p in model.parameters()))
    optimizer = torch.optim.AdamW(model.parameters(), lr=5e-3)
    for step in range(150):
        ids = counting_strings(32)
        loss = medusa_loss(model(ids), ids)
        optimizer.zero_grad()
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        if step % 30 == 0:
            print(f"step {step} loss {loss.item():.3f}")
