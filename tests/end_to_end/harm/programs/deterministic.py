"""Deterministic algorithms demanded, filled memory, and a check of every switch at the end."""

import torch
import torch.nn.functional as F
from torch import nn

torch.manual_seed(0)
torch.set_num_threads(1)

torch.use_deterministic_algorithms(True, warn_only=False)
torch.utils.deterministic.fill_uninitialized_memory = True
torch.set_printoptions(precision=3, sci_mode=False)
torch.set_float32_matmul_precision("high")
torch.set_default_dtype(torch.float64)
model = nn.Sequential(nn.Linear(8, 16), nn.ReLU(), nn.Linear(16, 3))
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for step in range(30):
    x = torch.randn(16, 8)
    y = x[:, :3].argmax(1)
    loss = F.cross_entropy(model(x), y)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print(step, loss.item())
print(torch.are_deterministic_algorithms_enabled(), torch.get_float32_matmul_precision(), torch.get_default_dtype())
print(torch.empty(3), torch.get_num_threads(), torch.is_grad_enabled(), torch.is_anomaly_enabled(), model[0].bias)
print(torch.backends.mkldnn.enabled, torch._C._get_warnAlways(), torch.get_default_device())
