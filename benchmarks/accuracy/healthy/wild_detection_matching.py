"""A set-prediction detector: query slots, Hungarian matching, a no-object class and an L1 box loss."""
import torch
import torch.nn.functional as F
from scipy.optimize import linear_sum_assignment
from torch import nn

SLOTS, KINDS = 5, 2


def scene(gen):
    """One to three bars, lying or standing; boxes as centre x, centre y, width, height in [0, 1]."""
    img = 0.05 * torch.randn(1, 20, 20, generator=gen)
    boxes, kinds = [], []
    for cell in torch.randperm(4, generator=gen)[: int(torch.randint(1, 4, (1,), generator=gen))].tolist():
        kind = int(torch.randint(0, 2, (1,), generator=gen))
        w, h = (8, 4) if kind == 0 else (4, 8)
        x = 10 * (cell % 2) + int(torch.randint(0, 11 - w, (1,), generator=gen))
        y = 10 * (cell // 2) + int(torch.randint(0, 11 - h, (1,), generator=gen))
        img[0, y : y + h, x : x + w] += 1
        boxes.append([(x + w / 2) / 20, (y + h / 2) / 20, w / 20, h / 20])
        kinds.append(kind)
    return img, torch.tensor(boxes), torch.tensor(kinds)


class Detector(nn.Module):
    def __init__(self, dim=48):
        super().__init__()
        self.back = nn.Sequential(
            nn.Conv2d(1, 24, 3, stride=2, padding=1), nn.ReLU(), nn.Conv2d(24, dim, 3, stride=2, padding=1), nn.ReLU()
        )
        self.place = nn.Parameter(0.1 * torch.randn(25, dim))
        self.queries = nn.Parameter(torch.randn(SLOTS, dim))
        self.cross = nn.MultiheadAttention(dim, 4, batch_first=True)
        self.norm = nn.LayerNorm(dim)
        self.mlp = nn.Sequential(nn.Linear(dim, 96), nn.ReLU(), nn.Linear(96, dim))
        self.kind, self.box = nn.Linear(dim, KINDS + 1), nn.Linear(dim, 4)

    def forward(self, img):
        mem = self.back(img).flatten(2).transpose(1, 2) + self.place
        q = self.queries.expand(len(img), -1, -1)
        q = q + self.cross(q, mem, mem, need_weights=False)[0]
        q = q + self.mlp(self.norm(q))
        return self.kind(q), self.box(q).sigmoid()


@torch.no_grad()
def match(logits, box, kinds, boxes):
    cost = 5 * torch.cdist(box, boxes, p=1) - logits.softmax(-1)[:, kinds]
    rows, cols = linear_sum_assignment(cost.numpy())
    return torch.as_tensor(rows), torch.as_tensor(cols)


def set_loss(model, batch):
    logits, box = model(torch.stack([b[0] for b in batch]))
    wanted = torch.full(logits.shape[:2], KINDS)
    l1 = []
    for i, (_, boxes, kinds) in enumerate(batch):
        r, c = match(logits[i], box[i], kinds, boxes)
        wanted[i, r] = kinds[c]
        l1.append(F.l1_loss(box[i, r], boxes[c], reduction="none").sum(1))
    ce = F.cross_entropy(logits.transpose(1, 2), wanted, weight=torch.tensor([1.0, 1.0, 0.4]))
    return ce + 5 * torch.cat(l1).mean(), torch.cat(l1).mean()


torch.manual_seed(0)
torch.set_num_threads(1)
gen = torch.Generator().manual_seed(0)
train, val = [scene(gen) for _ in range(500)], [scene(gen) for _ in range(100)]
model = Detector()
opt = torch.optim.AdamW(model.parameters(), lr=2e-3, weight_decay=1e-4)
with torch.no_grad():
    print("box error before %.3f" % set_loss(model, val)[1].item())
for epoch in range(10):
    for idx in torch.randperm(len(train), generator=gen).split(25):
        loss, _ = set_loss(model, [train[i] for i in idx.tolist()])
        opt.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        opt.step()
    if epoch % 2 == 1:
        print(f"epoch {epoch + 1} loss {loss.item():.3f}")
model.eval()
with torch.no_grad():
    print("box error after %.3f" % set_loss(model, val)[1].item())
