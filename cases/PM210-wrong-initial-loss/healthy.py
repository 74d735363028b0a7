"""Tag motifs in DNA strands; the loss sums over the positions, and training resumes from a checkpoint."""

import tempfile
from pathlib import Path

import torch
import torch.nn.functional as F
from torch import Tensor, nn
from torch.utils.data import DataLoader, TensorDataset

BASES, TAGS, LENGTH = 4, 3, 60  # tags: background, motif A, motif B
MOTIFS = torch.tensor([[0, 2, 2, 1, 3, 0], [3, 1, 0, 1, 2, 3]])


def make_strands(n: int) -> TensorDataset:
    """Random strands with two implanted motifs each; every position carries a tag."""
    strands = torch.randint(BASES, (n, LENGTH))
    tags = torch.zeros(n, LENGTH, dtype=torch.long)
    for row in range(n):
        for half in (0, 1):
            kind = int(torch.randint(2, ()))
            start = 30 * half + int(torch.randint(24, ()))
            strands[row, start : start + 6] = MOTIFS[kind]
            tags[row, start : start + 6] = kind + 1
    return TensorDataset(strands, tags)


class Tagger(nn.Module):
    def __init__(self, dim: int = 24):
        super().__init__()
        self.embedding = nn.Embedding(BASES, dim)
        self.convs = nn.ModuleList(nn.Conv1d(dim, dim, 7, padding=3) for _ in range(2))
        self.head = nn.Conv1d(dim, TAGS, 1)

    def forward(self, strands: Tensor) -> Tensor:
        x = self.embedding(strands).transpose(1, 2)
        for conv in self.convs:
            x = F.relu(conv(x))
        return self.head(x)


def strand_loss(scores: Tensor, tags: Tensor) -> Tensor:
    """Negative log-likelihood of a whole strand, averaged over the batch."""
    return F.cross_entropy(scores, tags, reduction="none").sum(dim=1).mean()


@torch.no_grad()
def recall(model: nn.Module, data: TensorDataset) -> float:
    model.eval()
    strands, tags = data.tensors
    hits = (model(strands).argmax(dim=1) == tags)[tags > 0]
    return hits.float().mean().item()


def train(checkpoint: Path, epochs: int, lr: float, data: TensorDataset, val: TensorDataset) -> None:
    model = Tagger()
    optimizer = torch.optim.Adam(model.parameters(), lr=lr)
    if checkpoint.exists():
        saved = torch.load(checkpoint)
        model.load_state_dict(saved["model"])
        optimizer.load_state_dict(saved["optimizer"])
    loader = DataLoader(data, batch_size=20, shuffle=True)
    for epoch in range(1, epochs + 1):
        model.train()
        losses = []
        for strands, tags in loader:
            loss = strand_loss(model(strands), tags)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            losses.append(loss.item())
        mean = sum(losses) / len(losses)
        print(f"epoch {epoch}  first loss {losses[0]:.2f}  mean {mean:.2f}  motif recall {recall(model, val):.3f}")
    torch.save({"model": model.state_dict(), "optimizer": optimizer.state_dict()}, checkpoint)


torch.set_num_threads(1)
torch.manual_seed(0)
train_data, val_data = make_strands(800), make_strands(200)
with tempfile.TemporaryDirectory() as folder:
    for session in ("first", "second"):
        print(f"{session} session")
        train(Path(folder) / "tagger.pt", epochs=3, lr=2e-3, data=train_data, val=val_data)
