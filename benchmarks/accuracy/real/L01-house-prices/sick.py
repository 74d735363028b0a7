"""Linear regression of house prices from standardised features."""
import torch
from torch import nn

torch.set_num_threads(1)
torch.manual_seed(7)


def make_houses(count):
    area = torch.randn(count)
    age = torch.randn(count)
    features = torch.stack([area, age], dim=1)
    price = 10 + 9 * area - 2 * age + torch.randn(count)
    return features, price


x_train, y_train = make_houses(100)
x_test, y_test = make_houses(50)

model = nn.Linear(2, 1)
criterion = nn.MSELoss()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)

for step in range(120):
    optimizer.zero_grad()
    prediction = model(x_train)
    loss = criterion(prediction, y_train)  # <- PM501
    loss.backward()
    optimizer.step()
    if step % 20 == 0:
        print(f"step {step:3d}  loss {loss.item():.3f}")

with torch.no_grad():
    guess = model(x_test).squeeze(1)
    print("weights", model.weight.tolist(), "bias", model.bias.tolist())
    print(f"test rmse {(guess - y_test).pow(2).mean().sqrt().item():.3f}")
