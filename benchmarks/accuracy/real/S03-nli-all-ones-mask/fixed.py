"""Sentence-pair inference with a tiny BERT-like encoder and hand-made batches."""
import torch
from torch import nn

torch.set_num_threads(1)
PAD, CLS, SEP, VOCAB = 0, 1, 2, 40


def build_batch(samples):
    """Pad token lists to one length and build the attention mask."""
    longest = max(len(tokens) for tokens, _ in samples)
    ids = torch.tensor([tokens + [PAD] * (longest - len(tokens)) for tokens, _ in samples])
    masks = (ids != PAD).long()
    labels = torch.tensor([label for _, label in samples])
    return ids, masks, labels


class BertNLIModel(nn.Module):
    def __init__(self, dim=32, max_len=48):
        super().__init__()
        self.token = nn.Embedding(VOCAB, dim)
        self.position = nn.Embedding(max_len, dim)
        self.query, self.key, self.value = (nn.Linear(dim, dim) for _ in range(3))
        self.norm = nn.LayerNorm(dim)
        self.nli_head = nn.Linear(dim, 3)

    def forward(self, ids, attention_mask):
        x = self.token(ids) + self.position(torch.arange(ids.shape[1]))
        scores = self.query(x) @ self.key(x).transpose(1, 2) / x.shape[-1] ** 0.5
        scores = scores.masked_fill(attention_mask[:, None, :] == 0, torch.finfo(scores.dtype).min)
        x = self.norm(x + torch.softmax(scores, dim=-1) @ self.value(x))
        weights = attention_mask.unsqueeze(-1).float()
        return self.nli_head((x * weights).sum(1) / weights.sum(1))


def sentence_pairs(n, g):
    samples = []
    for _ in range(n):
        label = int(torch.randint(3, (1,), generator=g))
        premise = torch.randint(4, VOCAB, (int(torch.randint(2, 16, (1,), generator=g)),), generator=g).tolist()
        marker = [4 + label] if torch.rand(1, generator=g) < 0.9 else [7]
        hypothesis = torch.randint(8, VOCAB, (2,), generator=g).tolist() + marker
        samples.append(([CLS] + [max(t, 8) for t in premise] + [SEP] + hypothesis + [SEP], label))
    return samples


def main():
    g = torch.Generator().manual_seed(0)
    torch.manual_seed(0)
    train, dev = sentence_pairs(1200, g), sentence_pairs(300, g)
    model = BertNLIModel()
    optimizer = torch.optim.Adam(model.parameters(), lr=3e-3)
    for epoch in range(4):
        model.train()
        order = torch.randperm(len(train), generator=g).tolist()
        for start in range(0, len(order), 30):
            ids, masks, labels = build_batch([train[i] for i in order[start:start + 30]])
            loss = nn.functional.cross_entropy(model(ids, masks), labels)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        model.eval()
        with torch.no_grad():
            ids, masks, labels = build_batch(dev)
            accuracy = (model(ids, masks).argmax(-1) == labels).float().mean().item()
        print(f"epoch {epoch} loss {loss.item():.3f} dev accuracy {accuracy:.3f}")


if __name__ == "__main__":
    main()
