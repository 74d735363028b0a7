"""`paramedic audit`: faults that were planted are found with their samples; healthy data is left in peace."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from sklearn import datasets
from sklearn.model_selection import train_test_split
from torch.utils.data import DataLoader, Dataset, IterableDataset, Subset, TensorDataset, WeightedRandomSampler

import paramedic
from workshop import Workshop

SETS = ("iris", "wine", "digits", "breast_cancer", "diabetes", "linnerud")


def split_of(name: str, seed: int = 0) -> tuple[Any, Any, Any, Any]:
    x, y = getattr(datasets, f"load_{name}")(return_X_y=True)
    return train_test_split(x, y, test_size=0.25, random_state=seed)


def as_dataset(x: Any, y: Any) -> TensorDataset:
    return TensorDataset(torch.tensor(x, dtype=torch.float32), torch.tensor(y))


def found(report: Any, code: str) -> list[Any]:
    return [finding for finding in report.findings if finding.code == code]


def alarms(report: Any) -> list[str]:
    assert report.diagnosis.crashed == (), report.diagnosis.crashed[0].traceback
    return [f"{finding.code} {finding.what}" for finding in report.diagnosis.alarms]


@pytest.mark.parametrize("name", SETS)
def test_healthy_sets_raise_no_alarm(name: str) -> None:
    x, vx, y, vy = split_of(name)
    assert alarms(paramedic.audit((x, y), (vx, vy))) == []
    report = paramedic.audit(as_dataset(x, y), DataLoader(as_dataset(vx, vy), batch_size=16))
    assert alarms(report) == [] and report.verdict == "healthy"


def test_the_one_true_pair_of_iris_is_a_note() -> None:
    x, y = datasets.load_iris(return_X_y=True)
    (pair,) = found(paramedic.audit((x, y), select=["PM308"]), "PM308")
    assert pair.severity == "note" and pair.samples == (101, 142) and pair.split == "train"
    assert not found(paramedic.audit(datasets.load_digits(return_X_y=True), select=["PM308"]), "PM308")


def test_rows_in_both_parts_are_named() -> None:
    x, vx, y, vy = split_of("breast_cancer")
    report = paramedic.audit((np.concatenate([x, vx[5:20]]), np.concatenate([y, vy[5:20]])), (vx, vy))
    (leak,) = found(report, "PM307")
    assert leak.severity == "error" and set(leak.samples) == set(range(5, 20)) and leak.split == "val"
    assert report.findings[0] is leak and "of the others" in leak.why, "what the leak is worth"


def test_a_leak_is_seen_through_random_transforms() -> None:
    class Noisy(Dataset[Any]):
        def __len__(self) -> int:
            return 200

        def __getitem__(self, index: int) -> Any:
            return torch.full((4,), float(index)) + torch.randn(4), index % 2

    whole = Noisy()
    report = paramedic.audit(Subset(whole, range(150)), Subset(whole, range(140, 200)), select=["PM307", "PM317"])
    assert found(report, "PM307")[0].samples == tuple(range(10))
    assert found(report, "PM317"), "validation samples change each time they are read"


def test_a_leak_between_two_samplers_is_named_by_the_dataset_s_own_indices() -> None:
    from torch.utils.data import SubsetRandomSampler

    x, y = datasets.load_iris(return_X_y=True)
    whole = as_dataset(x, y)
    train, val = (DataLoader(whole, sampler=SubsetRandomSampler(rows)) for rows in (range(110), range(100, 150)))
    assert sorted(found(paramedic.audit(train, val, select=["PM307"]), "PM307")[0].samples) == list(range(100, 110))


def test_tables_with_few_possible_rows_repeat_by_chance() -> None:
    random = np.random.default_rng(0)
    x, y = random.integers(0, 3, (400, 4)).astype(float), random.integers(0, 2, 400)
    report = paramedic.audit((x[:300], y[:300]), (x[300:], y[300:]), select=["PM307", "PM308"])
    assert report.findings and alarms(report) == []


def test_wrong_labels_are_ranked_first() -> None:
    x, y = datasets.load_digits(return_X_y=True)
    random = np.random.default_rng(0)
    wrong = random.choice(len(y), 90, replace=False)
    noisy = y.copy()
    noisy[wrong] = (noisy[wrong] + random.integers(1, 10, 90)) % 10
    (finding,) = found(paramedic.audit((x, noisy), select=["PM310"]), "PM310")
    assert finding.severity == "warning"
    assert len(set(finding.samples[:60]) & set(wrong.tolist())) >= 57
    assert len(set(finding.samples) & set(wrong.tolist())) >= 75


def test_confident_learning_by_hand() -> None:
    """Two classes; the model is usually 0.8 and 0.9 sure; sample 2 is labelled 0 and is 0.95 sure to be 1."""
    from paramedic.audit.models.label_errors import off_diagonal, self_confidence, thresholds

    labels = np.asarray([0, 0, 0, 1, 1])
    of_one = np.asarray([0.05, 0.10, 0.95, 0.92, 0.88])
    probabilities = np.stack([1 - of_one, of_one], axis=1)
    assert thresholds(labels, probabilities) == pytest.approx([(0.95 + 0.90 + 0.05) / 3, 0.90])
    assert off_diagonal(labels, probabilities).tolist() == [False, False, True, False, False]
    assert self_confidence(labels, probabilities).argmin() == 2


@pytest.mark.parametrize(
    ("spoil", "code"),
    [
        (lambda x, y: (x, np.random.default_rng(0).permutation(y)), "PM311"),
        (lambda x, y: (x[1:], y[:-1]), "PM311"),
        (lambda x, y: (np.random.default_rng(0).normal(size=(600, 5)), y[:600] % 2), "PM322"),
    ],
    ids=["shuffled", "moved by a row", "noise"],
)
def test_targets_that_do_not_belong_to_their_inputs(spoil: Callable[..., Any], code: str) -> None:
    x, y = datasets.load_digits(return_X_y=True)
    order = np.random.default_rng(1).permutation(len(y))
    report = paramedic.audit(spoil(x[order], y[order]), select=["PM311", "PM322", "PM310"])
    assert report.findings[0].code == code, report.findings


class Broken(Dataset[Any]):
    """Some of its samples fail, one has another shape, one holds a NaN."""

    def __len__(self) -> int:
        return 120

    def __getitem__(self, index: int) -> Any:
        if index in (7, 50):
            raise OSError(f"image {index} is truncated")
        image = torch.rand(3, 16, 16, generator=torch.Generator().manual_seed(index))
        if index == 30:
            image[0, 3, 3] = float("nan")
        return image[:, :, :12] if index == 99 else image, index % 3


def test_bad_samples_are_named_and_the_rest_is_audited() -> None:
    report = paramedic.audit(DataLoader(Broken(), batch_size=8), select=["PM320", "PM105"])
    samples = {finding.samples for finding in found(report, "PM320")}
    assert samples == {(7, 50), (99,)}
    assert found(report, "PM105")[0].samples == (30,) and found(report, "PM105")[0].severity == "error"
    assert report.diagnosis.run.samples == 118


def test_what_was_read_before_ctrl_c_is_reported() -> None:
    class Stopped(Broken):
        def __len__(self) -> int:
            return 5000

        def __getitem__(self, index: int) -> Any:
            if index == 600:
                raise KeyboardInterrupt
            return torch.tensor([float(index), float("nan") if index == 3 else 1.0]), index % 2

    report = paramedic.audit(Stopped(), select=["PM105", "PM320"])
    assert found(report, "PM105")[0].samples == (3,)
    assert report.diagnosis.run.samples == 512 and "stopped after 512" in report.diagnosis.run.notices[0]


def test_labels_that_torch_will_refuse() -> None:
    x, y = datasets.load_iris(return_X_y=True)
    assert found(paramedic.audit(as_dataset(x, y + 1), select=["PM304"]), "PM304")[0].severity == "warning"
    assert found(paramedic.audit((x, y + 1), select=["PM304"]), "PM304")[0].severity == "note"
    stray = y.copy()
    stray[17] = 250
    assert found(paramedic.audit(as_dataset(x, stray), task="classification", select=["PM304"]), "PM304")[
        0
    ].samples == (17,)


def test_an_endless_stream_is_read_as_far_as_asked() -> None:
    class Endless(IterableDataset[Any]):
        def __iter__(self) -> Any:
            number = 0
            while True:
                yield torch.full((3,), float(number % 997)) * torch.tensor([1.0, 2.0, 3.0]), number % 2
                number += 1

    for data in (Endless(), DataLoader(Endless(), batch_size=64)):
        report = paramedic.audit(data, sample=500, select=["PM105", "PM303"])
        assert report.diagnosis.run.samples == 500 and alarms(report) == []


def test_a_pandas_frame() -> None:
    pytest.importorskip("polars")
    pandas = pytest.importorskip("pandas")
    x, y = datasets.load_iris(return_X_y=True)
    frame = pandas.DataFrame(x, columns=list("abcd")).assign(species=np.asarray(["s", "v", "i"])[y])
    report = paramedic.audit(frame)
    assert alarms(report) == [] and "3 different names" in report.diagnosis.run.data[1]


def test_a_sorted_loader_and_a_sampler_that_does_not_fit() -> None:
    x, y = datasets.load_iris(return_X_y=True)
    in_order = DataLoader(as_dataset(x, y), batch_size=16)
    assert found(paramedic.audit(in_order, select=["PM306"]), "PM306")[0].severity == "warning"
    shuffled = DataLoader(as_dataset(x, y), batch_size=16, shuffle=True)
    assert not found(paramedic.audit(shuffled, select=["PM306"]), "PM306")
    weighted = DataLoader(as_dataset(x, y), sampler=WeightedRandomSampler([1.0, 2.0, 3.0], 100))
    assert found(paramedic.audit(weighted, select=["PM316"]), "PM316")[0].severity == "error"


def test_auditing_leaves_the_random_numbers_alone() -> None:
    x, y = datasets.load_iris(return_X_y=True)
    torch.manual_seed(3)
    np.random.seed(3)
    expected = torch.rand(3), np.random.rand(3)
    torch.manual_seed(3)
    np.random.seed(3)
    paramedic.audit(DataLoader(as_dataset(x, y), shuffle=True), as_dataset(x, y))
    assert torch.equal(torch.rand(3), expected[0]) and (np.random.rand(3) == expected[1]).all()


def test_scaling_fitted_on_both_parts() -> None:
    x, vx, y, vy = split_of("wine")
    both = np.concatenate([x, vx])
    for mean, std, expected in ((both.mean(0), both.std(0), 1), (x.mean(0), x.std(0), 0)):
        report = paramedic.audit(((x - mean) / std, y), ((vx - mean) / std, vy), select=["PM314"])
        assert len(found(report, "PM314")) == expected


def test_validation_in_another_unit_and_a_class_it_alone_has() -> None:
    x, vx, y, vy = split_of("wine")
    wrong = vx.copy()
    wrong[:, 4] *= 1000
    report = paramedic.audit((x[y < 2], y[y < 2]), (wrong, vy))
    assert "column 4" in found(report, "PM318")[0].what
    assert set(found(report, "PM323")[0].samples) == set(np.flatnonzero(vy == 2).tolist())


def pictures(count: int, seed: int = 0, across: tuple[int, int] = (0, 590)) -> Any:
    """Smooth coloured pictures, channels first, values from 0 to 1: parts of a photograph, some of which overlap."""
    from sklearn.datasets import load_sample_image

    photo = load_sample_image("flower.jpg").astype(np.float32) / 255
    random = np.random.default_rng(seed)
    corners = zip(random.integers(0, 380, count), random.integers(*across, count), strict=True)
    return np.stack([photo[a : a + 32, b : b + 32].transpose(2, 0, 1) for a, b in corners])


def test_images_in_the_wrong_layout() -> None:
    images, labels = pictures(80), np.arange(80) % 2
    assert not found(paramedic.audit(as_dataset(images, labels), select=["PM313", "PM301"]), "PM313")
    last = as_dataset(images.transpose(0, 2, 3, 1), labels)
    assert found(paramedic.audit(last, select=["PM313"]), "PM313")[0].severity == "warning"
    scrambled = images[:, :, :24].transpose(0, 2, 3, 1).reshape(80, 3, 24, 32)
    assert found(paramedic.audit(as_dataset(scrambled, labels), select=["PM313"]), "PM313")[0].severity == "error"


def test_copies_with_noise_and_mirrored_copies_across_splits() -> None:
    images, others = pictures(120, across=(0, 280)), pictures(40, seed=9, across=(312, 590))
    noisy = np.clip(others[:6] + np.random.default_rng(0).normal(0, 0.004, others[:6].shape), 0, 1)
    train = np.concatenate([images, noisy, others[6:12, :, :, ::-1]]).astype(np.float32)
    report = paramedic.audit(train, others, select=["PM307"])
    samples = set(found(report, "PM307")[0].samples)
    assert len(samples & set(range(12))) >= 11 and samples <= set(range(12))


def test_texts_that_are_nearly_the_same() -> None:
    pl = pytest.importorskip("polars")
    random = np.random.default_rng(0)
    words = np.asarray([f"word{i}" for i in range(500)])
    texts = [" ".join(random.choice(words, 40)) for _ in range(200)]
    texts.append(texts[3].replace("word1 ", "other "))
    texts.append(" ".join(texts[8].split()[:-2]))
    frame = pl.DataFrame({"text": texts, "label": ["a", "b"] * 100 + ["b", "a"]})
    (finding,) = found(paramedic.audit(frame, select=["PM308"]), "PM308")
    assert {3, 200, 8, 201} == set(finding.samples)
    leak = paramedic.audit((texts[:150], ["a", "b"] * 75), (texts[140:200], ["a", "b"] * 30), select=["PM307"])
    assert found(leak, "PM307")[0].severity == "error" and found(leak, "PM307")[0].samples[:10] == tuple(range(10))
    (wrong, _) = found(paramedic.audit((texts, ["a", "b"] * 101), select=["PM308"]), "PM308")
    assert wrong.severity == "warning" and wrong.samples == (3, 200), "one text with two labels"


def test_boxes_listed_in_the_row_of_their_picture(tmp_path: Path) -> None:
    rows = [{"image": f"{i}.jpg", "width": 100, "height": 80, "boxes": [[10, 5, 90 + i, 40]]} for i in range(9)]
    path = tmp_path / "boxes.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    assert not paramedic.audit(path, select=["PM312"]).findings
    rows[4] |= {"width": 80, "height": 100}
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    (found,) = paramedic.audit(path, select=["PM312"]).findings
    assert found.samples == (4,)


def test_boxes_of_coco(tmp_path: Path) -> None:
    def written(boxes: list[list[float]]) -> Path:
        images = [{"id": i, "file_name": f"{i}.jpg", "width": 100, "height": 80} for i in range(len(boxes))]
        annotations = [{"id": i, "image_id": i, "category_id": 1, "bbox": box} for i, box in enumerate(boxes)]
        path = tmp_path / "boxes.json"
        path.write_text(json.dumps({"images": images, "annotations": annotations, "categories": []}))
        return path

    random = np.random.default_rng(0)
    good = [
        [float(a), float(b), 20.0, 15.0]
        for a, b in zip(random.integers(0, 75, 40), random.integers(0, 60, 40), strict=True)
    ]
    assert alarms(paramedic.audit(written(good))) == []
    broken = [*good, [10, 10, 0, 5], [90, 10, 30, 10]]
    report = paramedic.audit(written(broken))
    assert {finding.samples for finding in found(report, "PM312")} == {(40,), (41,)}
    assert report.rendered("html").count("data:image/png") == 8 + 2, "the boxes are drawn"
    corners = [[a + 30, b + 30, a + 50, b + 45] for a, b, *_ in good if a < 50 and b < 35]
    assert "the other format" in found(paramedic.audit(written(corners)), "PM312")[0].why
    shares = [[a / 100, b / 80, 0.2, 0.1] for a, b, *_ in good]
    assert "between 0 and 1" in found(paramedic.audit(written(shares)), "PM312")[0].what


def test_workers_that_draw_alike() -> None:
    class Own(Dataset[Any]):
        def __init__(self) -> None:
            self.random = np.random.default_rng(0)

        def __len__(self) -> int:
            return 40

        def __getitem__(self, index: int) -> Any:
            return torch.tensor(self.random.normal(size=3)), 0

    class Torchs(Own):
        def __getitem__(self, index: int) -> Any:
            return torch.randn(3), 0

    assert found(paramedic.audit(DataLoader(Own(), num_workers=2), select=["PM309"]), "PM309")
    assert not found(paramedic.audit(DataLoader(Torchs(), num_workers=2), select=["PM309"]), "PM309")


def test_a_subset_keeps_the_proportions_and_shuffles() -> None:
    x, y = datasets.load_breast_cancer(return_X_y=True)
    part = paramedic.subset(as_dataset(x, y), 50)
    labels = np.asarray([int(label) for _, label in part])
    assert len(part) == 50 and abs(labels.mean() - y.mean()) < 0.02
    assert part.indices == paramedic.subset(as_dataset(x, y), 50).indices
    assert len(list(DataLoader(part, shuffle=True, batch_size=10))) == 5


@pytest.fixture
def tables(shop: Workshop) -> Workshop:
    pl = pytest.importorskip("polars")
    x, vx, y, vy = split_of("wine")
    names = [f"f{i}" for i in range(x.shape[1])]
    pl.DataFrame(dict(zip(names, x.T, strict=True)) | {"kind": y}).write_csv(shop.folder / "train.csv")
    pl.DataFrame(dict(zip(names, vx.T, strict=True)) | {"kind": vy}).write_parquet(shop.folder / "val.parquet")
    spoilt = x.copy()
    spoilt[5, 2] = np.inf
    spoilt[:, 7] = 3
    pl.DataFrame(dict(zip(names, spoilt.T, strict=True)) | {"kind": y}).write_ndjson(shop.folder / "sick.jsonl")
    return shop


def test_the_command_line(tables: Workshop) -> None:
    done = tables.paramedic("audit", "train.csv", "--val", "val.parquet", "--label", "kind", "--json", "out.json")
    assert done.code == 0 and done.found["verdict"] == "healthy" and "classification of 'kind'" in done.stdout
    done = tables.paramedic("audit", "sick.jsonl", "--json", "out.json", "--html", "page.html")
    assert done.code == 1 and {"PM105", "PM303"} <= set(done.codes)
    bad = next(finding for finding in done.found["findings"] if finding["code"] == "PM105")
    assert bad["samples"] == [5] and bad["split"] == "train" and "'f2'" in bad["what"]
    page = (tables.folder / "page.html").read_text()
    assert "http" not in page.partition("<body>")[2] and "train 5" in page and "<svg" in page
    done = tables.paramedic("audit", "train.csv", "--val", "train.csv", "--select", "PM307", "--clean-val", "clean.csv")
    assert done.code == 1 and len((tables.folder / "clean.csv").read_text().splitlines()) == 1
    done = tables.paramedic("audit", "train.csv", "--subset", "30", "small.csv")
    assert done.code == 0 and len((tables.folder / "small.csv").read_text().splitlines()) == 31


@pytest.mark.parametrize("words", [["missing.csv"], [], ["train.csv", "--label", "nope"]])
def test_mistakes_are_explained(tables: Workshop, words: list[str]) -> None:
    done = tables.paramedic("audit", *words)
    assert done.code == 2 and "Traceback" not in done.stderr and "paramedic:" in done.stderr


def test_a_folder_of_images(tmp_path: Path) -> None:
    image = pytest.importorskip("PIL.Image")
    for number, pixels in enumerate(pictures(40)):
        folder = tmp_path / ("train" if number < 30 else "val") / ("flower" if number % 2 else "leaf")
        folder.mkdir(parents=True, exist_ok=True)
        image.fromarray((pixels.transpose(1, 2, 0) * 255).astype(np.uint8)).save(folder / f"{number}.png")
    darker = image.open(tmp_path / "train" / "leaf" / "4.png").point(lambda value: int(0.9 * value))
    darker.save(tmp_path / "val" / "leaf" / "copy.bmp")
    (tmp_path / "train" / "leaf" / "torn.png").write_bytes((tmp_path / "train" / "leaf" / "4.png").read_bytes()[:200])
    from paramedic.audit.sources.files import open_splits
    from paramedic.auditing.examine import examine
    from paramedic.rules.catalogue import select

    sources = open_splits(tmp_path, None, label=None, sample=None)
    _, diagnosis = examine(sources, select(chosen=["PM320", "PM307", "PM308"]))
    said = {finding.code: finding for finding in diagnosis.findings}
    assert "torn.png" in said["PM320"].what and "copy.bmp" in said["PM307"].what


def test_the_page_shows_pairs_and_labels() -> None:
    x, y = datasets.load_digits(return_X_y=True)
    x, y = np.concatenate([x[:300], x[:40]]), np.concatenate([y[:300], y[:40]])
    report = paramedic.audit((x, y), select=["PM308"])
    page = report.rendered("html")
    assert page.count("data:image/png") >= 16 and f"labelled {y[0]}" in page
    assert len(page) < 2_000_000
    assert "Verdict: sick" in str(report) and report.save is not None
