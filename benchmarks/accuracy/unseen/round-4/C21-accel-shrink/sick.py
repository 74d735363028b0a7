import torch
from accelerate import Accelerator
from sklearn.datasets import load_digits
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


class Net(nn.Module):
    def __init__(self, hidden=128):
        super().__init__()
        self.first = nn.Linear(64, hidden)
        self.second = nn.Linear(hidden, 10)

    def forward(self, x):
        return self.second(torch.relu(self.first(x)))


@torch.no_grad()
def shrink(net, keep):
    """Keep the hidden units with the largest weights and rebuild both layers around them."""
    strength = net.first.weight.norm(dim=1) * net.second.weight.norm(dim=0)
    units = strength.topk(keep).indices
    first, second = nn.Linear(64, keep), nn.Linear(keep, 10)
    first.weight.copy_(net.first.weight[units])
    first.bias.copy_(net.first.bias[units])
    second.weight.copy_(net.second.weight[:, units])
    second.bias.copy_(net.second.bias)
    net.first, net.second = first, second


def fit(accelerator, net, optimizer, loader, epochs):
    net.train()
    for epoch in range(epochs):
        for x, y in loader:
            loss = nn.functional.cross_entropy(net(x), y)
            optimizer.zero_grad()
            accelerator.backward(loss)
            optimizer.step()
        accelerator.print(f"  epoch {epoch} loss {loss.item():.4f}")


@torch.no_grad()
def accuracy(net, x, y):
    net.eval()
    return (net(x).argmax(1) == y).float().mean().item()


def main():
    torch.manual_seed(0)
    torch.set_num_threads(1)
    accelerator = Accelerator(cpu=True)
    d = load_digits()
    x, y = torch.tensor(d.data, dtype=torch.float32) / 16, torch.tensor(d.target)
    loader = DataLoader(TensorDataset(x[:1400], y[:1400]), batch_size=50, shuffle=True)
    net = Net()
    optimizer = torch.optim.Adam(net.parameters(), lr=3e-3)
    net, optimizer, loader = accelerator.prepare(net, optimizer, loader)
    fit(accelerator, net, optimizer, loader, epochs=5)
    print(f"full net {accuracy(net, x[1400:], y[1400:]):.3f}")

    shrink(net, keep=10)  # <- PM407
    print(f"shrunk {accuracy(net, x[1400:], y[1400:]):.3f}")
    fit(accelerator, net, optimizer, loader, epochs=8)
    print(f"shrunk and fine-tuned {accuracy(net, x[1400:], y[1400:]):.3f}")


if __name__ == "__main__":
    main()
