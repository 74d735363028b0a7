"""A small recurrent transducer: the forward sum over all alignments, written by hand, in log space."""
import torch
import torch.nn as nn

BLANK, SYMBOLS = 0, 6


class Transducer(nn.Module):
    def __init__(self, width=32):
        super().__init__()
        self.encoder = nn.GRU(5, width, batch_first=True)
        self.embed = nn.Embedding(SYMBOLS, width)
        self.predictor = nn.GRU(width, width, batch_first=True)
        self.joint = nn.Linear(width, SYMBOLS)

    def scores(self, audio, text):
        start = torch.zeros(len(text), 1, dtype=torch.long)
        predicted = self.predictor(self.embed(torch.cat([start, text], 1)))[0]
        return self.joint(torch.tanh(self.encoder(audio)[0][:, :, None] + predicted[:, None])).log_softmax(-1)


def transducer_loss(logp, text):
    frames, length = logp.shape[1], text.shape[1]
    blank = logp[..., BLANK]
    emit = logp[:, :, :-1].gather(3, text[:, None, :, None].expand(-1, frames, -1, 1)).squeeze(3)
    alpha = [[None] * (length + 1) for _ in range(frames)]
    for t in range(frames):
        for u in range(length + 1):
            ways = []
            if t == u == 0:
                ways.append(torch.zeros(len(text)))
            if t > 0:
                ways.append(alpha[t - 1][u] + blank[:, t - 1, u])
            if u > 0:
                ways.append(alpha[t][u - 1] + emit[:, t, u - 1])
            alpha[t][u] = torch.logsumexp(torch.stack(ways), 0)
    return -(alpha[-1][length] + blank[:, -1, length]).mean()


def utterances(n, frames=8, length=3):
    text = torch.randint(1, SYMBOLS, (n, length))
    place = torch.rand(n, frames).argsort(1)[:, :length].sort(1).values
    audio = 0.2 * torch.randn(n, frames, 5)
    audio[torch.arange(n)[:, None], place] += torch.eye(5)[text - 1]
    return audio, text


@torch.no_grad()
def greedy(model, audio):
    out = []
    for row in model.encoder(audio)[0]:
        said, (h, state) = [], model.predictor(model.embed(torch.zeros(1, 1, dtype=torch.long)))
        for frame in row:
            for _ in range(2):
                best = int(model.joint(torch.tanh(frame + h[0, -1])).argmax())
                if best == BLANK:
                    break
                said.append(best)
                h, state = model.predictor(model.embed(torch.tensor([[best]])), state)
        out.append(said)
    return out


torch.manual_seed(3)
torch.set_num_threads(1)
model = Transducer()
optimizer = torch.optim.Adam(model.parameters(), lr=6e-3)
for step in range(1, 301):
    audio, text = utterances(32)
    loss = transducer_loss(model.scores(audio, text), text)
    optimizer.zero_grad()
    loss.backward()
    nn.utils.clip_grad_norm_(model.parameters(), 5.0)
    optimizer.step()
    if step % 75 == 0:
        audio, text = utterances(60)
        right = sum(a == b for a, b in zip(greedy(model, audio), text.tolist()))
        print(f"step {step} loss {loss.item():.3f} utterances transcribed exactly {right}/60")
