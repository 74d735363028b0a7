import torch
import torch.nn as nn
import torch.nn.functional as F


class GrowingDecoder(nn.Module):
    """Draws a sketch from a code, first at 4 x 4, later at 8 x 8 and 16 x 16."""

    def __init__(self, code=12, width=24):
        super().__init__()
        self.width = width
        self.stem = nn.Linear(code, width * 16)
        self.stages = nn.ModuleList()
        self.to_pixels = nn.ModuleList([nn.Conv2d(width, 1, 1)])

    def grow(self):
        self.stages.append(nn.Sequential(nn.Conv2d(self.width, self.width, 3, padding=1), nn.LeakyReLU(0.2)))
        self.to_pixels.append(nn.Conv2d(self.width, 1, 1))

    def forward(self, z):
        h = F.leaky_relu(self.stem(z).view(len(z), self.width, 4, 4), 0.2)
        for stage in self.stages:
            h = stage(F.interpolate(h, scale_factor=2))
        return self.to_pixels[len(self.stages)](h)


class Growing:
    def __init__(self, model, lr):
        self.model = model
        self.lr = lr
        self.optimizer = torch.optim.Adam(model.parameters(), lr=lr)

    def next_resolution(self):
        self.model.grow()
        new = [*self.model.stages[-1].parameters(), *self.model.to_pixels[-1].parameters()]  # <- PM402
        print(f"grown by {sum(p.numel() for p in new)} parameters")

    def fit(self, codes, images, steps, batch=32):
        for step in range(steps):
            i = torch.randint(0, len(codes), (batch,))
            loss = F.mse_loss(self.model(codes[i]), images[i])
            self.optimizer.zero_grad()
            loss.backward()
            self.optimizer.step()
        return loss.item()


def sketches(n):
    """Two soft blobs whose places, sizes and brightness are the code."""
    z = torch.rand(n, 12) * 2 - 1
    axis = torch.linspace(-1, 1, 16)
    yy, xx = torch.meshgrid(axis, axis, indexing="ij")
    img = torch.zeros(n, 16, 16)
    for k in (0, 6):
        cx, cy, s, b = (z[:, k + j, None, None] for j in range(4))
        img += (1 + b) * torch.exp(-((xx - 0.7 * cx) ** 2 + (yy - 0.7 * cy) ** 2) / (0.08 + 0.05 * s))
    return z, img[:, None]


def main():
    torch.manual_seed(8)
    torch.set_num_threads(1)
    codes, images = sketches(1500)
    val_codes, val_images = sketches(300)
    model = GrowingDecoder()
    job = Growing(model, lr=3e-3)
    for size in (4, 8, 16):
        if size > 4:
            job.next_resolution()
        loss = job.fit(codes, F.adaptive_avg_pool2d(images, size), steps=220)
        model.eval()
        with torch.no_grad():
            want = F.adaptive_avg_pool2d(val_images, size)
            val = F.mse_loss(model(val_codes), want).item() / want.var().item()
        model.train()
        print(f"{size}x{size}: loss {loss:.4f}, unexplained variance on validation {val:.3f}")


if __name__ == "__main__":
    main()
