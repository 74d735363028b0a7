"""What can go wrong in the data."""

from benchmarks.accuracy.mutations import everywhere

MUTATIONS = [
    *everywhere(
        "sorted-and-not-shuffled",
        "PM306",
        {
            "mlp": (
                "    return DataLoader(train_set, batch_size, shuffle=True), DataLoader(val_set, 64)\n",
                "    train_ids = sorted(train_ids, key=lambda i: labels[i])\n"
                "    train_set = TensorDataset(x[train_ids], y[train_ids])\n"
                "    return DataLoader(train_set, batch_size), DataLoader(val_set, 64)«\n",
            ),
            "cnn": (
                "train_loader = DataLoader(train_set, batch_size=64, shuffle=True)\n",
                "by_class = np.argsort(labels[:1400], kind='stable')\n"
                "train_set = Digits(images[:1400][by_class], labels[:1400][by_class])\n"
                "train_loader = DataLoader(train_set, batch_size=64)«\n",
            ),
        },
    ),
    *everywhere(
        "not-scaled",
        "PM301",
        {
            "mlp": ("    x = (x - mean) / std\n", ""),
            "cnn": ("(image - 4.9) / 6.0", "image * 15.9"),
        },
    ),
    *everywhere("scaled-twice", "PM301", {"cnn": ("(image - 4.9) / 6.0", "image / 16 / 255")}),
    *everywhere(
        "labels-shuffled",
        "PM311 PM207",
        {
            "cnn": (
                "digits.images[order], digits.target[order]",
                "digits.images[order], np.random.permutation(digits.target)«",
            ),
            "mlp": ("    y = torch.tensor(labels)\n", "    y = torch.tensor(labels)[torch.randperm(len(labels))]«\n"),
        },
    ),
    *everywhere(
        "labels-from-one",
        "PM304",
        {
            "cnn": ("int(self.labels[index])", "int(self.labels[index]) + 1"),
            "resnet": ("    y = torch.tensor(digits.target)\n", "    y = torch.tensor(digits.target) + 1«\n"),
        },
    ),
    *everywhere(
        "training-samples-in-validation",
        "PM307",
        {
            "mlp": ("TensorDataset(x[val_ids], y[val_ids])", "TensorDataset(x[train_ids[:140]], y[train_ids[:140]])«"),
            "cnn": ("Digits(images[1400:], labels[1400:])", "Digits(images[1000:], labels[1000:])«"),
            "resnet": (
                "    train_set, val_set = random_split(dataset, [1437, 360])\n",
                "    train_set, val_set = random_split(dataset, [1437, 360])\n"
                "    val_set = random_split(dataset, [360, 1437])[0]«\n",
            ),
            "lstm": ("Markers(300, seed=2)", "Markers(300, seed=1)"),
            "vae": ("TensorDataset(pixels[1500:])", "TensorDataset(pixels[1200:])"),
        },
    ),
    *everywhere(
        "nan-in-the-input",
        "PM105",
        {"mlp": ("    x = (x - mean) / std\n", "    x = (x - mean) / std\n    x[train_ids[7], 3] = float('nan')«\n")},
    ),
    *everywhere("constant-input", "PM303", {"cnn": ("(image - 4.9) / 6.0", "image * 0")}),
    *everywhere(
        "targets-out-of-range",
        "PM512 PM208 PM507",
        {
            "vae": (
                "pixels = torch.tensor(load_digits().data, dtype=torch.float32) / 16\n",
                "pixels = torch.tensor(load_digits().data, dtype=torch.float32)«\n",
            )
        },
    ),
]
