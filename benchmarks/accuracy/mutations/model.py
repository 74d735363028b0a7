"""What can go wrong in the model."""

from benchmarks.accuracy.mutations import everywhere

ZEROS = "for p in model.parameters():\n{0}    nn.init.zeros_(p)«\n{0}"
MUTATIONS = [
    *everywhere(
        "no-nonlinearity",
        "PM408",
        {
            "mlp": ("        h = torch.relu(self.fc1(x))\n", "        h = self.fc1(x)«\n"),
            "cnn": ("        x = F.relu(self.fc1(x))\n", "        x = self.fc1(x)«\n"),
            "vae": (
                "nn.Linear(latent, hidden), nn.ReLU(), nn.Linear(hidden, pixels))",
                "nn.Linear(latent, hidden), nn.Linear(hidden, pixels))«",
            ),
            "gpt": ("nn.Linear(width, 4 * width), nn.GELU(), nn", "nn.Linear(width, 4 * width), nn"),
            "gan": (
                "nn.Linear(LATENT, 64), nn.ReLU(), nn.Linear(64, 64), nn.ReLU(), nn",
                "nn.Linear(LATENT, 64), nn.Linear(64, 64), nn",
            ),
        },
    ),
    *everywhere(
        "detached",
        "PM403",
        {
            "mlp": ("        h = torch.relu(self.fc2(h))\n", "        h = torch.relu(self.fc2(h)).detach()«\n"),
            "cnn": ("        x = x.flatten(1)\n", "        x = x.detach().flatten(1)«\n"),
            "resnet": ("        x = self.stem(x)\n", "        x = self.stem(x).detach()«\n"),
            "lstm": (
                "        embedded = self.embedding(tokens)\n",
                "        embedded = self.embedding(tokens).data«\n",
            ),
            "gcn": (
                "        h = F.relu(self.conv1(x, adjacency))\n",
                "        h = F.relu(self.conv1(x, adjacency)).detach()«\n",
            ),
            "vae": (
                "        h = self.encoder(x)\n",
                "        with torch.no_grad():«\n            h = self.encoder(x)\n",
            ),
        },
    ),
    *everywhere(
        "all-zero-weights",
        "PM211",
        {
            "mlp": (
                "    criterion = nn.CrossEntropyLoss()\n",
                "    " + ZEROS.format("    ") + "criterion = nn.CrossEntropyLoss()\n",
            ),
            "cnn": ("optimizer = torch.optim.SGD(", ZEROS.format("") + "optimizer = torch.optim.SGD("),
            "gcn": ("optimizer = torch.optim.Adam(", ZEROS.format("") + "optimizer = torch.optim.Adam("),
        },
    ),
    *everywhere(
        "plain-list",
        "PM401",
        {
            "resnet": (
                "nn.ModuleList([Block(16, 16), Block(16, 32, 2), Block(32, 32)])",
                "[Block(16, 16), Block(16, 32, 2), Block(32, 32)]«",
            ),
            "gpt": (
                "nn.ModuleList([Block(width, heads) for _ in range(layers)])",
                "[Block(width, heads) for _ in range(layers)]«",
            ),
        },
    ),
    *everywhere(
        "one-block-many-times",
        "PM406",
        {
            "gpt": (
                "nn.ModuleList([Block(width, heads) for _ in range(layers)])",
                "nn.ModuleList([Block(width, heads)] * layers)«",
            )
        },
    ),
    *everywhere(
        "samples-mixed",
        "PM413 PM313",
        {"cnn": ("        x = x.flatten(1)\n", "        x = x.transpose(0, 1).reshape(len(x), -1)«\n")},
    ),
    *everywhere(
        "future-seen",
        "PM417",
        {"gpt": ('        scores = scores.masked_fill(~self.mask[:t, :t], float("-inf"))\n', "")},
    ),
    *everywhere(
        "freeze-that-freezes-nothing",
        "PM404",
        {"resnet": ("    model = ResNet()\n", "    model = ResNet()\n    model.stem.requires_grad = False«\n")},
    ),
    *everywhere(
        "dropout-never-off",
        "PM613",
        {
            "mlp": ("        h = self.drop(h)\n", "        h = nn.Dropout(0.5)(h)«\n"),
            "gcn": ("F.dropout(h, 0.5, training=self.training)", "F.dropout(h, 0.5)«"),
        },
    ),
    *everywhere(
        "layer-made-in-forward",
        "PM401",
        {
            "mlp": (
                "        h = torch.relu(self.fc2(h))\n",
                "        h = torch.relu(nn.Linear(h.shape[1], h.shape[1])(h))«\n",
            )
        },
    ),
]
