"""Activity recognition with SGD and momentum."""
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


class Solver:
    BASE_LR = 0.1 / 16
    IMS_PER_BATCH = 16
    MOMENTUM = 0.9
    MAX_ITER = 160


def make_optimizer(cfg, model):
    params = []
    for key, value in model.named_parameters():
        lr = cfg.BASE_LR * (2 if "bias" in key else 1)
        params.append({"params": [value], "lr": lr})
    return torch.optim.SGD(params, momentum=cfg.MOMENTUM)


def do_train(cfg, model, loader):
    optimizer = make_optimizer(cfg, model)
    iteration = 0
    smoothed = None
    while iteration < cfg.MAX_ITER:
        for features, targets in loader:
            losses = nn.functional.cross_entropy(model(features), targets)
            optimizer.zero_grad()
            losses.backward()
            optimizer.step()
            value = losses.item()
            smoothed = value if smoothed is None else 0.9 * smoothed + 0.1 * value
            if iteration % 20 == 0:
                print(f"iter: {iteration}  loss: {value:.4g} ({smoothed:.4g})")
            iteration += 1
            if iteration == cfg.MAX_ITER:
                break


def main():
    torch.set_num_threads(1)
    torch.manual_seed(0)
    centers = torch.randn(4, 20)
    y = torch.randint(4, (800,))
    x = 5 * (centers[y] + torch.randn(800, 20))
    loader = DataLoader(TensorDataset(x, y), batch_size=Solver.IMS_PER_BATCH, shuffle=True)
    model = nn.Sequential(nn.Linear(20, 64), nn.ReLU(), nn.Linear(64, 64), nn.ReLU(), nn.Linear(64, 4))
    do_train(Solver, model, loader)


if __name__ == "__main__":
    main()
