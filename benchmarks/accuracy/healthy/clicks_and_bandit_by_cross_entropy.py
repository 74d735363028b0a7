"""Cross-entropy as a likelihood: of all clicks of a user (rows of many ones), and of actions times what they earned."""

import torch
import torch.nn.functional as F
from torch import nn

torch.set_num_threads(1)
torch.manual_seed(2)
USERS, ITEMS = 480, 36
clicks = (torch.rand(USERS, ITEMS) < torch.sigmoid(torch.randn(USERS, 3) @ torch.randn(3, ITEMS) - 1)).float()
seen, unseen = clicks[:400], clicks[400:]


class Tastes(nn.Module):
    def __init__(self, width: int = 24) -> None:
        super().__init__()
        self.dropout = nn.Dropout(0.3)
        self.encoder = nn.Sequential(nn.Linear(ITEMS, width), nn.Tanh(), nn.Linear(width, 6))
        self.decoder = nn.Sequential(nn.Linear(6, width), nn.Tanh(), nn.Linear(width, ITEMS))

    def forward(self, history: torch.Tensor) -> torch.Tensor:
        return self.decoder(self.encoder(self.dropout(F.normalize(history))))


model = Tastes()
optimizer = torch.optim.Adam(model.parameters(), lr=5e-3)
for epoch in range(10):
    model.train()
    for chosen in torch.randperm(len(seen)).split(40):
        history = seen[chosen]
        loss = F.cross_entropy(model(history), history)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    model.eval()
    with torch.no_grad():
        known = unseen * (torch.rand_like(unseen) < 0.7)
        best = model(known).masked_fill(known > 0, -1e9).topk(5).indices
    print(f"epoch {epoch} loss {loss.item():.3f} hits among five {unseen.gather(1, best).mean().item():.3f}")

policy = nn.Linear(6, 4)
rule = torch.randn(6, 4)
optimizer = torch.optim.Adam(policy.parameters(), lr=2e-2)
for step in range(1, 81):
    states = torch.randn(64, 6)
    scores = policy(states)
    actions = torch.multinomial(scores.softmax(1).detach(), 1)
    earned = (states @ rule).gather(1, actions).squeeze(1)
    credit = F.one_hot(actions.squeeze(1), 4) * (earned - earned.mean()).unsqueeze(1)
    loss = F.cross_entropy(scores, credit)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if step % 20 == 0:
        print(f"step {step} earned {earned.mean().item():.3f}")
