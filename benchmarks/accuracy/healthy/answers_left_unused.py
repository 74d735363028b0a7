"""An encoder gives hidden states and a pooled vector, and the model two answers; this task needs one of each."""

import torch
import torch.nn.functional as F
from torch import nn

torch.set_num_threads(1)
torch.manual_seed(5)


class Encoder(nn.Module):
    def __init__(self, words: int = 40, width: int = 24) -> None:
        super().__init__()
        self.embedding = nn.Embedding(words, width)
        self.mixer = nn.GRU(width, width, batch_first=True, bidirectional=True)
        self.pooler = nn.Sequential(nn.Linear(2 * width, width), nn.Tanh())

    def forward(self, ids: torch.Tensor) -> dict[str, torch.Tensor]:
        states, _ = self.mixer(self.embedding(ids))
        return {"states": states, "pooled": self.pooler(states[:, 0])}


class Reviews(nn.Module):
    """Was trained on stars and on topics; the topics' head comes along."""

    def __init__(self, width: int = 24) -> None:
        super().__init__()
        self.encoder = Encoder(width=width)
        self.stars = nn.Sequential(nn.Linear(2 * width, width), nn.ReLU(), nn.Linear(width, 2))
        self.topics = nn.Linear(2 * width, 7)

    def forward(self, ids: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        summary = self.encoder(ids)["states"].mean(1)
        return self.stars(summary), F.log_softmax(self.topics(summary), dim=-1)


def reviews(count: int) -> tuple[torch.Tensor, torch.Tensor]:
    ids = torch.randint(10, 40, (count, 15))
    stars = torch.randint(2, (count,))
    ids[torch.arange(count), torch.randint(15, (count,))] = 3 + stars
    return ids, stars


ids, stars = reviews(640)
new_ids, new_stars = reviews(200)
model = Reviews()
optimizer = torch.optim.AdamW(model.parameters(), lr=3e-3)
for epoch in range(5):
    model.train()
    for chosen in torch.randperm(len(ids)).split(32):
        scores, _ = model(ids[chosen])
        loss = F.cross_entropy(scores, stars[chosen])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    model.eval()
    with torch.no_grad():
        accuracy = (model(new_ids)[0].argmax(1) == new_stars).float().mean().item()
    print(f"epoch {epoch} loss {loss.item():.3f} accuracy {accuracy:.3f}")
