"""Masked language modelling on a toy protein alphabet."""
import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.utils.data import DataLoader

AMINO, MASK, LENGTH = 20, 20, 30


def proteins(n, seed):
    g = torch.Generator().manual_seed(seed)
    table = torch.Generator().manual_seed(3)
    step = torch.randint(1, AMINO, (AMINO,), generator=table)
    rows = torch.empty(n, LENGTH, dtype=torch.long)
    rows[:, 0] = torch.randint(0, AMINO, (n,), generator=g)
    for t in range(1, LENGTH):
        follow = (rows[:, t - 1] + step[rows[:, t - 1]]) % AMINO
        other = torch.randint(0, AMINO, (n,), generator=g)
        rows[:, t] = torch.where(torch.rand(n, generator=g) < 0.85, follow, other)
    return rows


class MaskCollator:
    def __init__(self, probability=0.15):
        self.probability = probability

    def __call__(self, rows):
        ids = torch.stack(rows)
        labels = ids.clone()
        chosen = torch.rand(ids.shape) < self.probability
        ids[chosen] = MASK
        labels[chosen] = -100  # <- PM513
        return ids, labels


class ProteinBert(nn.Module):
    def __init__(self, dim=48):
        super().__init__()
        self.embed, self.position = nn.Embedding(AMINO + 1, dim), nn.Parameter(0.02 * torch.randn(LENGTH, dim))
        layer = nn.TransformerEncoderLayer(dim, 4, 96, dropout=0.0, batch_first=True, norm_first=True)
        self.encoder = nn.TransformerEncoder(layer, 2, enable_nested_tensor=False)
        self.lm_head = nn.Linear(dim, AMINO)

    def forward(self, ids, labels=None):
        logits = self.lm_head(self.encoder(self.embed(ids) + self.position))
        loss = None
        if labels is not None:
            loss = F.cross_entropy(logits.view(-1, AMINO), labels.view(-1), ignore_index=-100)
        return logits, loss


def main():
    torch.manual_seed(0)
    train = DataLoader(proteins(640, 0), batch_size=32, shuffle=True, collate_fn=MaskCollator())
    valid = DataLoader(proteins(128, 1), batch_size=64, collate_fn=MaskCollator())
    model = ProteinBert()
    optimizer = torch.optim.AdamW(model.parameters(), lr=2e-3, weight_decay=0.01)
    for epoch in range(10):
        model.train()
        for ids, labels in train:
            _, loss = model(ids, labels)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        model.eval()
        with torch.no_grad():
            held_out = sum(model(ids, labels)[1].item() for ids, labels in valid) / len(valid)
        print(f"epoch {epoch} loss {loss.item():.4f} validation {held_out:.4f}")


if __name__ == "__main__":
    main()
