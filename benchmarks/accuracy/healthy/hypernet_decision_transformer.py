"""A hypernetwork whose target net owns no parameters, and a decision transformer with return-to-go tokens."""

import torch
import torch.nn as nn
import torch.nn.functional as F

torch.set_num_threads(1)
torch.manual_seed(0)


class HyperNet(nn.Module):
    def __init__(self, context=3, hidden=16):
        super().__init__()
        self.shapes = [(hidden, 1), (hidden,), (1, hidden), (1,)]
        sizes = [torch.Size(s).numel() for s in self.shapes]
        self.body = nn.Sequential(nn.Linear(context, 64), nn.ReLU())
        self.heads = nn.ModuleList(nn.Linear(64, n) for n in sizes)

    def forward(self, context, x):
        h = self.body(context)
        w1, b1, w2, b2 = (head(h).view(-1, *shape) for head, shape in zip(self.heads, self.shapes))
        z = torch.tanh(torch.einsum("bni,boi->bno", x, w1) + b1.unsqueeze(1))
        return torch.einsum("bni,boi->bno", z, w2) + b2.unsqueeze(1)


hyper = HyperNet()
optimizer = torch.optim.Adam(hyper.parameters(), lr=3e-3)
for step in range(250):
    context, x = torch.rand(32, 3), 2 * torch.rand(32, 20, 1) - 1
    a, b, c = context.view(32, 3, 1, 1).unbind(1)
    y = a * torch.sin(3 * x) + b * x + c
    loss = (hyper(context, x) - y).square().mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if step % 50 == 0:
        print("hyper", step, loss.item())
assert loss < 0.05


class DecisionTransformer(nn.Module):
    def __init__(self, states=5, actions=2, d=32, horizon=6):
        super().__init__()
        self.rtg, self.state, self.action = nn.Linear(1, d), nn.Embedding(states, d), nn.Embedding(actions + 1, d)
        self.time = nn.Embedding(horizon, d)
        layer = nn.TransformerEncoderLayer(d, 2, 64, dropout=0.0, batch_first=True)
        self.blocks = nn.TransformerEncoder(layer, 1, enable_nested_tensor=False)
        self.head = nn.Linear(d, actions)

    def forward(self, rtg, state, action):
        b, t = state.shape
        time = self.time(torch.arange(t))
        tokens = torch.stack(
            [self.rtg(rtg.unsqueeze(2)) + time, self.state(state) + time, self.action(action) + time], 2
        )
        mask = torch.triu(torch.full((3 * t, 3 * t), float("-inf")), diagonal=1)
        h = self.blocks(tokens.view(b, 3 * t, -1), mask=mask)
        return self.head(h.view(b, t, 3, -1)[:, :, 1])


def trajectories(n, horizon=6):
    """Reward 1 when the action matches the parity of the state; behaviour is of mixed quality."""
    quality = torch.rand(n, 1)
    state = torch.randint(5, (n, horizon))
    action = torch.where(torch.rand(n, horizon) < quality, state % 2, 1 - state % 2)
    reward = (action == state % 2).float()
    return reward.flip(1).cumsum(1).flip(1), state, action, reward


model = DecisionTransformer()
optimizer = torch.optim.AdamW(model.parameters(), lr=3e-3)
for step in range(200):
    rtg, state, action, _ = trajectories(48)
    logits = model(rtg / 6, state, action)
    loss = F.cross_entropy(logits.reshape(-1, 2), action.reshape(-1))
    optimizer.zero_grad()
    loss.backward()
    nn.utils.clip_grad_norm_(model.parameters(), 0.25)
    optimizer.step()
    if step % 40 == 0:
        print("dt", step, loss.item())
model.eval()
with torch.no_grad():
    _, state, action, _ = trajectories(300)
    wanted = torch.arange(6, 0, -1).float().expand(300, 6)
    good = (model(wanted / 6, state, action).argmax(-1) == state % 2).float().mean().item()
print("good actions when asked for the highest return", good)
assert good > 0.75
