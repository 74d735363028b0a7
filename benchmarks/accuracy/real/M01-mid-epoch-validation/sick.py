"""Image-text style embedding classifier with validation every few hundred samples."""
import torch
import torch.nn as nn
from torch.utils.data import DataLoader, TensorDataset


class EncoderImage(nn.Module):
    def __init__(self, img_dim, embed_size, n_classes):
        super().__init__()
        self.fc = nn.Linear(img_dim, embed_size)
        self.bn = nn.BatchNorm1d(embed_size)
        self.drop = nn.Dropout(0.5)
        self.cls = nn.Linear(embed_size, n_classes)

    def forward(self, images):
        features = torch.relu(self.bn(self.fc(images)))
        return self.cls(self.drop(features))


class VSE:
    def __init__(self, opt):
        self.img_enc = EncoderImage(opt["img_dim"], opt["embed_size"], opt["classes"])
        self.criterion = nn.CrossEntropyLoss()
        self.optimizer = torch.optim.Adam(self.img_enc.parameters(), lr=opt["learning_rate"])
        self.Eiters = 0

    def train_start(self):
        self.img_enc.train()

    def val_start(self):
        self.img_enc.eval()

    def train_emb(self, images, targets):
        self.Eiters += 1
        loss = self.criterion(self.img_enc(images), targets)  # <- PM611
        self.optimizer.zero_grad()
        loss.backward()
        self.optimizer.step()
        return loss.item()


def validate(val_loader, model):
    model.val_start()
    with torch.no_grad():
        hits = torch.cat([model.img_enc(x).argmax(1) == y for x, y in val_loader])
    return hits.float().mean().item()


def train(opt, train_loader, model, epoch, val_loader):
    model.train_start()
    for i, (images, targets) in enumerate(train_loader):
        loss = model.train_emb(images, targets)
        if model.Eiters % opt["val_step"] == 0:
            print(f"epoch {epoch} step {model.Eiters} loss {loss:.3f} accuracy {validate(val_loader, model):.3f}")


def main():
    torch.set_num_threads(1)
    torch.manual_seed(0)
    opt = dict(img_dim=50, embed_size=128, classes=5, learning_rate=2e-3, val_step=12)
    centers = 0.5 * torch.randn(5, 50)
    y = torch.randint(5, (900,))
    x = centers[y] + torch.randn(900, 50)
    train_loader = DataLoader(TensorDataset(x[:640], y[:640]), batch_size=16, shuffle=True)
    val_loader = DataLoader(TensorDataset(x[640:], y[640:]), batch_size=130)
    model = VSE(opt)
    for epoch in range(4):
        train(opt, train_loader, model, epoch, val_loader)


if __name__ == "__main__":
    main()
