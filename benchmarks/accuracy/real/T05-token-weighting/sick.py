"""A bigram language model on sequences of very different length, with gradient accumulation."""
import torch
from torch import nn
from torch.nn import functional as F

VOCAB, PAD, ACCUM = 50, 0, 4


class TinyLM(nn.Module):
    def __init__(self, dim=16):
        super().__init__()
        self.wte = nn.Embedding(VOCAB, dim, padding_idx=PAD)
        self.lm_head = nn.Linear(dim, VOCAB)

    def forward(self, idx):
        return self.lm_head(self.wte(idx))


def sample_sequence(length, transitions, generator):
    tokens = [int(torch.randint(1, VOCAB, (1,), generator=generator))]
    for _ in range(length - 1):
        tokens.append(int(torch.multinomial(transitions[tokens[-1]], 1, generator=generator)))
    return torch.tensor(tokens)


def collate(sequences):
    longest = max(map(len, sequences))
    ids = torch.full((len(sequences), longest), PAD)
    for row, seq in zip(ids, sequences):
        row[: len(seq)] = seq
    inputs, targets = ids[:, :-1], ids[:, 1:].clone()
    targets[targets == PAD] = -100
    return inputs, targets


def main():
    torch.set_num_threads(1)
    torch.manual_seed(1337)
    g = torch.Generator().manual_seed(0)
    transitions = torch.softmax(3 * torch.randn(VOCAB, VOCAB, generator=g), -1)
    transitions[:, PAD] = 0
    lengths = [11 if i % 2 else 61 for i in range(240)]
    corpus = [sample_sequence(n, transitions, g) for n in lengths]
    corpus = [corpus[i] for i in torch.randperm(len(corpus), generator=g).tolist()]
    micro_batches = [collate(corpus[i:i + 1]) for i in range(0, len(corpus), 1)]

    model = TinyLM()
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-2)
    for epoch in range(2):
        for start in range(0, len(micro_batches), ACCUM):
            window = micro_batches[start:start + ACCUM]
            optimizer.zero_grad(set_to_none=True)
            window_loss = 0.0
            for inputs, targets in window:
                logits = model(inputs)
                loss = F.cross_entropy(logits.flatten(0, 1), targets.flatten(), ignore_index=-100)
                loss = loss / ACCUM  # <- PM603
                loss.backward()
                window_loss += loss.item()
            optimizer.step()
            if start % 80 == 0:
                print(f"epoch {epoch} window {start // ACCUM}: loss {window_loss:.3f}")


if __name__ == "__main__":
    main()
