import torch
from torch import nn
from torch.nn.utils.rnn import pad_sequence
from torch.utils.data import DataLoader

N_CODES, N_OUT = 40, 5


def patients(n, gen):
    """Sequences of visit codes, mostly short, a few very long; the outcome follows from the last visit."""
    rows = []
    for i in range(n):
        length = 60 if i % 20 == 0 else int(torch.randint(3, 12, (1,), generator=gen))
        codes = torch.randint(1, N_CODES, (length,), generator=gen)
        rows.append((codes, codes[-1].item() % N_OUT))
    return rows


def collate(rows):
    codes = [c for c, _ in rows]
    return pad_sequence(codes, batch_first=True), torch.tensor([len(c) for c in codes]), torch.tensor([y for _, y in rows])


class VisitModel(nn.Module):
    def __init__(self, dim=32, hidden=48):
        super().__init__()
        self.emb = nn.Embedding(N_CODES, dim, padding_idx=0)
        self.rnn = nn.RNN(dim, hidden, batch_first=True)
        self.fc = nn.Linear(hidden, N_OUT)

    def forward(self, codes, lengths):
        out, _ = self.rnn(self.emb(codes))
        last = out[:, -1]  # <- PM315
        return self.fc(last)


def run(epochs=8):
    gen = torch.Generator().manual_seed(9)
    torch.manual_seed(9)
    torch.set_num_threads(1)
    train = DataLoader(patients(1600, gen), batch_size=40, shuffle=True, collate_fn=collate, generator=gen)
    val = DataLoader(patients(400, gen), batch_size=40, collate_fn=collate)
    model = VisitModel()
    opt = torch.optim.Adam(model.parameters(), lr=3e-3)
    for epoch in range(epochs):
        model.train()
        for codes, lengths, y in train:
            loss = nn.functional.cross_entropy(model(codes, lengths), y)
            opt.zero_grad()
            loss.backward()
            opt.step()
        model.eval()
        hits = 0
        with torch.no_grad():
            for codes, lengths, y in val:
                hits += (model(codes, lengths).argmax(1) == y).sum().item()
        print(f"epoch {epoch}: loss {loss.item():.4f} val accuracy {hits / 400:.3f}")


if __name__ == "__main__":
    run()
