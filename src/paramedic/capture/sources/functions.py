"""The functions of torch that the function mode hands to its handlers, by what they are to a graph."""

from __future__ import annotations

import torch
from torch.nn import functional as F

T = torch.Tensor

ARITHMETIC = {
    T.sub: "-", T.__sub__: "-", T.__rsub__: "-", torch.sub: "-", torch.subtract: "-",
    T.mul: "*", T.__mul__: "*", T.__rmul__: "*", torch.mul: "*", torch.multiply: "*",
    T.add: "+", T.__add__: "+", T.__radd__: "+", torch.add: "+", T.__iadd__: "+", T.add_: "+",
    T.div: "/", T.__truediv__: "/", torch.div: "/",
}  # fmt: skip
SOFTMAX = {F.softmax, torch.softmax, T.softmax, F.log_softmax, torch.log_softmax, T.log_softmax}
CUTS = {
    T.detach: ".detach()", torch.detach: ".detach()", T.detach_: ".detach_()", T.data.__get__: ".data",
    T.item: ".item()", T.tolist: ".tolist()", T.numpy: ".numpy()", T.__float__: "float()",
    T.argmax: ".argmax()", torch.argmax: "argmax()", T.round: ".round()", torch.round: "round()",
    T.sign: ".sign()", torch.sign: "sign()", T.floor: ".floor()", torch.floor: "floor()",
    T.long: ".long()", T.int: ".int()", torch.tensor: "torch.tensor()",
}  # fmt: skip
COMPARISON = {T.eq, T.__eq__, torch.eq, torch.equal, T.equal}
ORDER = {
    T.gt: ">", T.__gt__: ">", torch.gt: ">", T.lt: "<", T.__lt__: "<", torch.lt: "<",
    T.ge: ">=", T.__ge__: ">=", torch.ge: ">=", T.le: "<=", T.__le__: "<=", torch.le: "<=",
}  # fmt: skip
FLAT = (".round()", "round()", ".sign()", "sign()", ".floor()", "floor()")  # they pass on a gradient of zero
CUTS |= {function: f"the comparison {sign}" for function, sign in ORDER.items()}
ACTIVATIONS = {
    F.sigmoid: "sigmoid", torch.sigmoid: "sigmoid", T.sigmoid: "sigmoid", F.tanh: "tanh", torch.tanh: "tanh",
    T.tanh: "tanh", F.relu: "relu", torch.relu: "relu", T.relu: "relu", F.logsigmoid: "logsigmoid",
    F.softmax: "softmax", torch.softmax: "softmax", T.softmax: "softmax", F.log_softmax: "log_softmax",
    torch.log_softmax: "log_softmax", T.log_softmax: "log_softmax", F.softplus: "softplus", F.elu: "elu",
}  # fmt: skip
