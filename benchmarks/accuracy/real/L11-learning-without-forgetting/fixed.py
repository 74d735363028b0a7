"""Learning without forgetting: the second task keeps the outputs of the previous model on the old classes."""
import copy

import torch
from torch import nn
from torch.nn import functional as F
from torch.utils.data import DataLoader, TensorDataset

torch.set_num_threads(1)


class MultiTaskHead(nn.Module):
    def __init__(self, in_features, n_units):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(in_features, 48), nn.ReLU())
        self.classifier = nn.Linear(48, n_units)

    def forward(self, x):
        return self.classifier(self.body(x))


class LwF:
    """Keeps a copy of the model at the end of each experience."""

    def __init__(self, alpha, temperature):
        self.alpha, self.temperature = alpha, temperature
        self.prev_model, self.prev_classes = None, []

    def _distillation_loss(self, out, prev_out, active_units):
        log_p = torch.log_softmax(out[:, active_units] / self.temperature, dim=1)
        q = torch.softmax(prev_out[:, active_units] / self.temperature, dim=1)
        return F.kl_div(log_p, q, reduction="batchmean")

    def __call__(self, x, out):
        if self.prev_model is None:
            return 0.0
        with torch.no_grad():
            prev_out = self.prev_model(x)
        return self.alpha * self._distillation_loss(out, prev_out, self.prev_classes)

    def update(self, model, classes):
        self.prev_model = copy.deepcopy(model).eval().requires_grad_(False)
        self.prev_classes = sorted(set(self.prev_classes) | set(classes))


def experience(classes, centers, n=600):
    y = torch.tensor(classes)[torch.randint(len(classes), (n,))]
    return TensorDataset(centers[y] + torch.randn(n, 16), y)


if __name__ == "__main__":
    torch.manual_seed(5)
    centers = 1.6 * torch.randn(10, 16)
    model = MultiTaskHead(16, 10)
    with torch.no_grad():
        model.classifier.bias[5:] = 3.0
    lwf = LwF(alpha=0.5, temperature=2.0)
    for number, classes in enumerate(([0, 1, 2, 3, 4], [0, 1, 2, 3, 4, 5, 6])):
        loader = DataLoader(experience(classes, centers), batch_size=50, shuffle=True)
        optimizer = torch.optim.SGD(model.parameters(), lr=0.05 if number else 0.01, momentum=0.9)
        for epoch in range(5 if number else 1):
            model.train()
            for x, y in loader:
                out = model(x)
                penalty = lwf(x, out)
                loss = F.cross_entropy(out, y) + penalty
                optimizer.zero_grad()
                loss.backward()
                optimizer.step()
            print(f"experience {number} epoch {epoch} loss {loss.item():.3f} penalty {float(torch.as_tensor(penalty).detach()):.4f}")
        lwf.update(model, classes)
