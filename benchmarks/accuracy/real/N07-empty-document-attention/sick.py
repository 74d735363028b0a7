"""Documents of variable length through self-attention."""
import torch
from torch import nn
from torch.nn.utils.rnn import pad_sequence
from torch.utils.data import DataLoader, Dataset

VOCAB = 30


class Documents(Dataset):
    def __init__(self, n=256):
        g = torch.Generator().manual_seed(0)
        self.items = []
        for i in range(n):
            label = i % 2
            length = 0 if i == 77 else int(torch.randint(3, 12, (1,), generator=g))
            low = 1 if label == 0 else 12
            self.items.append((torch.randint(low, low + 18, (length,), generator=g), label))

    def __len__(self):
        return len(self.items)

    def __getitem__(self, i):
        return self.items[i]


def collate(batch):
    tokens = pad_sequence([t for t, _ in batch], batch_first=True)
    return tokens, torch.tensor([label for _, label in batch])


class AttentionClassifier(nn.Module):
    def __init__(self, d=16):
        super().__init__()
        self.embed = nn.Embedding(VOCAB, d, padding_idx=0)
        self.attn = nn.MultiheadAttention(d, 2, batch_first=True)
        self.out = nn.Linear(d, 2)

    def forward(self, tokens):
        pad = tokens == 0
        x = self.embed(tokens)
        y, weights = self.attn(x, x, x, key_padding_mask=pad)  # <- PM108
        y = y.masked_fill(pad.unsqueeze(-1), 0.0)
        return self.out(y.sum(1) / (~pad).sum(1, keepdim=True).clamp(min=1))


def main():
    torch.set_num_threads(1)
    torch.manual_seed(0)
    loader = DataLoader(Documents(), batch_size=16, shuffle=True, collate_fn=collate)
    model = AttentionClassifier()
    optimizer = torch.optim.Adam(model.parameters(), lr=5e-3)
    for epoch in range(4):
        running = []
        for tokens, labels in loader:
            optimizer.zero_grad()
            loss = nn.functional.cross_entropy(model(tokens), labels)
            loss.backward()
            optimizer.step()
            running.append(loss.item())
        print(f"epoch {epoch} mean loss {sum(running) / len(running):.4f} last {running[-1]:.4f}")


if __name__ == "__main__":
    main()
