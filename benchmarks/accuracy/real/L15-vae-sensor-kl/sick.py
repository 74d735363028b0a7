"""Variational auto-encoder for 20-channel sensor readings."""
import torch
import torch.nn as nn
import torch.nn.functional as F

torch.set_num_threads(1)
torch.manual_seed(42)
CHANNELS, HIDDEN, LATENT = 20, 32, 24


def sensor_readings(count):
    factors = torch.randn(count, 2)
    mixing = torch.linspace(-1, 1, 2 * CHANNELS).view(2, CHANNELS).sin()
    return 1.5 * factors @ mixing + 0.3 * torch.randn(count, CHANNELS)


class SensorVAE(nn.Module):
    def __init__(self):
        super().__init__()
        self.encoder = nn.Sequential(nn.Linear(CHANNELS, HIDDEN), nn.Tanh())
        self.to_mean = nn.Linear(HIDDEN, LATENT)
        self.to_logstd = nn.Linear(HIDDEN, LATENT)
        self.decoder = nn.Sequential(nn.Linear(LATENT, HIDDEN), nn.Tanh(), nn.Linear(HIDDEN, CHANNELS))

    def forward(self, x):
        h = self.encoder(x)
        mean, logstd = self.to_mean(h), self.to_logstd(h)
        z = mean + torch.randn_like(mean) * torch.exp(logstd) if self.training else mean
        return self.decoder(z), mean, logstd


def elbo_terms(x, reconstruction, mean, logstd):
    recon = F.mse_loss(reconstruction, x)
    kl = -0.5 * torch.mean(1 + 2 * logstd - mean.pow(2) - torch.exp(logstd))  # <- PM507
    return recon, kl


def main():
    train, test = sensor_readings(1024), sensor_readings(256)
    model = SensorVAE()
    optimizer = torch.optim.Adam(model.parameters(), lr=5e-3)
    for epoch in range(16):
        model.train()
        for x in train[torch.randperm(len(train))].split(64):
            recon, kl = elbo_terms(x, *model(x))
            loss = recon + kl
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        model.eval()
        with torch.no_grad():
            test_recon = F.mse_loss(model(test)[0], test)
        print(f"epoch {epoch:02d} recon {recon.item():.4f} kl {kl.item():+.4f} test recon {test_recon.item():.4f}")
    print("variance of the data", test.var().item())


if __name__ == "__main__":
    main()
