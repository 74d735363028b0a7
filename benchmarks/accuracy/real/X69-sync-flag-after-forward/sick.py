"""Small GPT-style pre-training on two ranks with gradient accumulation."""
import os
import socket

import torch
import torch.distributed as dist
import torch.multiprocessing as mp
import torch.nn as nn
import torch.nn.functional as F
from torch.nn.parallel import DistributedDataParallel as DDP

VOCAB, BLOCK, ACCUM = 32, 16, 2


class TinyLM(nn.Module):
    def __init__(self, dim=32):
        super().__init__()
        self.wte, self.wpe = nn.Embedding(VOCAB, dim), nn.Embedding(BLOCK, dim)
        self.attn = nn.MultiheadAttention(dim, 2, batch_first=True)
        self.ln1, self.ln2 = nn.LayerNorm(dim), nn.LayerNorm(dim)
        self.mlp = nn.Sequential(nn.Linear(dim, 4 * dim), nn.GELU(), nn.Linear(4 * dim, dim))
        self.lm_head = nn.Linear(dim, VOCAB, bias=False)
        self.register_buffer("causal", torch.triu(torch.ones(BLOCK, BLOCK, dtype=torch.bool), 1), persistent=False)

    def forward(self, idx, targets):
        x = self.wte(idx) + self.wpe(torch.arange(idx.size(1)))
        h = self.ln1(x)
        x = x + self.attn(h, h, h, attn_mask=self.causal, need_weights=False)[0]
        x = x + self.mlp(self.ln2(x))
        return F.cross_entropy(self.lm_head(x).view(-1, VOCAB), targets.view(-1))


class TokenLoader:
    def __init__(self, rank, world, batch=8):
        g = torch.Generator().manual_seed(0)
        jump = torch.randint(1, VOCAB, (VOCAB,), generator=g)
        tokens = [0]
        for step in torch.rand(20000, generator=g).tolist():
            tokens.append((tokens[-1] + (int(jump[tokens[-1]]) if step < 0.8 else int(step * 1000))) % VOCAB)
        self.tokens, self.batch, self.world = torch.tensor(tokens), batch, world
        self.at = rank * batch * BLOCK

    def next_batch(self):
        n = self.batch * BLOCK
        if self.at + n + 1 > len(self.tokens):
            self.at %= n * self.world
        chunk = self.tokens[self.at:self.at + n + 1]
        self.at += n * self.world
        return chunk[:-1].view(self.batch, BLOCK), chunk[1:].view(self.batch, BLOCK)


def main(rank, world, port):
    os.environ.update(MASTER_ADDR="127.0.0.1", MASTER_PORT=str(port))
    torch.set_num_threads(1)
    dist.init_process_group("gloo", rank=rank, world_size=world)
    torch.manual_seed(1337)
    model = DDP(TinyLM())
    optimizer = torch.optim.AdamW(model.parameters(), lr=2e-3)
    loader = TokenLoader(rank, world)
    for step in range(80):
        optimizer.zero_grad()
        total = 0.0
        for micro_step in range(ACCUM):
            x, y = loader.next_batch()
            loss = model(x, y) / ACCUM
            total += loss.item()
            model.require_backward_grad_sync = micro_step == ACCUM - 1  # <- PM801
            loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        if rank == 0 and step % 20 == 19:
            print(f"step {step} loss {total:.4f}", flush=True)
    dist.barrier()
    dist.destroy_process_group()


if __name__ == "__main__":
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        port = s.getsockname()[1]
    mp.spawn(main, args=(2, port), nprocs=2)
