"""Character-level generator for short product codes (a prefix decides how the code continues)."""
import random

import torch
import torch.nn as nn
import torch.nn.functional as F

CHARS = "abcdefgh0123456789-"
EOS = 0
stoi = {c: i + 1 for i, c in enumerate(CHARS)}
itos = {i: c for c, i in stoi.items()}
VOCAB = len(CHARS) + 2
PAD = len(CHARS) + 1
IGNORE = -100


def sample_code(rng):
    """letter, dash, that letter's number repeated n times, dash, the letters in reverse"""
    word = [rng.choice("abcdefgh") for _ in range(rng.randint(2, 4))]
    digit = str("abcdefgh".index(word[0]))
    return "".join(word) + "-" + digit * len(word) + "-" + "".join(reversed(word))


def encode(code):
    return [stoi[c] for c in code] + [EOS]


def make_batch(codes):
    ids = [encode(c) for c in codes]
    width = max(map(len, ids))
    x = torch.full((len(ids), width), PAD)
    for row, seq in enumerate(ids):
        x[row, :len(seq)] = torch.tensor(seq)
    inputs, labels = x[:, :-1], x[:, 1:].clone()
    labels[labels == PAD] = IGNORE
    return inputs, labels


class CodeLM(nn.Module):
    def __init__(self, dim=48, hidden=128):
        super().__init__()
        self.emb = nn.Embedding(VOCAB, dim)
        self.rnn = nn.GRU(dim, hidden, batch_first=True)
        self.out = nn.Linear(hidden, VOCAB)

    def forward(self, ids, state=None):
        h, state = self.rnn(self.emb(ids), state)
        return self.out(h), state

    @torch.no_grad()
    def complete(self, prompt, max_new=24):
        self.eval()
        ids = torch.tensor([[stoi[c] for c in prompt]])
        state, text = None, prompt
        for _ in range(max_new):
            logits, state = self(ids, state)
            nxt = logits[0, -1].argmax().item()
            if nxt == EOS:
                break
            text += itos[nxt]
            ids = torch.tensor([[nxt]])
        return text


def exact_match(model, codes):
    hits, lengths = 0, []
    for code in codes:
        prompt = code[:code.index("-") + 1]
        text = model.complete(prompt)
        hits += text == code
        lengths.append(len(text) - len(code))
    return hits / len(codes), sum(lengths) / len(lengths)


def train(steps=400, batch_size=48):
    rng = random.Random(0)
    torch.manual_seed(0)
    model = CodeLM()
    opt = torch.optim.AdamW(model.parameters(), lr=4e-3)
    sched = torch.optim.lr_scheduler.OneCycleLR(opt, max_lr=6e-3, total_steps=steps)
    test_codes = [sample_code(random.Random(10_000 + i)) for i in range(60)]
    for step in range(1, steps + 1):
        model.train()
        inputs, labels = make_batch([sample_code(rng) for _ in range(batch_size)])
        logits, _ = model(inputs)
        loss = F.cross_entropy(logits.reshape(-1, VOCAB), labels.reshape(-1), ignore_index=IGNORE)
        opt.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        opt.step()
        sched.step()
        if step % 100 == 0:
            em, extra = exact_match(model, test_codes)
            print(f"step {step} loss {loss.item():.3f} exact match {em:.2f} extra characters {extra:+.1f}")
    print("sample:", model.complete("cab-"))


if __name__ == "__main__":
    train()
