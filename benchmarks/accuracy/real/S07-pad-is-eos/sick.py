"""Fine-tune a tiny causal LM on short answers; the tokenizer has no pad token of its own."""
import torch
from torch import nn
from torch.utils.data import DataLoader

VOCAB = 24


class Tokenizer:
    eos_token_id = 0
    pad_token_id = eos_token_id  # <- PM323

    def __len__(self):
        return VOCAB + 1


class DataCollatorForLanguageModeling:
    def __init__(self, tokenizer):
        self.tokenizer = tokenizer

    def __call__(self, examples):
        longest = max(len(e) for e in examples)
        pad = self.tokenizer.pad_token_id
        input_ids = torch.tensor([e + [pad] * (longest - len(e)) for e in examples])
        labels = input_ids.clone()
        labels[labels == pad] = -100
        return {"input_ids": input_ids, "labels": labels}


class CausalLM(nn.Module):
    def __init__(self, vocab, dim=32):
        super().__init__()
        self.embed = nn.Embedding(vocab, dim)
        self.rnn = nn.GRU(dim, dim, batch_first=True)
        self.lm_head = nn.Linear(dim, vocab)

    def forward(self, input_ids, labels=None):
        hidden, _ = self.rnn(self.embed(input_ids))
        logits = self.lm_head(hidden)
        if labels is None:
            return logits
        return nn.functional.cross_entropy(logits[:, :-1].flatten(0, 1), labels[:, 1:].flatten()), logits


def corpus(n, eos):
    """Ascending runs of 3 to 8 tokens, each closed by the end-of-sequence token."""
    rows = []
    for i in range(n):
        start, length = 1 + i % 10, 3 + i % 6
        rows.append([start + k for k in range(length)] + [eos])
    return rows


def main():
    torch.set_num_threads(1)
    torch.manual_seed(0)
    tokenizer = Tokenizer()
    loader = DataLoader(corpus(480, tokenizer.eos_token_id), batch_size=32, shuffle=True,
                        collate_fn=DataCollatorForLanguageModeling(tokenizer))
    model = CausalLM(len(tokenizer))
    optimizer = torch.optim.AdamW(model.parameters(), lr=5e-3)
    for epoch in range(8):
        for batch in loader:
            loss, _ = model(**batch)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        print(f"epoch {epoch} loss {loss.item():.3f}")
    ids = [3]
    with torch.no_grad():
        while ids[-1] != tokenizer.eos_token_id and len(ids) < 30:
            ids.append(int(model(torch.tensor([ids]))[0, -1].softmax(-1).multinomial(1)))
    print("generated", ids)


if __name__ == "__main__":
    main()
