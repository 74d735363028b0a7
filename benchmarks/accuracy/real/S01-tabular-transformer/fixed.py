"""Transactions as token rows through a transformer encoder: does the first field equal the last?"""
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

VOCAB, FIELDS, DIM = 6, 6, 32


class TabFormerClassifier(nn.Module):
    def __init__(self):
        super().__init__()
        self.word_embeddings = nn.Embedding(VOCAB, DIM)
        self.field_embeddings = nn.Parameter(0.1 * torch.randn(1, FIELDS, DIM))
        encoder_layer = nn.TransformerEncoderLayer(DIM, nhead=4, dim_feedforward=64, dropout=0.0, batch_first=True)
        self.encoder = nn.TransformerEncoder(encoder_layer, num_layers=2, enable_nested_tensor=False)
        self.lin_proj = nn.Linear(DIM, 2)

    def forward(self, input_ids):
        embeds = self.word_embeddings(input_ids) + self.field_embeddings
        return self.lin_proj(self.encoder(embeds).mean(dim=1))


def rows(n):
    ids = torch.randint(VOCAB, (n, FIELDS))
    same = torch.rand(n) < 0.5
    ids[same, -1] = ids[same, 0]
    return TensorDataset(ids, (ids[:, 0] == ids[:, -1]).long())


def main():
    torch.set_num_threads(1)
    torch.manual_seed(0)
    train_loader = DataLoader(rows(2048), batch_size=64, shuffle=True)
    eval_loader = DataLoader(rows(512), batch_size=128)
    model = TabFormerClassifier()
    optimizer = torch.optim.Adam(model.parameters(), lr=3e-3)
    for epoch in range(6):
        model.train()
        total = 0.0
        for ids, label in train_loader:
            loss = nn.functional.cross_entropy(model(ids), label)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            total += loss.item()
        model.eval()
        with torch.no_grad():
            hits = sum((model(ids).argmax(-1) == label).sum().item() for ids, label in eval_loader)
        print(f"epoch {epoch} loss {total / len(train_loader):.4f} eval accuracy {hits / 512:.3f}")


if __name__ == "__main__":
    main()
