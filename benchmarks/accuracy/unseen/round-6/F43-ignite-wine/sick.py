import torch
import torch.nn as nn
from ignite.engine import Engine, Events, create_supervised_evaluator
from ignite.metrics import Accuracy, Loss
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(13)
torch.set_num_threads(1)


def patients(n):
    x = torch.randn(n, 60)
    y = ((x[:, 0] + x[:, 1] - x[:, 2] + 1.0 * torch.randn(n)) > 0).long()
    return x, y


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.Sequential(
            nn.Linear(60, 256), nn.ReLU(), nn.Dropout(0.7),
            nn.Linear(256, 256), nn.ReLU(), nn.Dropout(0.7),
            nn.Linear(256, 2),
        )

    def forward(self, x):
        return self.layers(x)


train_loader = DataLoader(TensorDataset(*patients(300)), batch_size=30, shuffle=True)
val_loader = DataLoader(TensorDataset(*patients(1000)), batch_size=250)
model = Net()
optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
criterion = nn.CrossEntropyLoss()


def update(engine, batch):
    x, y = batch
    optimizer.zero_grad()
    loss = criterion(model(x), y)
    loss.backward()
    optimizer.step()
    return loss.item()


trainer = Engine(update)
evaluator = create_supervised_evaluator(model, metrics={"accuracy": Accuracy(), "nll": Loss(criterion)})


@trainer.on(Events.EPOCH_COMPLETED)
def validate(engine):
    evaluator.run(val_loader)
    m = evaluator.state.metrics
    if engine.state.epoch % 5 == 0:
        print(f"epoch {engine.state.epoch}: train {engine.state.output:.3f} val nll {m['nll']:.3f} acc {m['accuracy']:.3f}")


trainer.run(train_loader, max_epochs=20)
