"""Name that tune: melodies in major or minor keys, with a schedule counted in batches (warm-up, then steps down)."""

import torch
import torch.nn.functional as F
from torch import Tensor, nn
from torch.optim.lr_scheduler import LinearLR, StepLR
from torch.utils.data import DataLoader, TensorDataset

NOTES, LENGTH = 24, 16
SCALES = torch.tensor([[0, 2, 4, 5, 7, 9, 11], [0, 2, 3, 5, 7, 8, 10]])


def compose(n: int) -> TensorDataset:
    """Random walks on a major or minor scale in a random key, ending on the root; one note in eight is wrong."""
    minor, key = torch.randint(2, (n,)), torch.randint(12, (n,))
    steps = torch.randint(-2, 3, (n, LENGTH)).cumsum(dim=1)
    degree = (steps - steps[:, -1:]) % 7
    notes = SCALES[minor[:, None], degree] + key[:, None]
    wrong = torch.rand(n, LENGTH) < 0.125
    return TensorDataset(torch.where(wrong, torch.randint(NOTES, (n, LENGTH)), notes % NOTES), minor)


class Listener(nn.Module):
    def __init__(self, dim: int = 24, hidden: int = 48):
        super().__init__()
        self.notes = nn.Embedding(NOTES, dim)
        self.gru = nn.GRU(dim, hidden, batch_first=True)
        self.out = nn.Linear(hidden, 2)

    def forward(self, notes: Tensor) -> Tensor:
        _, state = self.gru(self.notes(notes).flip(1))
        return self.out(state[-1])


torch.set_num_threads(1)
torch.manual_seed(0)
train_loader = DataLoader(compose(1600), batch_size=32, shuffle=True)
val_notes, val_minor = compose(400).tensors
epochs, warmup = 6, 20

model = Listener()
optimizer = torch.optim.AdamW(model.parameters(), lr=5e-3)
warmup_scheduler = LinearLR(optimizer, start_factor=0.1, total_iters=warmup)
decay_scheduler = StepLR(optimizer, step_size=2 * len(train_loader), gamma=0.3)

for epoch in range(1, epochs + 1):
    model.train()
    total = 0.0
    for notes, minor in train_loader:
        loss = F.cross_entropy(model(notes), minor)
        optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        warmup_scheduler.step()
        decay_scheduler.step()
        total += loss.item()
    model.eval()
    with torch.no_grad():
        accuracy = (model(val_notes).argmax(dim=1) == val_minor).float().mean().item()
    print(
        f"epoch {epoch}: train loss {total / len(train_loader):.3f}  val accuracy {accuracy:.3f}  "
        f"learning rate {optimizer.param_groups[0]['lr']:.1e}"
    )
