"""Images and their texts: the scores are square, and a look along either axis is an accuracy of its own."""

import torch
from torch import nn

torch.manual_seed(0)
topics = torch.randn(512, 6)
images, texts = topics @ torch.randn(6, 20), topics @ torch.randn(6, 24)


class Pairs(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.image, self.text = nn.Linear(20, 12), nn.Linear(24, 12)

    def forward(self, image: torch.Tensor, text: torch.Tensor) -> torch.Tensor:
        return (
            nn.functional.normalize(self.image(image), dim=1) @ nn.functional.normalize(self.text(text), dim=1).t() * 8
        )


net = Pairs()
optimizer = torch.optim.Adam(net.parameters(), lr=5e-3)
for step in range(60):
    chosen = torch.randperm(448)[:32]
    logits, same = net(images[chosen], texts[chosen]), torch.arange(32)
    loss = nn.functional.cross_entropy(logits, same) + nn.functional.cross_entropy(logits.t(), same)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if step % 10 == 9:
        with torch.no_grad():
            logits, same = net(images[448:480], texts[448:480]), torch.arange(32)
            best, where = logits.max(1)
            sure = best > 0.5  # scores, not odds: no loss with logits trains them
            print(step, (logits.argmax(0) == same).float().mean(), (where == same).float().mean(), sure.sum())
