"""Linear-chain CRF on top of a BiGRU: forward algorithm for training, Viterbi for decoding."""
import torch
from torch import nn
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence, pad_sequence
from torch.utils.data import DataLoader

TAGS = ["O", "B", "I"]
VOCAB = 50


def sentence(gen):
    """Entities start with a marker word that is only sometimes visible and are two to four words long."""
    r = lambda a, b: int(torch.randint(a, b, (), generator=gen))
    words, tags = [], []
    while len(words) < r(8, 20):
        if r(0, 3) == 0:
            size = r(2, 5)
            words += [r(1, 8) if r(0, 10) else r(20, 50)] + [r(8, 20) if r(0, 10) else r(20, 50) for _ in range(size - 1)]
            tags += [1] + [2] * (size - 1)
        else:
            words.append(r(20, 50) if r(0, 8) else r(1, 20))
            tags.append(0)
    return torch.tensor(words), torch.tensor(tags)


def collate(batch):
    batch = sorted(batch, key=lambda b: -len(b[0]))
    words = pad_sequence([w for w, _ in batch], batch_first=True)
    tags = pad_sequence([t for _, t in batch], batch_first=True)
    return words, tags, torch.tensor([len(w) for w, _ in batch])


class CRF(nn.Module):
    def __init__(self, n):
        super().__init__()
        self.start = nn.Parameter(torch.zeros(n))
        self.end = nn.Parameter(torch.zeros(n))
        self.trans = nn.Parameter(torch.zeros(n, n))

    def negative_log_likelihood(self, emit, tags, mask):
        rows = torch.arange(len(tags))
        gold = self.start[tags[:, 0]] + emit[rows, 0, tags[:, 0]]
        alpha = self.start + emit[:, 0]
        for t in range(1, emit.size(1)):
            on = mask[:, t]
            step = self.trans[tags[:, t - 1], tags[:, t]] + emit[rows, t, tags[:, t]]
            gold = gold + step * on
            nxt = torch.logsumexp(alpha.unsqueeze(2) + self.trans, dim=1) + emit[:, t]
            alpha = torch.where(on.unsqueeze(1), nxt, alpha)
        last = tags.gather(1, mask.sum(1, keepdim=True) - 1).squeeze(1)
        return (torch.logsumexp(alpha + self.end, dim=1) - gold - self.end[last]).mean()

    @torch.no_grad()
    def viterbi(self, emit):
        score, back = self.start + emit[0], []
        for t in range(1, len(emit)):
            best, index = (score.unsqueeze(1) + self.trans).max(0)
            score = best + emit[t]
            back.append(index)
        path = [int((score + self.end).argmax())]
        for index in reversed(back):
            path.append(int(index[path[-1]]))
        return torch.tensor(path[::-1])


class Tagger(nn.Module):
    def __init__(self, emb=16, hidden=20):
        super().__init__()
        self.emb = nn.Embedding(VOCAB, emb, padding_idx=0)
        self.rnn = nn.GRU(emb, hidden, batch_first=True, bidirectional=True)
        self.emit = nn.Linear(2 * hidden, len(TAGS))
        self.crf = CRF(len(TAGS))

    def emissions(self, words, lengths):
        packed = pack_padded_sequence(self.emb(words), lengths, batch_first=True)
        return self.emit(pad_packed_sequence(self.rnn(packed)[0], batch_first=True)[0])


def main():
    torch.manual_seed(1)
    gen = torch.Generator().manual_seed(1)
    train, val = [sentence(gen) for _ in range(800)], [sentence(gen) for _ in range(120)]
    loader = DataLoader(train, batch_size=25, shuffle=True, collate_fn=collate)
    val_loader = DataLoader(val, batch_size=60, collate_fn=collate)
    model = Tagger()
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
    for epoch in range(1, 6):
        model.train()
        total = 0.0
        for words, tags, lengths in loader:
            loss = model.crf.negative_log_likelihood(model.emissions(words, lengths), tags, words > 0)
            optimizer.zero_grad()
            loss.backward()
            nn.utils.clip_grad_norm_(model.parameters(), 5.0)
            optimizer.step()
            total += loss.item()
        model.eval()
        right = count = 0
        with torch.no_grad():
            for words, tags, lengths in val_loader:
                emit = model.emissions(words, lengths)
                for e, t, n in zip(emit, tags, lengths.tolist()):
                    right += (model.crf.viterbi(e[:n]) == t[:n]).sum().item()
                    count += n
        print(f"epoch {epoch} nll per sentence {total / len(loader):.3f} val tag accuracy {right / count:.4f}")


if __name__ == "__main__":
    main()
