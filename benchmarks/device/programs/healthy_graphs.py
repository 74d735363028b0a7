"""A training step captured as a CUDA graph and replayed."""

import torch
from torch import nn

torch.manual_seed(0)
device = torch.device("cuda")
model = nn.Sequential(nn.Linear(32, 128), nn.ReLU(), nn.Linear(128, 5)).to(device)
optimizer = torch.optim.Adam(model.parameters(), lr=1e-3, capturable=True)
inputs = torch.randn(256, 32, device=device)
labels = torch.randint(0, 5, (256,), device=device)
data = torch.randn(64, 256, 32, device=device)
targets = data[..., :5].argmax(-1)
side = torch.cuda.Stream()
side.wait_stream(torch.cuda.current_stream())
with torch.cuda.stream(side):
    for _ in range(3):
        optimizer.zero_grad(set_to_none=True)
        loss = nn.functional.cross_entropy(model(inputs), labels)
        loss.backward()
        optimizer.step()
torch.cuda.current_stream().wait_stream(side)
graph = torch.cuda.CUDAGraph()
optimizer.zero_grad(set_to_none=True)
with torch.cuda.graph(graph):
    loss = nn.functional.cross_entropy(model(inputs), labels)
    loss.backward()
    optimizer.step()
for step in range(300):
    inputs.copy_(data[step % 64])
    labels.copy_(targets[step % 64])
    graph.replay()
    if step % 100 == 99:
        print(step, round(loss.item(), 4))
