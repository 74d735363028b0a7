"""A BiGRU tagger for made-up part-of-speech sequences."""
import torch
import torch.nn as nn
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence, pad_sequence
from torch.utils.data import DataLoader

VOCAB, TAGS, PAD = 60, 6, 0


def sentence(gen):
    """Tags follow a chain; a word is ambiguous between two tags, context decides."""
    n = int(torch.randint(4, 41, (), generator=gen) ** 2 / 41) + 4
    tags, words, tag = [], [], int(torch.randint(1, TAGS, (), generator=gen))
    for _ in range(n):
        step = 1 if torch.rand((), generator=gen) < 0.65 else int(torch.randint(1, 5, (), generator=gen))
        tag = (tag - 1 + step) % (TAGS - 1) + 1
        tags.append(tag)
        slot = torch.randint(0, 2, (), generator=gen).item()
        group = (tag - 1 - slot) % (TAGS - 1)
        words.append(1 + group * 11 + int(torch.randint(0, 11, (), generator=gen)))
    return torch.tensor(words), torch.tensor(tags)


def collate(batch):
    batch = sorted(batch, key=lambda b: -len(b[0]))
    lengths = torch.tensor([len(w) for w, _ in batch])
    words = pad_sequence([w for w, _ in batch], batch_first=True, padding_value=PAD)
    tags = pad_sequence([t for _, t in batch], batch_first=True, padding_value=PAD)
    return words, tags, lengths


class Tagger(nn.Module):
    def __init__(self, emb=16, hidden=24):
        super().__init__()
        self.emb = nn.Embedding(VOCAB, emb, padding_idx=PAD)
        self.rnn = nn.GRU(emb, hidden, batch_first=True, bidirectional=True)
        self.out = nn.Linear(2 * hidden, TAGS)

    def forward(self, words, lengths):
        packed = pack_padded_sequence(self.emb(words), lengths, batch_first=True)
        states, _ = pad_packed_sequence(self.rnn(packed)[0], batch_first=True)
        return self.out(states)


def decode(logits, words):
    """Best tag of every word; positions behind the sentence get the empty tag."""
    logits[..., PAD] = float("-inf")
    return logits.argmax(-1).masked_fill(words == PAD, PAD)


def tag_accuracy(model, loader):
    model.eval()
    correct = count = 0
    with torch.no_grad():
        for words, tags, lengths in loader:
            pred = decode(model(words, lengths), words)
            correct += (pred == tags).sum().item()
            count += tags.numel()
    return correct / count


def main():
    torch.manual_seed(14)
    gen = torch.Generator().manual_seed(14)
    train = [sentence(gen) for _ in range(700)]
    val = [sentence(gen) for _ in range(200)]
    train_loader = DataLoader(train, batch_size=20, shuffle=True, collate_fn=collate)
    val_loader = DataLoader(val, batch_size=50, collate_fn=collate)
    model = Tagger()
    opt = torch.optim.Adam(model.parameters(), lr=5e-3)
    loss_fn = nn.CrossEntropyLoss(ignore_index=PAD)
    for epoch in range(1, 8):
        model.train()
        total = 0.0
        for words, tags, lengths in train_loader:
            loss = loss_fn(model(words, lengths).flatten(0, 1), tags.flatten())
            opt.zero_grad()
            loss.backward()
            nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            opt.step()
            total += loss.item()
        print(f"epoch {epoch} train loss {total / len(train_loader):.4f} val tag accuracy {tag_accuracy(model, val_loader):.4f}")


main()
