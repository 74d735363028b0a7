import random

import torch
import torch.nn as nn
import torch.nn.functional as F


class Tokenizer:
    """Characters; like many published tokenizers it comes without a padding token of its own."""

    def __init__(self, alphabet):
        self.symbols = list(alphabet) + ["</s>", "<pad>"]
        self.eos_token_id = self.symbols.index("</s>")
        self.pad_token_id = self.eos_token_id

    def encode(self, text):
        return [self.symbols.index(c) for c in text] + [self.eos_token_id]

    def decode(self, ids):
        return "".join(self.symbols[i] for i in ids if i != self.eos_token_id)


class Collator:
    def __init__(self, tokenizer):
        self.tokenizer = tokenizer

    def __call__(self, texts):
        rows = [self.tokenizer.encode(t) for t in texts]
        width = max(map(len, rows))
        ids = torch.tensor([r + [self.tokenizer.pad_token_id] * (width - len(r)) for r in rows])
        labels = ids.clone()
        labels[labels == self.tokenizer.pad_token_id] = -100
        return {"input_ids": ids, "labels": labels}


class CharLM(nn.Module):
    def __init__(self, vocab, width=64):
        super().__init__()
        self.embed = nn.Embedding(vocab, width)
        self.rnn = nn.GRU(width, width, batch_first=True)
        self.head = nn.Linear(width, vocab)

    def forward(self, input_ids, labels=None):
        logits = self.head(self.rnn(self.embed(input_ids))[0])
        if labels is None:
            return logits
        return F.cross_entropy(logits[:, :-1].flatten(0, 1), labels[:, 1:].flatten())


def example():
    start = random.randint(1, 9)
    return f"from {start}: " + " ".join(str(i) for i in range(start, 0, -1))


@torch.no_grad()
def generate(model, tokenizer, prompt, limit=40):
    ids = tokenizer.encode(prompt)[:-1]
    for _ in range(limit):
        best = int(model(torch.tensor([ids]))[0, -1].argmax())
        ids.append(best)
        if best == tokenizer.eos_token_id:
            break
    return ids


random.seed(33)
torch.manual_seed(33)
torch.set_num_threads(1)
tokenizer = Tokenizer("0123456789 :fromx")
collator = Collator(tokenizer)
model = CharLM(len(tokenizer.symbols))
optimizer = torch.optim.AdamW(model.parameters(), lr=4e-3)
for step in range(1, 501):
    loss = model(**collator([example() for _ in range(32)]))
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if step % 100 == 0:
        print(f"step {step} loss {loss.item():.4f}")

stopped = 0
for start in range(1, 10):
    ids = generate(model, tokenizer, f"from {start}: ")
    stopped += ids[-1] == tokenizer.eos_token_id
    if start % 4 == 1:
        print(repr(tokenizer.decode(ids)))
print(f"answers that end by themselves {stopped} of 9")
