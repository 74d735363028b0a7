"""An MLP with a configurable number of hidden layers."""
import torch
import torch.nn as nn
import torch.optim as optim

torch.set_num_threads(1)
torch.manual_seed(12)


class MultiLayerPerceptron(nn.Module):
    def __init__(self, n_in, hidden_sizes, n_out, activation=torch.relu):
        super(MultiLayerPerceptron, self).__init__()
        self.activation = activation
        self.hidden = []  # <- PM401
        for size in hidden_sizes:
            self.hidden.append(nn.Linear(n_in, size))
            n_in = size
        self.classifier = nn.Linear(n_in, n_out)

    def forward(self, x):
        for layer in self.hidden:
            x = self.activation(layer(x))
        return self.classifier(x)


def ten_blobs(n, centers):
    labels = torch.arange(n) % 10
    labels = labels[torch.randperm(n)]
    return centers[labels] + torch.randn(n, 20), labels


centers = torch.randn(10, 20)
train_x, train_y = ten_blobs(1000, centers)
test_x, test_y = ten_blobs(500, centers)

net = MultiLayerPerceptron(20, [64, 64, 64], 10)
print("trainable values:", sum(p.numel() for p in net.parameters()))
opt = optim.Adam(net.parameters(), lr=0.01)
loss_function = nn.CrossEntropyLoss()

for epoch in range(12):
    permutation = torch.randperm(len(train_x))
    epoch_loss = 0.0
    for i in range(0, len(train_x), 100):
        pick = permutation[i:i + 100]
        opt.zero_grad()
        output = net(train_x[pick])
        loss = loss_function(output, train_y[pick])
        loss.backward()
        opt.step()
        epoch_loss += loss.item()
    with torch.no_grad():
        acc = net(test_x).argmax(1).eq(test_y).float().mean().item()
    print("epoch %2d  loss %.3f  test accuracy %.3f" % (epoch, epoch_loss / 10, acc))
