"""MoCo on vectors: key encoder by momentum, a queue of negatives, (N, 1+K) logits with label 0 everywhere."""

import torch
import torch.nn as nn
import torch.nn.functional as F


class MoCo(nn.Module):
    def __init__(self, make_encoder, dim=16, size=512, momentum=0.95, temperature=0.2):
        super().__init__()
        self.m, self.t, self.size = momentum, temperature, size
        self.encoder_q, self.encoder_k = make_encoder(dim), make_encoder(dim)
        for q, k in zip(self.encoder_q.parameters(), self.encoder_k.parameters()):
            k.data.copy_(q.data)
            k.requires_grad = False
        self.register_buffer("queue", F.normalize(torch.randn(dim, size), dim=0))
        self.register_buffer("pointer", torch.zeros(1, dtype=torch.long))

    @torch.no_grad()
    def _momentum_update(self):
        for q, k in zip(self.encoder_q.parameters(), self.encoder_k.parameters()):
            k.data = k.data * self.m + q.data * (1.0 - self.m)

    @torch.no_grad()
    def _enqueue(self, keys):
        start = int(self.pointer)
        self.queue[:, start : start + len(keys)] = keys.T
        self.pointer[0] = (start + len(keys)) % self.size

    def forward(self, im_q, im_k):
        q = F.normalize(self.encoder_q(im_q), dim=1)
        with torch.no_grad():
            self._momentum_update()
            k = F.normalize(self.encoder_k(im_k), dim=1)
        positive = torch.einsum("nc,nc->n", q, k).unsqueeze(-1)
        negative = torch.einsum("nc,ck->nk", q, self.queue.clone().detach())
        logits = torch.cat([positive, negative], dim=1) / self.t
        labels = torch.zeros(logits.shape[0], dtype=torch.long)
        self._enqueue(k)
        return logits, labels


def encoder(dim):
    return nn.Sequential(nn.Linear(24, 96), nn.ReLU(), nn.Linear(96, dim))


def main():
    torch.set_num_threads(1)
    torch.manual_seed(0)
    objects = torch.randn(400, 24)
    view = lambda x: x + 0.4 * torch.randn_like(x)
    model = MoCo(encoder)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.3, momentum=0.9, weight_decay=1e-4)
    criterion = nn.CrossEntropyLoss()
    for epoch in range(40):
        for rows in torch.randperm(384).split(64):
            logits, labels = model(view(objects[rows]), view(objects[rows]))
            loss = criterion(logits, labels)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        if epoch % 8 == 0:
            print(epoch, loss.item(), "top-1", (logits.argmax(1) == 0).float().mean().item())
    with torch.no_grad():
        a, b = (F.normalize(model.encoder_q(view(objects)), dim=1) for _ in range(2))
        retrieval = ((a @ b.T).argmax(1) == torch.arange(400)).float().mean().item()
    print("retrieval", retrieval)
    assert retrieval > 0.7


main()
