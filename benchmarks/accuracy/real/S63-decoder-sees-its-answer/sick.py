"""GRU encoder-decoder that writes a number sequence backwards; trained with teacher forcing."""
import torch
import torch.nn as nn

PAD, SOS, EOS, DIGITS = 0, 1, 2, 12


def batch(size, g):
    lengths = torch.randint(4, 9, (size,), generator=g)
    src = torch.zeros(size, 8, dtype=torch.long)
    trg = torch.zeros(size, 10, dtype=torch.long)
    for row, n in enumerate(lengths.tolist()):
        digits = torch.randint(3, 3 + DIGITS, (n,), generator=g)
        src[row, :n] = digits
        trg[row, 0] = SOS
        trg[row, 1:n + 1] = digits.flip(0)
        trg[row, n + 1] = EOS
    return src, trg


class Encoder(nn.Module):
    def __init__(self, vocab, dim):
        super().__init__()
        self.embedding = nn.Embedding(vocab, dim, padding_idx=PAD)
        self.rnn = nn.GRU(dim, dim, batch_first=True)

    def forward(self, src):
        return self.rnn(self.embedding(src))[1]


class Decoder(nn.Module):
    def __init__(self, vocab, dim):
        super().__init__()
        self.embedding = nn.Embedding(vocab, dim, padding_idx=PAD)
        self.rnn = nn.GRU(dim, dim, batch_first=True)
        self.fc = nn.Linear(dim, vocab)

    def forward(self, tokens, hidden):
        output, hidden = self.rnn(self.embedding(tokens), hidden)
        return self.fc(output), hidden


class Seq2Seq(nn.Module):
    def __init__(self, vocab=3 + DIGITS, dim=48):
        super().__init__()
        self.encoder, self.decoder = Encoder(vocab, dim), Decoder(vocab, dim)

    def forward(self, src, trg):
        hidden = self.encoder(src)
        return self.decoder(trg, hidden)[0]

    @torch.no_grad()
    def translate(self, src, steps=9):
        hidden = self.encoder(src)
        token, out = torch.full((len(src), 1), SOS), []
        for _ in range(steps):
            scores, hidden = self.decoder(token, hidden)
            token = scores.argmax(-1)
            out.append(token)
        return torch.cat(out, 1)


def main():
    torch.manual_seed(0)
    g = torch.Generator().manual_seed(1)
    model = Seq2Seq()
    criterion = nn.CrossEntropyLoss(ignore_index=PAD)
    optimizer = torch.optim.Adam(model.parameters(), lr=3e-3)
    for step in range(300):
        src, trg = batch(32, g)
        output = model(src, trg[:, 1:])
        loss = criterion(output.reshape(-1, output.size(-1)), trg[:, 1:].reshape(-1))  # <- PM513
        optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        if step % 60 == 59:
            model.eval()
            src, trg = batch(64, g)
            exact = (model.translate(src) == trg[:, 1:]).masked_fill(trg[:, 1:] == PAD, True).all(1).float().mean()
            print(f"step {step} loss {loss.item():.4f} exact match {exact.item():.3f}")
            model.train()


main()
