"""Add three special tokens to a pretrained embedding and train only a classifier on top."""
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

torch.set_num_threads(1)
VOCAB, PADDED, DIM = 50, 64, 16
NEW_TOKENS = ["<tool>", "<answer>", "<think>"]


class Tokenizer:
    def __init__(self):
        self.vocab = {f"tok{i}": i for i in range(VOCAB)}

    def add_tokens(self, names):
        for name in names:
            self.vocab[name] = len(self.vocab)
        return len(names)

    def convert_tokens_to_ids(self, names):
        return [self.vocab[name] for name in names]


class Classifier(nn.Module):
    def __init__(self, embedding):
        super().__init__()
        self.embed_tokens = embedding
        self.hidden = nn.Linear(DIM, 32)
        self.score = nn.Linear(32, 3)

    def forward(self, ids):
        return self.score(torch.relu(self.hidden(self.embed_tokens(ids).mean(1))))


def pretrained_embedding():
    """The matrix is padded to a multiple of 64; rows beyond the vocabulary are zero."""
    table = nn.Embedding(PADDED, DIM)
    with torch.no_grad():
        table.weight[VOCAB:] = 0
    return table


def noisy_mean_initialization(embed_weight, num_new_tokens, tokenizer):
    with torch.no_grad():
        mean = embed_weight[:VOCAB].mean(0)
        noise = torch.randn(num_new_tokens, DIM)
        embed_weight[-num_new_tokens:] = mean + noise  # <- PM409


def conversations(n, tokenizer):
    special = torch.tensor(tokenizer.convert_tokens_to_ids(NEW_TOKENS))
    label = torch.randint(3, (n,))
    ids = torch.randint(VOCAB, (n, 7))
    ids[:, 3:5] = special[label].unsqueeze(1)
    return TensorDataset(ids, label)


def main():
    torch.manual_seed(0)
    tokenizer = Tokenizer()
    embedding = pretrained_embedding()
    added = tokenizer.add_tokens(NEW_TOKENS)
    noisy_mean_initialization(embedding.weight, added, tokenizer)
    model = Classifier(embedding)
    model.embed_tokens.requires_grad_(False)
    loader = DataLoader(conversations(1200, tokenizer), batch_size=40, shuffle=True)
    optimizer = torch.optim.Adam([p for p in model.parameters() if p.requires_grad], lr=5e-3)
    for epoch in range(6):
        hits = 0
        for ids, label in loader:
            logits = model(ids)
            loss = nn.functional.cross_entropy(logits, label)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            hits += (logits.argmax(1) == label).sum().item()
        print(f"epoch {epoch} loss {loss.item():.3f} accuracy {hits / 1200:.3f}")


if __name__ == "__main__":
    main()
