"""Name -> country with a packed GRU. Batches are sorted by length before packing."""
import torch
import torch.nn as nn
from torch.nn.utils.rnn import pack_padded_sequence, pad_sequence
from torch.utils.data import DataLoader

LETTERS, COUNTRIES = 27, 4


def names(n, seed):
    g = torch.Generator().manual_seed(seed)
    habit = (torch.randn(COUNTRIES, LETTERS - 1, generator=torch.Generator().manual_seed(8)) * 1.2).softmax(1)
    rows = []
    for _ in range(n):
        country = int(torch.randint(0, COUNTRIES, (), generator=g))
        size = int(torch.randint(3, 14, (), generator=g))
        rows.append((1 + torch.multinomial(habit[country], size, True, generator=g), country))
    return rows


def collate(rows):
    lengths = torch.tensor([len(name) for name, _ in rows])
    names_ = pad_sequence([name for name, _ in rows], batch_first=True)
    countries = torch.tensor([country for _, country in rows])
    lengths, order = lengths.sort(descending=True)
    return names_[order], lengths, countries  # <- PM311


class NameGRU(nn.Module):
    def __init__(self, dim=24, hidden=48):
        super().__init__()
        self.embed = nn.Embedding(LETTERS, dim, padding_idx=0)
        self.gru = nn.GRU(dim, hidden, batch_first=True)
        self.fc = nn.Linear(hidden, COUNTRIES)

    def forward(self, batch, lengths):
        packed = pack_padded_sequence(self.embed(batch), lengths, batch_first=True)
        _, hidden = self.gru(packed)
        return self.fc(hidden[-1])


def accuracy(model, loader):
    model.eval()
    with torch.no_grad():
        pairs = [(model(names_, lengths).argmax(1), countries) for names_, lengths, countries in loader]
    model.train()
    return (torch.cat([p for p, _ in pairs]) == torch.cat([c for _, c in pairs])).float().mean().item()


if __name__ == "__main__":
    torch.manual_seed(0)
    train_loader = DataLoader(names(900, 0), batch_size=30, shuffle=True, collate_fn=collate)
    test_loader = DataLoader(names(200, 1), batch_size=40, collate_fn=collate)
    net = NameGRU()
    optimizer = torch.optim.Adam(net.parameters(), lr=3e-3)
    loss_fn = nn.CrossEntropyLoss()
    for epoch in range(8):
        for names_, lengths, countries in train_loader:
            optimizer.zero_grad()
            loss = loss_fn(net(names_, lengths), countries)
            loss.backward()
            optimizer.step()
        print(f"epoch {epoch} loss {loss.item():.3f} accuracy {accuracy(net, test_loader):.3f}")
