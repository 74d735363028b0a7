"""Click-through prediction: 4 % clicks, so no probability passes 0.5, and the ranking is what counts."""

import torch
from sklearn.metrics import log_loss, roc_auc_score
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

torch.set_num_threads(1)
torch.manual_seed(0)

USERS, ADS, ROWS = 60, 30, 16_000
taste, appeal = torch.randn(USERS, 4), torch.randn(ADS, 4)


def log_of_clicks(n):
    user, ad = torch.randint(USERS, (n,)), torch.randint(ADS, (n,))
    chance = torch.sigmoid(-3.6 + 0.5 * (taste[user] * appeal[ad]).sum(1)).clamp(max=0.4)
    return user, ad, torch.bernoulli(chance)


class Factorisation(nn.Module):
    def __init__(self, rank=4):
        super().__init__()
        self.user, self.ad = nn.Embedding(USERS, rank), nn.Embedding(ADS, rank)
        self.user_bias, self.ad_bias = nn.Embedding(USERS, 1), nn.Embedding(ADS, 1)
        self.bias = nn.Parameter(torch.tensor(-3.0))
        for table in (self.user, self.ad, self.user_bias, self.ad_bias):
            nn.init.normal_(table.weight, std=0.1)

    def forward(self, user, ad):
        dot = (self.user(user) * self.ad(ad)).sum(1)
        return dot + self.user_bias(user).squeeze(1) + self.ad_bias(ad).squeeze(1) + self.bias


train_set, test = TensorDataset(*log_of_clicks(ROWS)), log_of_clicks(6000)
loader = DataLoader(train_set, batch_size=256, shuffle=True)
model = Factorisation()
criterion = nn.BCEWithLogitsLoss()
optimizer = torch.optim.Adam(model.parameters(), lr=1e-2, weight_decay=1e-5)
for epoch in range(4):
    model.train()
    for user, ad, click in loader:
        optimizer.zero_grad()
        loss = criterion(model(user, ad), click)
        loss.backward()
        optimizer.step()
    model.eval()
    with torch.no_grad():
        probability = torch.sigmoid(model(*test[:2]))
    print(epoch, loss.item(), "auc", roc_auc_score(test[2], probability), "highest", probability.max().item())
base = log_loss(test[2], torch.full((6000,), train_set.tensors[2].mean().item()))
print("log loss", log_loss(test[2], probability), "of the base rate", base)
assert log_loss(test[2], probability) < base
