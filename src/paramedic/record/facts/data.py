"""Facts about data: loaders, batches, samples, tokens and masks."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from paramedic.record.facts.fact import Fact, fact, part
from paramedic.record.facts.tensors import Tensor
from paramedic.record.site import Site


@part
class LabelOrder:
    """The labels of a data set, in its own order."""

    count: int
    classes: int
    changes: int  # how often the label differs from the one before


@part
class LabelSites:
    """The lines that make the labels of a loader's batches."""

    shifted: Site | None = None
    left_out: Site | None = None
    padded: Site | None = None

    def of(self, how: str) -> Site | None:
        return {"shifted": self.shifted, "left_out": self.left_out, "padded": self.padded}[how]


@part
class SamplerFit:
    """How many samples a sampler can reach, against how many there are."""

    kind: str  # "weights" or "indices"
    entries: int
    size: int
    positive: int | None = None  # weights above 0
    misplaced: int | None = None  # weights that are those of another class, of weights by the frequency of classes
    highest: int | None = None  # index


@part
class GeneratorPart:
    """A random generator that lives on a data set and is drawn from while samples are made."""

    attribute: str
    class_: str


class Filled(NamedTuple):
    """What a data set stores while samples are loaded, and the line that does."""

    name: str
    type: str
    file: str | None
    line: int | None
    function: str | None


@fact("loader", missing="no DataLoader is used")
class Loader(Fact):
    """A DataLoader and how it samples."""

    number: int
    dataset: str  # its class
    sampler: str  # its class
    own_batch_sampler: bool
    drop_last: bool
    workers: int
    iterable: bool
    size: int | None = None
    batch_size: int | None = None
    batches: int | None = None
    labels: LabelOrder | None = None
    labels_at: LabelSites | None = None
    variable: str | None = None
    reader: Site | None = None  # the line of the data set that reads a sample
    boxes: bool = False  # the data set speaks of boxes
    fit: SamplerFit | None = None
    sampler_at: Site | None = None
    generator: GeneratorPart | None = None
    worker_init: bool = False
    persistent: bool = False
    filled: Sequence[Filled] = ()


@fact("batch", missing="no DataLoader is used")
class Batch(Fact):
    """A batch from a DataLoader."""

    loader: int
    position: int
    tensors: Sequence[Tensor]
    epoch: int = -1
    place: int = -1  # in its epoch


@fact("graph_batch", missing="no model was given several graphs at once")
class GraphBatch(Fact):
    """Several graphs, given to a model as one: features of all nodes, edges, and the graph of each node."""

    nodes: int
    graphs: int
    reached: int  # graphs with at least one edge
    last: int  # the last of these
    answers: Sequence[int] = ()  # first sizes of the model's outputs


@fact("epoch", missing="no DataLoader was read to its end")
class Epoch(Fact):
    """One pass over a DataLoader: how long training waited for it."""

    loader: int
    workers: int
    began: float  # seconds of a clock of its own
    batches: int
    seconds: float
    start: float  # seconds until the iterator was there
    first: float  # seconds until the first batch
    wait: float  # seconds for all later ones
    fetched: int  # batches, by the workers
    fetching: float  # seconds, of the workers
    load: float = 0.0  # threads of all programs of the machine that wanted to run, per processor; 0: not known


@fact("bad_input", missing="all batches were finite")
class BadInput(Fact):
    """NaN or infinity in a batch or in a model's input."""

    source: str  # "loader" or "model input"
    path: str
    nan: float
    inf: float
    loader: int | None = None
    position: int | None = None
    rows: Sequence[int] = ()
    samples: Sequence[int] = ()


@fact("bad_sample", missing="every sample could be loaded")
class BadSample(Fact):
    """A sample that could not be loaded."""

    loader: int
    type: str
    message: str
    samples: Sequence[int]
    collate: bool  # it did not fit in with the others
    in_reader: bool
    sample: int | None = None
    reader: Site | None = None


@fact("input", missing="no Linear or convolution got data directly")
class Input(Fact):
    """The scale of what reaches a model's first layer."""

    class_: str
    shape: Sequence[int]
    grad: bool
    calls: int
    features: int
    samples: int
    min: float
    max: float
    mean: float
    std: float
    largest_feature_std: float
    median_feature_std: float
    largest_feature_mean: float
    constant_features: float
    whole_numbers: float  # share
    roughness: float  # of pictures or series, as they are
    roughness_interleaved: float  # of them, if colours or channels came last
    typical: float
    loader: int | None = None
    reshaped_at: Site | None = None  # the only line of the program that may have made it so


@fact("columns", missing="no table of a few columns reached a first layer")
class Columns(Fact):
    """The columns of a table that reaches a model's first layer, one number per column."""

    rows: int
    loader: int | None
    mean: Sequence[float]
    std: Sequence[float]
    lower_quartile: Sequence[float]
    upper_quartile: Sequence[float]
    low: Sequence[float]  # the lowest value,
    low_rows: Sequence[float]  # the rows that have exactly this,
    after_low: Sequence[float]  # and the next value above it
    high: Sequence[float]
    high_rows: Sequence[float]
    before_high: Sequence[float]


@fact("tokens", missing="no token ids were seen")
class Tokens(Fact):
    """How the rows of a batch of token ids end."""

    value: int  # the id in which most rows end
    shortest: int  # run at a row's end
    longest: int
    padding: int  # ids in such runs
    inside: int  # the same id elsewhere
    rows: int
    width: int


@fact("mask", missing="no padding mask was seen with its token ids")
class Mask(Fact):
    """A padding mask beside the token ids it belongs to."""

    padding: int
    masked_padding: int
    masked_tokens: int
    tokens: int
    rows: int
    padded_rows: int
    shortest: int
    longest: int
    inside: int
    value: int
    all_ones: bool
    none: bool  # nothing is masked
    over: str  # "keys" or "queries"
    declared: str | None = None  # what the name of a model's argument says


@fact("confusion", missing="no answers were compared with class labels")
class Confusion(Fact):
    """Which class an evaluation answered for which label."""

    labels: Sequence[Sequence[int]]  # label, how often, the answer it got most often, how often
    rows: Sequence[tuple[int, Sequence[tuple[int, int]]]] = ()  # of few classes: label, and (answer, how often) of each


@fact("specimens", missing="no batch was looked at")
class Specimens(Fact):
    """A few samples of a batch as people see them, with labels and answers."""

    kind: str  # "pictures", "rows" or "tokens"
    shape: Sequence[int]  # of the whole input
    batch: int  # samples in it
    samples: Sequence[str | Sequence[float]]  # pixels in base64, or numbers
    labels: Sequence[float] = ()  # one per sample, where there is one
    answers: Sequence[float] = ()
    size: Sequence[int] = ()  # of a picture: height, width, colours
    range: Sequence[float] = ()  # of its values: what is black, what is white
    vocabulary: str = ""  # the variable that says what token ids stand for, where one is known for certain
    tokens: Sequence[Sequence[str]] = ()  # by it
    label_tokens: Sequence[Sequence[str]] = ()  # where every token has a label: as text, or as numbers
    answer_tokens: Sequence[Sequence[str]] = ()


@fact("labelled_samples", missing="no training batch with one label per sample was looked at")
class LabelledSamples(Fact):
    """What the model was given in its first pass over the training data, sample by sample, beside the labels."""

    rows: int
    width: int  # numbers per sample
    features: str  # rows × width half-precision numbers in base64: the inputs, or fewer numbers made of them
    labels: Sequence[float]
    classes: bool  # the labels are numbers of classes, else they are quantities
    inputs: int  # numbers per sample before they were made fewer
    tokens: bool  # the inputs are ids: features count them, whatever their order
    loader: int | None = None


@fact("exchanged_transform", missing="no transform was exchanged")
class ExchangedTransform(Fact):
    """A transform put into a dataset after it was split."""

    loader: int
    attribute: str
    through: Sequence[str]  # the attributes that lead from the subset to the data set
    object: int


@fact("stored_rows", missing="no dataset with its samples in one array was read in this process")
class StoredRows(Fact):
    """Whether the samples that a dataset holds changed when a batch of them was read."""

    loader: int
    attribute: str
    epoch: int
    read: int  # samples of the batch
    changed: int  # of those
    others: int  # samples that changed although nobody read them


@fact("repeats", missing="no stream was read by several workers")
class Repeats(Fact):
    """Samples of a stream that came from several workers."""

    loader: int
    rows: int
    across: int
    within: int


@fact("order", missing="no loader that shuffles was seen")
class Order(Fact):
    """A pass over a loader that shuffles: which samples came first, and what its sampler takes for the epoch."""

    loader: int
    pass_: int
    sampler: str
    first: Sequence[int]
    set: int
    told: bool = True  # it has to be told the epoch
    variable: str | None = None
    epoch: int | None = None
    seed: int | None = None
    batches: int | None = None


@fact("overlap", missing="no two loaders were compared")
class Overlap(Fact):
    """Samples that two loaders have both given."""

    loader: int
    other: int
    shared_indices: int
    indices: int
    other_indices: int
    shared_contents: int
    contents: int
    other_contents: int
    first_rows: int  # samples in the first pass
    first_contents: int  # different ones among them
    other_first_rows: int
    other_first_contents: int
    continuous: bool = False  # hardly two samples have one value in common, so none are equal by chance
    shared_stretches: int = 0  # short stretches of series, where values are continuous: windows may overlap
    stretches: int = 0


@fact("fed_rows", missing="no such rows were seen")
class FedRows(Fact):
    """Rows evaluated without a loader that were trained on."""

    rows: int
    shared: int
    trained: int
    known: float
    twice: int = 0  # rows that a training batch held more than once: the data has copies


@part
class Thinned:
    """A set of numbers, or the part of it that a hash puts below a limit."""

    kept: Sequence[int]
    limit: int


@fact("selection", missing="no part of a dataset was chosen")
class Selection(Fact):
    """Which part of a dataset a loader reads, for other ranks."""

    loader: int
    root: str
    prints: Mapping[str, Sequence[str | bool]]  # attribute -> digest, and whether it tells samples apart
    chosen: int
    indices: Thinned
    size: int | None = None


@fact("contents", missing="no samples of several ranks were seen")
class Contents(Fact):
    """The samples that a loader gave, for other ranks."""

    loader: int
    digests: Thinned
    first_rows: int
    first_contents: int
