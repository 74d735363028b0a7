"""What can go wrong in the settings."""

from benchmarks.accuracy.mutations import everywhere

MUTATIONS = [
    *everywhere(
        "learning-rate-times-1000",
        "PM205 PM208 PM101",
        {
            "cnn": ("lr=0.05, momentum=0.9)", "lr=50, momentum=0.9)«"),
            "resnet": ("lr=0.05, momentum=0.9, weight_decay=5e-4)", "lr=50, momentum=0.9, weight_decay=5e-4)«"),
            "lstm": ("lr=5e-3)", "lr=5.0)«"),
            "gpt": ("lr=3e-3, weight_decay=0.01)", "lr=3.0, weight_decay=0.01)«"),
            "gcn": ("lr=0.01, weight_decay=5e-4)", "lr=10.0, weight_decay=5e-4)«"),
            "vae": ("lr=2e-3)", "lr=2.0)«"),
        },
    ),
    *everywhere(
        "learning-rate-by-10000",
        "PM206 PM207",
        {
            "mlp": ("lr=1e-3)", "lr=1e-7)«"),
            "cnn": ("lr=0.05, momentum=0.9)", "lr=5e-6, momentum=0.9)«"),
            "lstm": ("lr=5e-3)", "lr=5e-7)«"),
            "gpt": ("lr=3e-3, weight_decay=0.01)", "lr=3e-7, weight_decay=0.01)«"),
            "vae": ("lr=2e-3)", "lr=2e-7)«"),
            "rl": ("lr=1e-2)", "lr=1e-6)«"),
        },
    ),
    *everywhere(
        "learning-rate-zero",
        "PM206",
        {"resnet": ("lr=0.05, momentum=0.9, weight_decay=5e-4)", "lr=0.0, momentum=0.9, weight_decay=5e-4)«")},
    ),
    *everywhere(
        "momentum-one",
        "PM205 PM208 PM101",
        {
            # The residual network learns with momentum 1 as well: batch normalisation forgives it.
            "cnn": ("lr=0.05, momentum=0.9)", "lr=0.05, momentum=1.0)«"),
        },
    ),
    *everywhere(
        "weight-decay-too-strong",
        "PM217 PM207 PM209 PM213",
        {"gcn": ("lr=0.01, weight_decay=5e-4)", "lr=0.01, weight_decay=5.0)«")},
    ),
]
