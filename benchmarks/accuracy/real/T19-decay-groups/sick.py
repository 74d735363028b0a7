"""A mini transformer that predicts the next character, with weight-decay groups as in BERT."""
import torch
from torch import nn

TEXT = ("the quick brown fox jumps over the lazy dog and then the dog chases the quick fox through the brown field "
        "while the lazy cat watches from the tall tree and waits for the night to come ") * 12


class Block(nn.Module):
    def __init__(self, d):
        super().__init__()
        self.layer_norm = nn.LayerNorm(d)
        self.attn = nn.MultiheadAttention(d, 2, batch_first=True)
        self.ffn_norm = nn.LayerNorm(d)
        self.ffn = nn.Sequential(nn.Linear(d, 2 * d), nn.GELU(), nn.Linear(2 * d, d))

    def forward(self, x, mask):
        h = self.layer_norm(x)
        x = x + self.attn(h, h, h, attn_mask=mask, need_weights=False)[0]
        return x + self.ffn(self.ffn_norm(x))


class CharModel(nn.Module):
    def __init__(self, vocab, d=32, context=32):
        super().__init__()
        self.tok = nn.Embedding(vocab, d)
        self.pos = nn.Embedding(context, d)
        self.blocks = nn.ModuleList([Block(d) for _ in range(2)])
        self.head = nn.Linear(d, vocab)
        self.register_buffer("mask", torch.triu(torch.ones(context, context, dtype=torch.bool), 1))

    def forward(self, idx):
        n = idx.shape[1]
        x = self.tok(idx) + self.pos(torch.arange(n))
        for block in self.blocks:
            x = block(x, self.mask[:n, :n])
        return self.head(x)


def get_optimizer_grouped_parameters(model, weight_decay):
    no_decay = ["bias", "LayerNorm.weight"]  # <- PM615
    return [
        {"params": [p for n, p in model.named_parameters() if not any(nd in n for nd in no_decay)],
         "weight_decay": weight_decay},
        {"params": [p for n, p in model.named_parameters() if any(nd in n for nd in no_decay)],
         "weight_decay": 0.0},
    ]


def main():
    torch.set_num_threads(1)
    torch.manual_seed(0)
    chars = sorted(set(TEXT))
    data = torch.tensor([chars.index(c) for c in TEXT])
    model = CharModel(len(chars))
    optimizer = torch.optim.AdamW(get_optimizer_grouped_parameters(model, 0.1), lr=3e-3)
    for step in range(150):
        start = torch.randint(len(data) - 33, (16,))
        chunk = torch.stack([data[s:s + 33] for s in start])
        logits = model(chunk[:, :-1])
        loss = nn.functional.cross_entropy(logits.reshape(-1, len(chars)), chunk[:, 1:].reshape(-1))
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if step % 25 == 0:
            print(step, round(loss.item(), 3))


main()
