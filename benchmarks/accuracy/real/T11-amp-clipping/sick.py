"""Mixed-precision training of a classifier with GradScaler and gradient clipping."""
import torch
from torch import nn, optim
from torch.utils.data import DataLoader, TensorDataset, random_split


def make_dataset(n=1280):
    centers = torch.randn(4, 20) * 1.5
    y = torch.randint(0, 4, (n,))
    return TensorDataset(centers[y] + torch.randn(n, 20), y)


def train_model(model, train_loader, val_loader, epochs=6, learning_rate=0.1, gradient_clipping=1.0, amp=True):
    optimizer = optim.SGD(model.parameters(), lr=learning_rate, momentum=0.0)
    grad_scaler = torch.amp.GradScaler("cpu", enabled=amp, init_scale=65536.0)
    criterion = nn.CrossEntropyLoss()
    for epoch in range(1, epochs + 1):
        model.train()
        epoch_loss = 0
        for features, labels in train_loader:
            with torch.autocast("cpu", dtype=torch.bfloat16, enabled=amp):
                logits = model(features)
                loss = criterion(logits.float(), labels)
            optimizer.zero_grad(set_to_none=True)
            grad_scaler.scale(loss).backward()
            torch.nn.utils.clip_grad_norm_(model.parameters(), gradient_clipping)  # <- PM605
            grad_scaler.step(optimizer)
            grad_scaler.update()
            epoch_loss += loss.item()
        print(f"epoch {epoch} loss {epoch_loss / len(train_loader):.4f} val {evaluate(model, val_loader):.3f}")


@torch.inference_mode()
def evaluate(net, dataloader):
    net.eval()
    correct = sum((net(x).argmax(dim=1) == y).sum().item() for x, y in dataloader)
    return correct / len(dataloader.dataset)


if __name__ == "__main__":
    torch.set_num_threads(1)
    torch.manual_seed(0)
    train_set, val_set = random_split(make_dataset(), [1024, 256], generator=torch.Generator().manual_seed(0))
    train_loader = DataLoader(train_set, shuffle=True, batch_size=32, drop_last=True)
    val_loader = DataLoader(val_set, shuffle=False, batch_size=128)
    mlp = nn.Sequential(nn.Linear(20, 64), nn.ReLU(), nn.Linear(64, 4))
    train_model(mlp, train_loader, val_loader)
