"""Old-school mixed precision: a bfloat16 model, float32 master weights in the optimizer, gradients copied over by hand."""

import torch
from torch import nn
from torch.nn import functional as F

torch.set_num_threads(1)
torch.manual_seed(0)


def prep_param_lists(model):
    model_params = [p for p in model.parameters() if p.requires_grad]
    master_params = [p.detach().clone().float().requires_grad_() for p in model_params]
    for p in master_params:
        p.grad = torch.zeros_like(p)
    return model_params, master_params


def model_grads_to_master_grads(model_params, master_params):
    for model, master in zip(model_params, master_params):
        master.grad.data.copy_(model.grad.data)


def master_params_to_model_params(model_params, master_params):
    for model, master in zip(model_params, master_params):
        model.data.copy_(master.data)


model = nn.Sequential(nn.Linear(16, 64), nn.ReLU(), nn.Linear(64, 4)).bfloat16()
model_params, master_params = prep_param_lists(model)
optimizer = torch.optim.SGD(master_params, lr=0.05, momentum=0.9)
centres = torch.randn(4, 16)
for step in range(150):
    y = torch.randint(4, (64,))
    x = (centres[y] + 0.8 * torch.randn(64, 16)).bfloat16()
    loss = F.cross_entropy(model(x).float(), y)
    model.zero_grad()
    loss.backward()
    model_grads_to_master_grads(model_params, master_params)
    torch.nn.utils.clip_grad_norm_(master_params, 5.0)
    optimizer.step()
    master_params_to_model_params(model_params, master_params)
    if step % 25 == 0:
        print(step, loss.item())

with torch.no_grad():
    y = torch.randint(4, (1000,))
    accuracy = (model((centres[y] + 0.8 * torch.randn(1000, 16)).bfloat16()).argmax(1) == y).float().mean().item()
print("accuracy", accuracy)
assert accuracy > 0.9
