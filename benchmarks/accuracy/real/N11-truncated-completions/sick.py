"""Supervised fine-tuning on prompt + completion pairs; the prompt is masked out of the loss."""
import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset

IGNORE, VOCAB, EOS = -100, 32, 1


class Instructions(Dataset):
    def __init__(self, n, max_length, seed=0):
        g = torch.Generator().manual_seed(seed)
        self.rows = []
        for i in range(n):
            # every fourth task comes with a long document in its prompt
            prompt_len = 40 if i % 4 == 3 else int(torch.randint(4, 12, (1,), generator=g))
            prompt = torch.randint(2, VOCAB, (prompt_len,), generator=g)
            completion = torch.cat([prompt[-3:].flip(0), torch.tensor([EOS])])
            ids = torch.cat([prompt, completion])
            labels = torch.cat([torch.full((prompt_len,), IGNORE), completion])
            self.rows.append((ids[:max_length], labels[:max_length]))

    def __len__(self):
        return len(self.rows)

    def __getitem__(self, i):
        return self.rows[i]


class CopyLM(nn.Module):
    def __init__(self, dim=32):
        super().__init__()
        self.embed = nn.Embedding(VOCAB, dim)
        self.gru = nn.GRU(dim, dim, batch_first=True)
        self.head = nn.Linear(dim, VOCAB)

    def forward(self, ids):
        return self.head(self.gru(self.embed(ids))[0])


def train(max_length):
    torch.manual_seed(0)
    loader = DataLoader(Instructions(240, max_length), batch_size=1, shuffle=True)
    model = CopyLM()
    optimizer = torch.optim.AdamW(model.parameters(), lr=3e-3)
    criterion = nn.CrossEntropyLoss(ignore_index=IGNORE)
    for epoch in range(2):
        losses = []
        for ids, labels in loader:
            logits = model(ids)
            loss = criterion(logits[:, :-1].reshape(-1, VOCAB), labels[:, 1:].reshape(-1))
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            losses.append(loss.item())
        print(f"epoch {epoch} loss {sum(losses) / len(losses):.4f}")


if __name__ == "__main__":
    torch.set_num_threads(1)
    train(max_length=32)  # <- PM508
