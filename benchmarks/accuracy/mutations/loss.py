"""What can go wrong in the loss."""

from benchmarks.accuracy.mutations import everywhere

MUTATIONS = [
    *everywhere(
        "softmax-before-cross-entropy",
        "PM502",
        {
            "mlp": ("        return self.head(h)\n", "        return self.head(h).softmax(dim=1)«\n"),
            "cnn": ("        return self.fc2(x)\n", "        return F.softmax(self.fc2(x), dim=1)«\n"),
            "resnet": ("        return self.fc(x)\n", "        return torch.softmax(self.fc(x), dim=1)«\n"),
            "lstm": ("        return self.head(hidden[-1])\n", "        return self.head(hidden[-1]).softmax(-1)«\n"),
            "gpt": (
                "        logits = self.head(self.norm(x))\n",
                "        logits = self.head(self.norm(x)).softmax(-1)«\n",
            ),
        },
    ),
    *everywhere(
        "sigmoid-before-bce-with-logits",
        "PM503",
        {
            "vae": ("nn.Linear(hidden, pixels))", "nn.Linear(hidden, pixels), nn.Sigmoid())«"),
            "gan": ("nn.LeakyReLU(0.2), nn.Linear(64, 1))", "nn.LeakyReLU(0.2), nn.Linear(64, 1), nn.Sigmoid())«"),
        },
    ),
    *everywhere(
        "no-log-before-nll",
        "PM504",
        {"gcn": ("        return F.log_softmax(h, dim=1)\n", "        return F.softmax(h, dim=1)«\n")},
    ),
    *everywhere(
        "scores-into-nll",
        "PM504",
        {
            "gcn": ("        return F.log_softmax(h, dim=1)\n", "        return h«\n"),
            "mlp": ("criterion = nn.CrossEntropyLoss()", "criterion = nn.NLLLoss()«"),
        },
    ),
    *everywhere(
        "softmax-over-the-batch",
        "PM414",
        {
            "gcn": ("F.log_softmax(h, dim=1)", "F.log_softmax(h, dim=0)«"),
            "gpt": ("scores.softmax(dim=-1)", "scores.softmax(dim=0)«"),
        },
    ),
    *everywhere(
        "broadcast",
        "PM501",
        {
            "rl": (
                "        return self.policy(h), self.value(h).squeeze(-1)\n",
                "        return self.policy(h), self.value(h)«\n",
            )
        },
    ),
    *everywhere(
        "wrong-sign",
        "PM516 PM208 PM507",
        {
            "mlp": ("        loss = criterion(out, y)\n", "        loss = -criterion(out, y)«\n"),
            "rl": ("policy_loss = -(torch", "policy_loss = (torch"),
            "vae": ("    kl = -0.5 *", "    kl = 0.5 *"),
            "gan": ("loss_g = criterion(discriminator(fake), ones)", "loss_g = criterion(discriminator(fake), zeros)«"),
        },
    ),
    *everywhere(
        "summed-loss",
        "PM510 PM205 PM208 PM101",
        {
            "cnn": (
                "loss = F.cross_entropy(logits, labels)\n",
                'loss = F.cross_entropy(logits, labels, reduction="sum")«\n',
            )
        },
    ),
    *everywhere(
        "term-without-gradient",
        "PM506",
        {"vae": ("    return reconstruction + kl\n", "    return reconstruction + kl.detach()«\n")},
    ),
    *everywhere(
        "squared-error-on-classes",
        "PM514",
        {"cnn": ("loss = F.cross_entropy(logits, labels)\n", "loss = F.mse_loss(logits[:, 0], labels.float())«\n")},
    ),
    *everywhere(
        "gradient-into-the-target",
        "PM517",
        {"rl": ("advantage = returns - values.detach()", "advantage = returns - values«")},
    ),
    *everywhere(
        "generator-cut-off",
        "PM403",
        {
            "gan": (
                "loss_g = criterion(discriminator(fake), ones)",
                "loss_g = criterion(discriminator(fake.detach()), ones)«",
            )
        },
    ),
    *everywhere("labels-not-shifted", "PM513", {"gpt": ("source[i + 1 : i + 1 + BLOCK]", "source[i : i + BLOCK]")}),
    *everywhere(
        "labels-shifted-twice",
        "PM513",
        {
            "gpt": (
                "        loss = F.cross_entropy(logits.view(-1, logits.shape[-1]), targets.reshape(-1))\n",
                "        logits, targets = logits[:, :-1], targets[:, 1:]\n"
                "        loss = F.cross_entropy(logits.reshape(-1, logits.shape[-1]), targets.reshape(-1))«\n",
            )
        },
    ),
]
