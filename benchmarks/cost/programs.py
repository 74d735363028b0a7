"""Programs that are expensive to watch carelessly: large tensors, loops without an optimizer, many small parts.

Each is the body of a script; `turn(n)` around the loop notes how much processor time each half of it takes.
"""

from __future__ import annotations

HEAD = """
import json, time, torch, torch.nn as nn, torch.nn.functional as F
torch.set_num_threads(1); torch.manual_seed(0)
def turn(count):
    halves = [time.process_time()]
    for i in range(count):
        if i == count // 2: halves.append(time.process_time())
        yield i
    json.dump([*halves, time.process_time()], open("halves.json", "w"))
"""

TRAIN = """
opt = torch.optim.SGD(net.parameters(), 1e-3)
for i in turn(STEPS):
    x, y = batch()
    opt.zero_grad(); loss = F.cross_entropy(net(x), y); loss.backward(); opt.step()
"""

SMALL = "net = nn.Sequential(nn.Linear(32, 64), nn.ReLU(), nn.Linear(64, 10))\n"
DATA = "def batch(): return torch.randn(16, 32), torch.randint(0, 10, (16,))\n"

LARGE_WEIGHTS = """
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(*[nn.Linear(8192, 8192, bias=False) for _ in range(4)])
        self.head = nn.Linear(8192, 10)
    def forward(self, x): return self.head(self.body(x))
net = Net()
def batch(): return torch.randn(2, 8192), torch.randint(0, 10, (2,))
"""

ONE_LARGE_WEIGHT = """
class Net(nn.Module):
    def __init__(self):
        super().__init__(); self.table = nn.Embedding(2_000_000, 128); self.head = nn.Linear(128, 10)
    def forward(self, x): return self.head(self.table(x).mean(1))
net = Net()
def batch(): return torch.randint(0, 2_000_000, (16, 8)), torch.randint(0, 10, (16,))
"""

LARGE_BUFFER = """
class Net(nn.Module):
    def __init__(self):
        super().__init__(); self.register_buffer("bank", torch.randn(4_700_000, 64)); self.head = nn.Linear(64, 10)
    def forward(self, x): return self.head(x + self.bank[:16])
net = Net()
def batch(): return torch.randn(16, 64), torch.randint(0, 10, (16,))
"""

LARGE_BATCHES = """
class Net(nn.Module):
    def __init__(self):
        super().__init__(); self.head = nn.Linear(64, 10)
    def forward(self, x): return self.head(x.mean(1))
net = Net()
def batch(): return torch.randn(16, 73_000, 64), torch.randint(0, 10, (16,))
"""

LARGE_LOADED_BATCHES = """
class Net(nn.Module):
    def __init__(self):
        super().__init__(); self.head = nn.Linear(64, 10)
    def forward(self, x): return self.head(x.mean(1))
class Data(torch.utils.data.Dataset):
    def __len__(self): return 16 * 12
    def __getitem__(self, i): return torch.full((73_000, 64), float(i)), i % 10
net = Net()
loader = torch.utils.data.DataLoader(Data(), batch_size=16, shuffle=True)
batches = iter([])
def batch():
    global batches
    found = next(batches, None)
    if found is None: batches = iter(loader); found = next(batches)
    return found
"""

LARGE_ACTIVATIONS = """
net = nn.Sequential(nn.Conv2d(3, 64, 3, padding=1), nn.ReLU(), nn.Conv2d(64, 8, 1), nn.ReLU(),
    nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(8, 10))
def batch(): return torch.randn(8, 3, 448, 448), torch.randint(0, 10, (8,))
"""

BY_HAND = """
for i in turn(STEPS):
    x, y = batch()
    loss = F.cross_entropy(net(x), y); loss.backward()
    with torch.no_grad():
        for p in net.parameters(): p -= 1e-3 * p.grad; p.grad = None
"""

BY_GRAD = """
for i in turn(STEPS):
    x, y = batch()
    grads = torch.autograd.grad(F.cross_entropy(net(x), y), list(net.parameters()))
    with torch.no_grad():
        for p, g in zip(net.parameters(), grads): p -= 1e-3 * g
"""

NO_BACKWARD = """
total = 0.0
for i in turn(STEPS):
    x, y = batch()
    total += F.cross_entropy(net(x), y).item()
"""

INFERENCE = """
net.eval(); hits = 0
with torch.no_grad():
    for i in turn(STEPS):
        x, y = batch()
        hits += (net(x).argmax(1) == y).sum().item()
"""

OWN_OPTIMIZER = """
class Mine:
    def __init__(self, parameters): self.parameters = list(parameters)
    def zero_grad(self):
        for p in self.parameters: p.grad = None
    @torch.no_grad()
    def step(self):
        for p in self.parameters: p.sub_(1e-3 * p.grad)
opt = Mine(net.parameters())
for i in turn(STEPS):
    x, y = batch()
    opt.zero_grad(); loss = F.cross_entropy(net(x), y); loss.backward(); opt.step()
"""

MANY_TENSORS = """
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.scales = nn.ParameterList([nn.Parameter(torch.ones(4)) for _ in range(COUNT)])
        self.head = nn.Linear(4, 10)
    def forward(self, x):
        return self.head(x * torch.stack(list(self.scales)).mean(0))
net = Net()
def batch(): return torch.randn(16, 4), torch.randint(0, 10, (16,))
"""

MANY_MODULES = """
class Block(nn.Module):
    def __init__(self):
        super().__init__(); self.norm = nn.LayerNorm(32); self.up = nn.Linear(32, 64); self.down = nn.Linear(64, 32)
    def forward(self, x): return x + self.down(F.gelu(self.up(self.norm(x))))
net = nn.Sequential(*[Block() for _ in range(COUNT)], nn.Linear(32, 10))
"""

# name: source, steps
PROGRAMS: dict[str, tuple[str, int]] = {
    "1 GB of weights": (LARGE_WEIGHTS + TRAIN, 12),
    "a weight of 1 GB": (ONE_LARGE_WEIGHT + TRAIN, 12),
    "a buffer of 1.2 GB": (LARGE_BUFFER + TRAIN, 200),
    "batches of 300 MB": (LARGE_BATCHES + TRAIN, 16),
    "batches of 300 MB, loader": (LARGE_LOADED_BATCHES + TRAIN, 24),
    "activations of 400 MB": (LARGE_ACTIVATIONS + TRAIN, 16),
    "updates by hand": (SMALL + DATA + BY_HAND, 40_000),
    "updates by hand, autograd.grad": (SMALL + DATA + BY_GRAD, 40_000),
    "an optimizer of its own": (SMALL + DATA + OWN_OPTIMIZER, 40_000),
    "never a backward": (SMALL + DATA + NO_BACKWARD, 60_000),
    "inference": (SMALL + DATA + INFERENCE, 60_000),
    "10,000 parameter tensors": (MANY_TENSORS.replace("COUNT", "10_000") + TRAIN, 100),
    "4,000 parameter tensors": (MANY_TENSORS.replace("COUNT", "4_000") + TRAIN, 300),
    "800 modules, 30 steps": (MANY_MODULES.replace("COUNT", "200") + DATA + TRAIN, 30),
    "800 modules, 600 steps": (MANY_MODULES.replace("COUNT", "200") + DATA + TRAIN, 600),
}
