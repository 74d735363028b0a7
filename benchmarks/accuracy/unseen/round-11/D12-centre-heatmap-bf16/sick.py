# centre-point detector: predict a gaussian heatmap, bf16 autocast
import math
import torch
import torch.nn as nn

torch.set_num_threads(1)
torch.manual_seed(21)

S, STRIDE, N_OBJ = 32, 2, 3
G = S // STRIDE


def make_batch(n, gen):
    img = 0.15 * torch.randn(n, 1, S, S, generator=gen)
    heat = torch.zeros(n, 1, G, G)
    yy, xx = torch.meshgrid(torch.arange(G).float(), torch.arange(G).float(), indexing="ij")
    for i in range(n):
        for _ in range(N_OBJ):
            cy, cx = torch.randint(1, G - 1, (2,), generator=gen).tolist()
            img[i, 0, cy * 2 - 1:cy * 2 + 2, cx * 2] += 2.0
            img[i, 0, cy * 2, cx * 2 - 1:cx * 2 + 2] += 2.0
            g = torch.exp(-((yy - cy) ** 2 + (xx - cx) ** 2) / (2 * 0.8 ** 2))
            heat[i, 0] = torch.maximum(heat[i, 0], g)
    return img, heat


class HeatNet(nn.Module):
    def __init__(self, c=12):
        super().__init__()
        self.net = nn.Sequential(
            nn.Conv2d(1, c, 3, padding=1), nn.ReLU(),
            nn.Conv2d(c, c, 3, stride=STRIDE, padding=1), nn.ReLU(),
            nn.Conv2d(c, c, 3, padding=1), nn.ReLU(),
            nn.Conv2d(c, 1, 1),
        )
        self.net[-1].bias.data.fill_(-math.log(9.0))

    def forward(self, x):
        return self.net(x)


def focal_loss(logits, gt, alpha=2, beta=4):
    pred = torch.clamp(torch.sigmoid(logits), min=1e-4, max=1 - 1e-4)
    pos = gt.eq(1).to(pred.dtype)
    neg = 1 - pos
    neg_w = torch.pow(1 - gt, beta)
    pos_loss = torch.log(pred) * torch.pow(1 - pred, alpha) * pos
    neg_loss = torch.log(1 - pred) * torch.pow(pred, alpha) * neg_w * neg
    return -(pos_loss.sum() + neg_loss.sum()) / pos.sum().clamp(min=1)


def peak_f1(logits, gt, thr=0.4):
    p = torch.sigmoid(logits.float())
    peaks = (nn.functional.max_pool2d(p, 3, 1, 1) == p) & (p > thr)
    true = gt.eq(1)
    tp = (peaks & true).sum().item()
    return 2 * tp / max(1, peaks.sum().item() + true.sum().item())


gen = torch.Generator().manual_seed(8)
data = [make_batch(12, gen) for _ in range(16)]
test_img, test_heat = make_batch(40, gen)
model = HeatNet()
opt = torch.optim.Adam(model.parameters(), lr=1e-2)
for epoch in range(6):
    tot = 0.0
    for k in torch.randperm(len(data)).tolist():
        img, heat = data[k]
        with torch.autocast("cpu", dtype=torch.bfloat16):
            out = model(img)
            loss = focal_loss(out, heat)
        opt.zero_grad()
        loss.backward()
        opt.step()
        tot += loss.item() / len(data)
    with torch.no_grad(), torch.autocast("cpu", dtype=torch.bfloat16):
        f1 = peak_f1(model(test_img), test_heat)
    print(f"epoch {epoch + 1} loss {tot:.4f} test peak F1 {f1:.4f}")
