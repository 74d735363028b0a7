"""A decoder whose LSTM attends over its own past states; at the first position there is only one of them."""

import argparse

import torch
import torch.nn as nn
import torch.nn.functional as F


class PastAttentionLM(nn.Module):
    def __init__(self, vocab: int, width: int):
        super().__init__()
        self.embed = nn.Embedding(vocab, width)
        self.cell = nn.LSTMCell(2 * width, width)
        self.query = nn.Linear(width, width, bias=False)
        self.out = nn.Linear(2 * width, vocab)
        self.width = width

    def forward(self, tokens):
        batch, length = tokens.shape
        h = c = tokens.new_zeros(batch, self.width, dtype=torch.float)
        context = torch.zeros_like(h)
        past, logits = [], []
        for t in range(length):
            h, c = self.cell(torch.cat([self.embed(tokens[:, t]), context], dim=1), (h, c))
            past.append(h)
            keys = torch.stack(past, dim=1)  # (batch, t + 1, width)
            scores = torch.einsum("bd,btd->bt", self.query(h), keys) / self.width**0.5
            context = torch.einsum("bt,btd->bd", F.softmax(scores, dim=1), keys)
            logits.append(self.out(torch.cat([h, context], dim=1)))
        return torch.stack(logits, dim=1)


def batch(n, length, vocab):
    """Repeat after me: the second half is a copy of the first."""
    half = torch.randint(1, vocab, (n, length // 2))
    return torch.cat([half, half], dim=1)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=220)
    parser.add_argument("--lr", type=float, default=6e-3)
    args = parser.parse_args()
    torch.set_num_threads(1)
    torch.manual_seed(0)
    model = PastAttentionLM(vocab=8, width=48)
    optimizer = torch.optim.Adam(model.parameters(), lr=args.lr)
    for step in range(args.steps):
        tokens = batch(48, 8, 8)
        logits = model(tokens[:, :-1])
        loss = F.cross_entropy(logits.reshape(-1, 8), tokens[:, 1:].reshape(-1))
        optimizer.zero_grad(set_to_none=True)
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        if step % 40 == 0 or step == args.steps - 1:
            print(f"step {step}: {loss.item()!r}")
    model.eval()
    with torch.no_grad():
        tokens = batch(200, 8, 8)
        right = (model(tokens[:, :-1]).argmax(-1)[:, 3:] == tokens[:, 4:]).float().mean()
    print("accuracy of the copied half", right.item())
    assert right > 0.6


if __name__ == "__main__":
    main()
