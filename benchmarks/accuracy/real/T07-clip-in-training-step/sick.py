"""A latent dynamics model with a small trainer that calls training_step, then backward, then step."""
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


class WorldModel(nn.Module):
    def __init__(self, obs_dim=6, act_dim=2, latent=32, grad_clip=0.1):
        super().__init__()
        self.encoder = nn.Linear(obs_dim, latent)
        self.rnn = nn.GRU(latent + act_dim, latent, batch_first=True)
        self.decoder = nn.Linear(latent, obs_dim)
        self.grad_clip = grad_clip

    def forward(self, obs, act):
        h, _ = self.rnn(torch.cat([torch.tanh(self.encoder(obs)), act], dim=-1))
        return self.decoder(h)

    def training_step(self, batch):
        obs, act = batch
        prediction = self(obs[:, :-1], act[:, :-1])
        loss = nn.functional.smooth_l1_loss(prediction, obs[:, 1:])
        torch.nn.utils.clip_grad_norm_(self.parameters(), self.grad_clip)  # <- PM604
        return loss

    def configure_optimizers(self):
        return torch.optim.AdamW(self.parameters(), lr=3e-3, weight_decay=1e-4)


class Trainer:
    def __init__(self, max_epochs):
        self.max_epochs = max_epochs

    def fit(self, model, loader):
        optimizer = model.configure_optimizers()
        for epoch in range(self.max_epochs):
            losses = []
            for batch in loader:
                optimizer.zero_grad()
                loss = model.training_step(batch)
                loss.backward()
                optimizer.step()
                losses.append(loss.item())
            print(f"epoch {epoch}: train_loss={sum(losses) / len(losses):.5f}")


def rollouts(n=192, steps=16):
    torch.manual_seed(9)
    a = 0.9 * torch.linalg.qr(torch.randn(6, 6))[0]
    b = torch.randn(2, 6)
    act = torch.randn(n, steps, 2)
    obs = [torch.randn(n, 6)]
    for t in range(steps - 1):
        obs.append(obs[-1] @ a + 0.3 * act[:, t] @ b)
    return TensorDataset(torch.stack(obs, 1), act)


if __name__ == "__main__":
    torch.set_num_threads(1)
    loader = DataLoader(rollouts(), batch_size=16, shuffle=True)
    Trainer(max_epochs=6).fit(WorldModel(), loader)
