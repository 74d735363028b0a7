"""What can go wrong in the loop."""

from benchmarks.accuracy.mutations import everywhere

ZERO, ZERO4 = "        optimizer.zero_grad()\n", "    optimizer.zero_grad()\n"
MUTATIONS = [
    *everywhere(
        "no-zero-grad",
        "PM601",
        {
            "mlp": (ZERO, ""),
            "cnn": (ZERO, ""),
            "resnet": ("            optimizer.zero_grad()\n", ""),
            "lstm": ("                optimizer.zero_grad()\n", ""),
            "gpt": ("    optimizer.zero_grad(set_to_none=True)\n", ""),
            "gcn": (ZERO4, ""),
            "vae": (ZERO, ""),
            "gan": ("    optimizer_d.zero_grad()\n", ""),
            "rl": (ZERO4, ""),
        },
    ),
    *everywhere(
        "no-step",
        "PM602 PM405",
        {
            "mlp": ("        optimizer.step()\n", ""),
            "cnn": ("        optimizer.step()\n", ""),
            "gan": ("    optimizer_g.step()\n", ""),
            "gcn": ("    optimizer.step()\n", ""),
        },
    ),
    *everywhere(
        "cleared-between-backward-and-step",
        "PM602 PM610",
        {
            "mlp": ("        loss.backward()\n", "        loss.backward()\n        optimizer.zero_grad()«\n"),
            "cnn": (
                "        optimizer.zero_grad()\n        loss.backward()\n",
                "        loss.backward()\n        optimizer.zero_grad()«\n",
            ),
            "resnet": (
                "            loss.backward()\n",
                "            loss.backward()\n            optimizer.zero_grad()«\n",
            ),
            "rl": (
                "    optimizer.zero_grad()\n    loss.backward()\n",
                "    loss.backward()\n    optimizer.zero_grad()«\n",
            ),
        },
    ),
    *everywhere(
        "cleared-once-per-epoch",
        "PM601",
        {
            "mlp": (
                "    for x, y in loader:\n        optimizer.zero_grad()\n",
                "    optimizer.zero_grad()«\n    for x, y in loader:\n",
            ),
            "vae": (
                "    for (x,) in train_loader:\n        optimizer.zero_grad()\n",
                "    optimizer.zero_grad()«\n    for (x,) in train_loader:\n",
            ),
        },
    ),
    *everywhere(
        "eval-mode-for-ever",
        "PM611",
        {
            "mlp": ("    model.train()\n", ""),
            "resnet": ("        model.train()\n", ""),
            "gcn": ("    model.train()\n", ""),
        },
    ),
    *everywhere(
        "train-mode-in-evaluation",
        "PM612",
        {
            "mlp": ("    model.eval()\n", ""),
            "resnet": ("        model.eval()\n", ""),
            "gcn": ("        model.eval()\n", ""),
        },
    ),
    *everywhere(
        "model-replaced-after-optimizer",
        "PM407 PM402",
        {
            "mlp": (
                "    best, best_state = 0.0, None\n",
                "    model = MLP(30, 64, 2)«\n    best, best_state = 0.0, None\n",
            ),
            "resnet": (
                "    scheduler = CosineAnnealingLR(optimizer, T_max=EPOCHS)\n",
                "    scheduler = CosineAnnealingLR(optimizer, T_max=EPOCHS)\n    model.fc = nn.Linear(32, 10)«\n",
            ),
            "cnn": ("for epoch in range(8):\n", "model = Net()«\nfor epoch in range(8):\n"),
        },
    ),
    *everywhere(
        "only-the-head-in-the-optimizer",
        "PM402",
        {
            "mlp": ("Adam(model.parameters(), lr=1e-3)", "Adam(model.head.parameters(), lr=1e-3)«"),
            "gpt": (
                "AdamW(model.parameters(), lr=3e-3, weight_decay=0.01)",
                "AdamW(model.head.parameters(), lr=3e-3, weight_decay=0.01)«",
            ),
        },
    ),
    *everywhere(
        "wrong-network-in-the-optimizer",
        "PM402",
        {
            "gan": (
                "optimizer_d = torch.optim.Adam(discriminator.parameters()",
                "optimizer_d = torch.optim.Adam(generator.parameters()",
            )
        },
    ),
    *everywhere(
        "schedule-per-batch",
        "PM608",
        {
            "resnet": (
                "            running += loss.item()\n        scheduler.step()\n",
                "            running += loss.item()\n            scheduler.step()«\n",
            )
        },
    ),
    *everywhere(
        "schedule-before-optimizer",
        "PM607",
        {
            "resnet": (
                "            optimizer.zero_grad()\n",
                "            optimizer.zero_grad()\n            scheduler.step()«\n",
            ),
            "gpt": (
                "    optimizer.step()\n    schedule.step()\n",
                "    schedule.step()«\n    optimizer.step()\n",
            ),
        },
    ),
    *everywhere(
        "clipped-after-the-step",
        "PM604",
        {
            "gpt": (
                "    torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)\n    optimizer.step()\n",
                "    optimizer.step()\n    torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)«\n",
            ),
            "lstm": (
                "                nn.utils.clip_grad_norm_(model.parameters(), 1.0)\n                optimizer.step()\n",
                "                optimizer.step()\n"
                "                nn.utils.clip_grad_norm_(model.parameters(), 1.0)«\n",
            ),
        },
    ),
    *everywhere(
        "losses-kept-with-their-graphs",
        "PM703",
        {
            "mlp": ("total += loss.item() * len(x)", "total += loss * len(x)«"),
            "resnet": ("running += loss.item()", "running += loss«"),
        },
    ),
    *everywhere("best-weights-aliased", "PM410", {"mlp": ("copy.deepcopy(model.state_dict())", "model.state_dict()«")}),
]
