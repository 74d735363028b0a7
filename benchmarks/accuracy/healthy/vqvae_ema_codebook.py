"""VQ-VAE whose codebook is a moving average (after the widely copied zalandoresearch notebook)."""

import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.utils.data import DataLoader, TensorDataset


class VectorQuantizerEMA(nn.Module):
    def __init__(self, codes, dim, commitment=0.25, decay=0.95, epsilon=1e-5):
        super().__init__()
        self._embedding = nn.Embedding(codes, dim)
        self._embedding.weight.data.normal_()
        self.register_buffer("_cluster_size", torch.zeros(codes))
        self._ema_w = nn.Parameter(torch.Tensor(codes, dim))
        self._ema_w.data.normal_()
        self._codes, self._commitment, self._decay, self._epsilon = codes, commitment, decay, epsilon

    def forward(self, inputs):
        distances = (
            inputs.pow(2).sum(1, keepdim=True)
            + self._embedding.weight.pow(2).sum(1)
            - 2 * inputs @ self._embedding.weight.t()
        )
        indices = torch.argmin(distances, dim=1).unsqueeze(1)
        encodings = torch.zeros(indices.shape[0], self._codes)
        encodings.scatter_(1, indices, 1)
        quantized = encodings @ self._embedding.weight
        if self.training:
            self._cluster_size = self._cluster_size * self._decay + (1 - self._decay) * encodings.sum(0)
            n = self._cluster_size.sum()
            self._cluster_size = (self._cluster_size + self._epsilon) / (n + self._codes * self._epsilon) * n
            dw = encodings.t() @ inputs
            self._ema_w = nn.Parameter(self._ema_w * self._decay + (1 - self._decay) * dw)
            self._embedding.weight = nn.Parameter(self._ema_w / self._cluster_size.unsqueeze(1))
        loss = self._commitment * F.mse_loss(quantized.detach(), inputs)
        quantized = inputs + (quantized - inputs).detach()
        return loss, quantized, indices


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self._encoder = nn.Sequential(nn.Linear(12, 64), nn.ReLU(), nn.Linear(64, 8))
        self._vq_vae = VectorQuantizerEMA(16, 8)
        self._decoder = nn.Sequential(nn.Linear(8, 64), nn.ReLU(), nn.Linear(64, 12))

    def forward(self, x):
        loss, quantized, indices = self._vq_vae(self._encoder(x))
        return loss, self._decoder(quantized), indices


torch.set_num_threads(1)
torch.manual_seed(0)
prototypes = torch.randn(10, 12)
x = prototypes[torch.randint(10, (2000,))] + 0.1 * torch.randn(2000, 12)
variance = x.var()
loader = DataLoader(TensorDataset(x), batch_size=100, shuffle=True)
model = Model()
optimizer = torch.optim.Adam(model.parameters(), lr=2e-3, amsgrad=False)
model.train()
for epoch in range(10):
    for (batch,) in loader:
        optimizer.zero_grad()
        vq_loss, reconstruction, _ = model(batch)
        recon_error = F.mse_loss(reconstruction, batch) / variance
        loss = recon_error + vq_loss
        loss.backward()
        optimizer.step()
    print(epoch, recon_error.item(), vq_loss.item())
model.eval()
with torch.no_grad():
    _, reconstruction, indices = model(x)
print("error", F.mse_loss(reconstruction, x).item() / variance.item(), "codes in use", indices.unique().numel())
assert F.mse_loss(reconstruction, x) / variance < 0.4
