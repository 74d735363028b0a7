"""A residual attention block in the style of flash attention, trained on sequence sums."""
import torch
from torch import nn
from torch.nn import functional as F

torch.set_num_threads(1)


class FlashSelfAttention(nn.Module):
    def __init__(self, attention_dropout=0.3):
        super().__init__()
        self.dropout_p = attention_dropout

    def forward(self, q, k, v):
        if not self.training:
            self.dropout_p = 0.0  # <- PM613
        return F.scaled_dot_product_attention(q, k, v, dropout_p=self.dropout_p)


class ParallelAttention(nn.Module):
    def __init__(self, dim=32, heads=4):
        super().__init__()
        self.heads = heads
        self.query_key_value = nn.Linear(dim, 3 * dim)
        self.core_attention = FlashSelfAttention()
        self.dense = nn.Linear(dim, dim)

    def forward(self, x):
        b, t, d = x.shape
        qkv = self.query_key_value(x).view(b, t, 3, self.heads, d // self.heads).permute(2, 0, 3, 1, 4)
        context = self.core_attention(*qkv)
        return x + self.dense(context.transpose(1, 2).reshape(b, t, d))


class SumModel(nn.Module):
    def __init__(self, dim=32):
        super().__init__()
        self.embed = nn.Embedding(10, dim)
        self.attention = ParallelAttention(dim)
        self.norm = nn.LayerNorm(dim)
        self.out = nn.Linear(dim, 1)

    def forward(self, ids):
        return self.out(self.norm(self.attention(self.embed(ids))).mean(1)).squeeze(-1)


def batch(n=64, length=8):
    ids = torch.randint(10, (n, length))
    return ids, ids.float().mean(1) - 4.5


def main():
    torch.manual_seed(0)
    model = SumModel()
    optimizer = torch.optim.AdamW(model.parameters(), lr=3e-3)
    val_ids, val_y = batch(256)
    for iteration in range(160):
        model.train()
        ids, y = batch()
        loss = F.mse_loss(model(ids), y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if iteration % 20 == 0:
            model.eval()
            with torch.no_grad():
                val = F.mse_loss(model(val_ids), val_y).item()
            print(f"iteration {iteration} train {loss.item():.4f} val {val:.4f}")


if __name__ == "__main__":
    main()
