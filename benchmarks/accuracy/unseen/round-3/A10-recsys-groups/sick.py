"""Matrix factorisation with biases for star ratings, AdamW with weight decay on the factors only."""
import numpy as np
import pandas as pd
import torch
from torch import nn

N_USERS, N_ITEMS, RANK = 200, 150, 6


def ratings_frame(seed=0):
    rng = np.random.default_rng(seed)
    u, v = rng.normal(0, 0.6, (N_USERS, RANK)), rng.normal(0, 0.6, (N_ITEMS, RANK))
    bu, bi = rng.normal(0, 0.25, N_USERS), rng.normal(0, 0.3, N_ITEMS)
    pairs = rng.random((N_USERS, N_ITEMS)) < 0.45
    users, items = np.nonzero(pairs)
    score = 3.4 + bu[users] + bi[items] + (u[users] * v[items]).sum(1) + rng.normal(0, 0.2, len(users))
    df = pd.DataFrame({"user": users, "item": items, "stars": score.clip(0.5, 5.0)})
    return df.sample(frac=1, random_state=seed).reset_index(drop=True)


class BiasedMF(nn.Module):
    def __init__(self, mean, rank=8):
        super().__init__()
        self.register_buffer("mean", torch.tensor(float(mean)))
        self.user_factors = nn.Parameter(torch.randn(N_USERS, rank) * 0.1)
        self.item_factors = nn.Parameter(torch.randn(N_ITEMS, rank) * 0.1)
        self.user_bias = nn.Parameter(torch.zeros(N_USERS))
        self.item_bias = nn.Parameter(torch.zeros(N_ITEMS))
        self.mix = nn.Linear(rank, 1)

    def forward(self, user, item):
        inter = self.mix(self.user_factors[user] * self.item_factors[item]).squeeze(-1)
        return self.mean + self.user_bias[user] + self.item_bias[item] + inter


def param_groups(model, weight_decay):
    decay, no_decay = [], []
    for name, p in model.named_parameters():
        if name.endswith("bias"):
            no_decay.append(p)
        elif name.endswith("weight"):
            decay.append(p)
    return [{"params": decay, "weight_decay": weight_decay}, {"params": no_decay, "weight_decay": 0.0}]


def tensors(df):
    return torch.tensor(df.user.values), torch.tensor(df.item.values), torch.tensor(df.stars.values, dtype=torch.float32)


def rmse(model, data):
    model.eval()
    with torch.no_grad():
        u, i, s = data
        return (model(u, i).clamp(0.5, 5.0) - s).pow(2).mean().sqrt().item()


def main():
    torch.manual_seed(0)
    df = ratings_frame()
    cut = int(0.85 * len(df))
    train, test = tensors(df[:cut]), tensors(df[cut:])
    model = BiasedMF(df.stars[:cut].mean())
    opt = torch.optim.AdamW(param_groups(model, weight_decay=0.05), lr=1e-2)
    print(f"{cut} ratings for training, baseline rmse {test[2].std().item():.3f}")
    for epoch in range(15):
        model.train()
        losses = []
        for idx in torch.randperm(cut).split(256):
            u, i, s = (t[idx] for t in train)
            loss = nn.functional.mse_loss(model(u, i), s)
            opt.zero_grad()
            loss.backward()
            opt.step()
            losses.append(loss.item())
        if (epoch + 1) % 3 == 0:
            print(f"epoch {epoch + 1:2d} train mse {np.mean(losses):.4f} test rmse {rmse(model, test):.4f}")


if __name__ == "__main__":
    main()
