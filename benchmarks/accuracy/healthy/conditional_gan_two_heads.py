"""A discriminator with two heads, "real?" and "which class?": both losses stand on one line."""

import torch
from sklearn.datasets import load_digits
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

torch.set_num_threads(1)
torch.manual_seed(5)
digits = load_digits()
pictures = torch.tensor(digits.data, dtype=torch.float32) / 8 - 1
loader = DataLoader(TensorDataset(pictures, torch.tensor(digits.target)), batch_size=64, shuffle=True, drop_last=True)


class Judge(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(
            nn.Linear(64, 96), nn.LeakyReLU(0.2), nn.Dropout(0.2), nn.Linear(96, 64), nn.LeakyReLU(0.2)
        )
        self.real, self.digit = nn.Linear(64, 1), nn.Linear(64, 10)

    def forward(self, x):
        hidden = self.body(x)
        return self.real(hidden), self.digit(hidden)


class Painter(nn.Module):
    def __init__(self):
        super().__init__()
        self.of_class = nn.Embedding(10, 16)
        self.body = nn.Sequential(nn.Linear(32, 96), nn.ReLU(), nn.Linear(96, 64), nn.Tanh())

    def forward(self, noise, labels):
        return self.body(torch.cat([noise, self.of_class(labels)], dim=1))


judge, painter = Judge(), Painter()
judge_optimizer = torch.optim.Adam(judge.parameters(), lr=1e-3, betas=(0.5, 0.999))
painter_optimizer = torch.optim.Adam(painter.parameters(), lr=1e-3, betas=(0.5, 0.999))
is_real, which = nn.BCEWithLogitsLoss(), nn.CrossEntropyLoss()
yes, no = torch.ones(64, 1), torch.zeros(64, 1)
for epoch in range(6):
    for real, labels in loader:
        wanted = torch.randint(0, 10, (64,))
        fake = painter(torch.randn(64, 16), wanted)
        seen_as, digit = judge(fake)
        painter_loss = 0.5 * (is_real(seen_as, yes) + which(digit, wanted))
        painter_optimizer.zero_grad()
        painter_loss.backward()
        painter_optimizer.step()

        (real_seen, real_digit), (fake_seen, fake_digit) = judge(real), judge(fake.detach())
        on_real = 0.5 * (is_real(real_seen, yes) + which(real_digit, labels))
        on_fake = 0.5 * (is_real(fake_seen, no) + which(fake_digit, wanted))
        judge_loss = 0.5 * (on_real + on_fake)
        judge_optimizer.zero_grad()
        judge_loss.backward()
        judge_optimizer.step()
    right = (real_digit.argmax(1) == labels).float().mean()
    print(f"epoch {epoch} painter {painter_loss.item():.3f} judge {judge_loss.item():.3f} class accuracy {right:.2f}")
