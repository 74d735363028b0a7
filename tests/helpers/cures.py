"""The sick programs whose rules have a remedy, and what the cure looks like."""

from __future__ import annotations

from typing import Any

from paramedic.findings import Evidence, Finding, Where

# The program; a line that the cured program has and the sick one has not; what the finding says, where that matters.
CURES: dict[str, tuple[str, dict[str, Any]]] = {
    "PM101/sick": ("return 2 * (-torch.log(predicted.clamp(min=1e-8)) + ratio.clamp(max=50) - 1).mean()", {}),
    "PM102/sick": ("strength = torch.exp(self.trust(readings).clamp(max=20))", {}),
    "PM103/sick": ("return ((a - b) ** 2).sum(1).clamp(min=1e-12).sqrt()", {}),
    "PM104/sick": ("optimizer = torch.optim.Adam(model.parameters(), lr=1e-3, eps=1e-4)", {}),
    "PM106/sick": ("k = k / (norm + 1e-4)", {"evidence": (Evidence(name="constant", value=1e-8),)}),
    "PM107/sick": ("z = (y - mean) / sigma.clamp(min=1e-6)", {}),
    "PM205/sick": ("EPOCHS, BATCH_SIZE, LEARNING_RATE = 4, 50, 0.03", {}),
    "PM206/sick": ("optimizer = torch.optim.Adam(model.parameters(), lr=3e-05, weight_decay=5e-4)", {}),
    "PM217/sick": ("optimizer = torch.optim.SGD(model.parameters(), lr=0.1, weight_decay=1e-4)", {}),
    "PM306/sick": ("train_loader = DataLoader(train_set, batch_size=60, shuffle=True)", {}),
    "PM309/sick": ("np.random.seed(torch.initial_seed() % 2**32)", {"where": Where(line=29)}),
    "PM401/sick": ("self.blocks = nn.ModuleList([Block(WIDTH) for _ in range(DEPTH)])", {}),
    "PM401/sick_built_in_forward": ("return self.linear(pooled).squeeze(1)", {}),
    "PM402/sick": (
        "optimizer = torch.optim.Adam([*model.parameters(), *criterion.parameters()], lr=args.lr)",
        {"where": Where(module="criterion")},
    ),
    "PM403/sick": ("def forward(self, images: torch.Tensor) -> torch.Tensor:", {}),
    "PM404/sick": ("module.requires_grad_(False)", {"remedy": "model.encoder.requires_grad_(False)"}),
    "PM404/sick_guarded": ("for p in module.parameters():", {}),
    "PM406/sick": ("*[ResBlock(WIDTH) for _ in range(layers)],", {}),
    "PM407/sick": ("model.head = nn.Linear(model.head.in_features, 10)", {}),
    "PM410/sick": (
        "best_loss, best_weights = val_loss, {name: value.clone() for name, value in model.state_dict().items()}",
        {},
    ),
    "PM413/sick": ("self.rnn = nn.GRU(3, width, batch_first=True)", {"remedy": "pass batch_first=True"}),
    "PM414/sick": ("weights = F.softmax(scores, dim=-1)", {}),
    "PM415/sick": ("x = self.encoder(self.embed(ids), src_key_padding_mask=~real)", {"remedy": "invert it"}),
    "PM415/sick_first_token": ("mask = F.pad(ids == PAD, (1, 0))", {"remedy": "invert it"}),
    "PM417/sick": ("return self.head(x + F.scaled_dot_product_attention(q, k, v, is_causal=True))", {}),
    "PM417/sick_buffer": (
        'self.register_buffer("mask", torch.triu(torch.ones(length, length), diagonal=1).bool())', {}
    ),
    "PM418/sick": ("self.target.load_state_dict(self.online.state_dict())", {}),
    "PM418/sick_buffers": ("mine.copy_(theirs)", {"remedy": "copy the buffers as well"}),
    "PM423/sick": ("gate = gate * torch.tanh(self.change(both))", {}),
    "PM501/sick": ("loss = ((model(window).squeeze(-1) - target) ** 2).mean()", {}),
    "PM501/sick_gather": ("predicted = values(state).gather(1, action.unsqueeze(1)).squeeze(1)", {}),
    "PM502/sick": ("return self.fc2(x)", {}),
    "PM503/sick": ("nn.Linear(16, 1),", {}),
    "PM504/sick": (
        'soft = F.kl_div(F.log_softmax(student / TEMPERATURE, dim=1), teacher_probs, reduction="batchmean")',
        {"what": "F.kl_div got probabilities"},
    ),
    "PM504/sick_logits": ("loss = F.cross_entropy(model(x), y)", {"what": "F.nll_loss got logits"}),
    "PM506/sick": ("pred = torch.sigmoid(logits)", {}),
    "PM506/sick_derivative": ("return torch.autograd.grad(u.sum(), x, create_graph=True)[0]", {}),
    "PM509/sick": ("criterion = nn.CrossEntropyLoss(ignore_index=0)", {"remedy": "pass ignore_index=0 to the loss"}),
    "PM512/sick": ("return self.dec2(h)", {}),
    "PM516/sick": (
        "surrogate = torch.maximum(-advantage * ratio, -advantage * bounded)", {"what": "torch.min of a ratio"}
    ),
    "PM516/sick_entropy": ("loss = surrogate.mean() - 0.01 * now.entropy().mean()", {"what": "entropy is minimised"}),
    "PM516/sick_swapped": (
        "loss = torch.clamp(0.5 + d_pos - d_neg, min=0).mean()",
        {"remedy": "swap them: relu(margin + d_pos - d_neg)"},
    ),
    "PM517/sick": ("loss = F.mse_loss(chosen, ((following == 0).float() + GAMMA * ahead).detach())", {}),
    "PM601/sick": ("optimizer.zero_grad()", {}),
    "PM601/sick_gan": ("optimizer_c.zero_grad()", {}),
    "PM602/sick": ("self.optimizer.zero_grad()", {}),
    "PM604/sick": ("nn.utils.clip_grad_norm_(model.parameters(), config.max_norm)", {}),
    "PM605/sick": ("scaler.unscale_(optimizer)", {}),
    "PM606/sick": ("self.scaler.step(self.optimizer)", {}),
    "PM607/sick": ("scheduler.step()", {}),
    "PM608/sick": ("self.scheduler.step()", {}),
    "PM611/sick": ("model.train()", {}),
    "PM611/sick_handed_over": ("encoder.train()", {}),
    "PM612/sick": ("model.eval()", {}),
    "PM612/sick_one_function": ("model.train(optimizer is not None)", {}),
    "PM613/sick": ("pooled = F.dropout(pooled, self.dropout, training=self.training)", {}),
    "PM614/sick": ("with torch.no_grad():", {}),
    "PM616/sick": ("return (alarm.squeeze(-1) == y).float().mean().item()", {"remedy": "labels.view_as(pred)"}),
    "PM616/sick_flat": ("found = model(*pairs(40, mixing)).argmax(dim=1)", {"remedy": "argmax(dim=1)"}),
    "PM617/sick": ("self.state = self.state.detach()", {}),
    "PM703/sick": ("losses.append(loss.detach())", {}),
    "PM707/sick": ('parser.add_argument("--workers", type=int, default=0)', {}),
    "PM108/sick": ("scores = self.score(x).squeeze(-1).masked_fill(~present, -1e4)", {}),
    "PM304/sick": (
        "cultivar = torch.tensor(table[:, 0], dtype=torch.long) - 1",
        {"remedy": "subtract 1 from the labels", "where": Where(line=41)},
    ),
    "PM307/sick": ("val_loader = DataLoader(Subset(dataset, order[-held_out:]), batch_size=35)", {}),
    "PM312/sick": (
        "box = torch.cat([box[..., :2], box[..., :2] + box[..., 2:]], -1)", {"remedy": "turns them into corners"}
    ),
    "PM312/sick_mirrored": ("edges = SIZE - box[[2, 0]] if turned else box[[0, 2]]", {}),
    "PM313/sick": (
        "x = x.permute(0, 2, 1, 3).reshape(len(x), SENSORS, -1)",
        {"evidence": (Evidence(name="axes_before", value="(8, 6, 20)"), Evidence(name="axes_after", value="(6, 160)"))},
    ),
    "PM315/sick_last_place": ("last = states[torch.arange(len(states)), lengths - 1]", {}),
    "PM316/sick": ("return WeightedRandomSampler(class_weights[labels], num_samples=len(labels))", {}),
    "PM317/sick": ("val_set.dataset.augment = False", {}),
    "PM409/sick": (
        'model.load_state_dict({"backbone." + name.removeprefix("encoder."): value for name, value in '
        "torch.load(path).items()}, strict=False)",
        {"why": "names do not match: given encoder.0.weight and encoder.0.bias; expected backbone.0.weight"},
    ),
    "PM411/sick": ("model.embed.weight = model.head.weight", {"remedy": "model.embed.weight = model.head.weight"}),
    "PM411/sick_converted": (
        "model.embed.weight = model.head.weight", {"remedy": "model.embed.weight = model.head.weight"}
    ),
    "PM507/sick": (
        'return F.kl_div(logits[:, :OLD].log_softmax(1), before[:, :OLD].softmax(1), reduction="batchmean")', {}
    ),
    "PM513/sick": ("return F.cross_entropy(logits.transpose(1, 2), labels)", {"what": "two positions later"}),
    "PM513/sick_unshifted": (
        "loss = F.cross_entropy(model(text)[:, :-1].transpose(1, 2), text[:, 1:])", {"what": "they were not shifted"}
    ),
    "PM615/sick": (
        'spared = [p for name, p in model.named_parameters() if (p.ndim < 2) or "norm" in name]', {}
    ),
    "PM609/sick": ("scheduler = LambdaLR(optimizer, rate)", {"remedy": "build the scheduler first"}),
    "PM705/sick": ('forward = torch.compile(model, backend="eager", dynamic=True)', {}),
    "PM801/sick": ("model = DistributedDataParallel(model)", {}),
    "PM802/sick": ("train_loader = DataLoader(train_set, batch_size=16, sampler=sampler)", {}),
    "PM804/sick": ("self.embed = nn.Linear(8, WIDTH)", {}),
    "PM805/sick": ("loss = F.cross_entropy(replica(x), y)", {}),
}  # fmt: skip


def as_finding(told: dict[str, Any]) -> Finding:
    """A finding as the JSON contract has it."""
    evidence = tuple(Evidence(name=fact["name"], value=fact["value"], limit=fact["limit"]) for fact in told["evidence"])
    return Finding(
        what=told["what"], why=told["why"], remedy=told["try"], code=told["code"], name=told["name"],
        evidence=evidence, where=Where(**told["where"]), also=tuple(Where(**place) for place in told["also"]),
    )  # fmt: skip
