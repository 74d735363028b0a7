"""An optimizer that moves only the disturbance of the inputs, and makes the loss of a fixed classifier larger."""

import torch
import torch.nn.functional as F
from torch import nn

torch.set_num_threads(1)
torch.manual_seed(1)
KINDS, FEATURES, LIMIT = 4, 20, 0.6
centres = 1.5 * torch.randn(KINDS, FEATURES)
labels = torch.randint(KINDS, (200,))
inputs = centres[labels] + torch.randn(200, FEATURES)

classifier = nn.Linear(FEATURES, KINDS)  # linear discriminants, whose weights are known without training
with torch.no_grad():
    classifier.weight.copy_(centres)
    classifier.bias.copy_(-0.5 * centres.square().sum(1))
classifier.eval()

delta = torch.zeros_like(inputs, requires_grad=True)
optimizer = torch.optim.SGD([delta], lr=2.0)
for step in range(80):
    loss = -F.cross_entropy(classifier(inputs + delta), labels)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    delta.data.clamp_(-LIMIT, LIMIT)
    if step % 20 == 0:
        print(f"step {step} cross-entropy {-loss.item():.3f}")
with torch.no_grad():
    clean = (classifier(inputs).argmax(1) == labels).float().mean().item()
    attacked = (classifier(inputs + delta).argmax(1) == labels).float().mean().item()
print(f"right: {clean:.3f} as they are, {attacked:.3f} disturbed")
