"""One name for what frameworks call differently."""

from __future__ import annotations

import re

KNOWN = {
    "linear": "Linear NonDynamicallyQuantizableLinear Dense Gemm MatMul EinsumDense DenseGeneral addmm",
    "conv": "Conv Conv1d Conv2d Conv3d Conv1D Conv2D Conv3D conv1d conv2d conv3d",
    "depthwise": "DepthwiseConv2D DepthwiseConv1D",
    "transposed-conv": "ConvTranspose ConvTranspose1d ConvTranspose2d Conv1DTranspose Conv2DTranspose conv_transpose2d",
    "batch-norm": "BatchNorm BatchNorm1d BatchNorm2d BatchNorm3d BatchNormalization batch_norm",
    "layer-norm": "LayerNorm LayerNormalization layer_norm",
    "group-norm": "GroupNorm GroupNormalization group_norm",
    "rms-norm": "RMSNorm RMSNormalization rms_norm LlamaRMSNorm",
    "gelu": "GELU Gelu gelu GELUActivation NewGELUActivation",
    "relu": "ReLU Relu relu",
    "leaky-relu": "LeakyReLU LeakyRelu leaky_relu",
    "silu": "SiLU Swish silu swish SiLUActivation",
    "sigmoid": "Sigmoid sigmoid",
    "tanh": "Tanh tanh",
    "softmax": "Softmax softmax",
    "lstm": "LSTM LSTMCell OptimizedLSTMCell lstm",
    "gru": "GRU GRUCell gru",
    "attention": "MultiheadAttention MultiHeadAttention MultiHeadDotProductAttention MultiHeadAttention",
    "embedding": "Embedding Embed embedding Gather",
    "max-pool": "MaxPool MaxPool1d MaxPool2d MaxPooling1D MaxPooling2D max_pool2d",
    "avg-pool": "AvgPool AveragePool AvgPool1d AvgPool2d AveragePooling1D AveragePooling2D avg_pool2d",
    "global-pool": "AdaptiveAvgPool1d AdaptiveAvgPool2d GlobalAveragePool GlobalAveragePooling1D "
    "GlobalAveragePooling2D adaptive_avg_pool2d mean ReduceMean",
    "resize": "Upsample UpSampling2D Resize interpolate",
    "flatten": "Flatten flatten Reshape reshape",
    "add": "Add add __add__",
    "mul": "Mul mul Multiply",
    "cat": "Concat cat Concatenate",
    "transpose": "Transpose transpose permute Permute",
    "attention-product": "scaled_dot_product_attention Attention",
}
_NAMES = {name: kind for kind, names in KNOWN.items() for name in names.split()}


def canonical(kind: str) -> str:
    return _NAMES.get(kind, re.sub(r"[\W_]+", "", kind).lower())
