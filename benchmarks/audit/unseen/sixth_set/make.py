"""Write the data sets of the audit examination into sets/<name>/ beside this file."""
import csv
import json
import shutil
from pathlib import Path

import numpy as np
import pandas as pd
from PIL import Image, ImageDraw
from sklearn.datasets import load_breast_cancer, load_digits, load_wine

ROOT = Path(__file__).resolve().parent / "sets"
TRUTH = {}


def folder(name):
    path = ROOT / name
    if path.exists():
        shutil.rmtree(path)
    path.mkdir(parents=True)
    return path


# ---------------------------------------------------------------- tables

def fish_market():
    """val.csv comes from a yard that measures in inches."""
    d, rng = folder("fish-market"), np.random.default_rng(1)

    def catch(n):
        length = rng.normal(32, 6, n).clip(12)
        height = length * rng.normal(0.28, 0.03, n)
        width = length * rng.normal(0.15, 0.015, n)
        weight = 0.42 * length * height * width * rng.normal(1, 0.05, n)
        return pd.DataFrame({"length": length.round(1), "height": height.round(2), "width": width.round(2),
                             "fat": rng.normal(8, 2, n).round(1), "weight": (weight / 100).round(3)})
    train, val = catch(420), catch(140)
    val[["length", "height", "width"]] = (val[["length", "height", "width"]] / 2.54).round(2)
    train.to_csv(d / "train.csv", index=False)
    val.to_csv(d / "val.csv", index=False)
    TRUTH["fish-market"] = "columns length, height, width of val.csv (all 140 rows)"


def buoys():
    """salinity -999 where the probe was out of the water."""
    d, rng = folder("buoys"), np.random.default_rng(2)
    n = 600
    temp, sal = rng.normal(11, 3, n), rng.normal(33, 1.2, n)
    wind, depth = rng.gamma(3, 2, n), rng.uniform(2, 30, n)
    oxygen = 14 - 0.28 * temp - 0.05 * (sal - 33) + 0.06 * wind - 0.03 * depth + rng.normal(0, 0.2, n)
    rows = np.sort(rng.choice(n, 31, replace=False))
    sal[rows] = -999.0
    pd.DataFrame({"temperature": temp.round(2), "salinity": sal.round(2), "wind": wind.round(1),
                  "depth": depth.round(1), "oxygen": oxygen.round(2)}).to_csv(d / "buoys.csv", index=False)
    TRUTH["buoys"] = f"column salinity, rows {rows.tolist()}"


def scanned_digits():
    """The label column slid down by one row when it was pasted in."""
    d, rng = folder("scanned-digits"), np.random.default_rng(3)
    digits = load_digits()
    order = rng.permutation(len(digits.target))[:1200]
    frame = pd.DataFrame(digits.data[order].astype(int), columns=[f"p{i // 8}{i % 8}" for i in range(64)])
    frame = frame.loc[:, frame.nunique() > 3]
    frame["digit"] = np.roll(digits.target[order], 1)
    frame.to_csv(d / "scans.csv", index=False)
    TRUTH["scanned-digits"] = "column digit, every row: row i carries the label of row i-1"


def bike_hire():
    """After row 300 the export ran under a German locale: decimal comma in one column."""
    d, rng = folder("bike-hire"), np.random.default_rng(4)
    n = 500
    hour, temp = rng.integers(0, 24, n), rng.normal(14, 7, n)
    humid, wind = rng.uniform(30, 95, n), rng.gamma(2, 3, n)
    rides = 120 + 70 * np.sin((hour - 6) / 24 * 2 * np.pi) + 4 * temp - 0.6 * humid - wind + rng.normal(0, 15, n)
    with open(d / "hire.csv", "w", newline="") as f:
        w = csv.writer(f)
        w.writerow(["hour", "temperature", "humidity", "wind", "rides"])
        for i in range(n):
            t = f"{temp[i]:.1f}"
            w.writerow([hour[i], t.replace(".", ",") if i >= 300 else t, f"{humid[i]:.0f}", f"{wind[i]:.1f}",
                        max(0, int(rides[i]))])
    TRUTH["bike-hire"] = "column temperature, rows 300 to 499 (text such as '12,5')"


def orders():
    """Customers were joined with an address table that has two lines for some of them."""
    d, rng = folder("orders"), np.random.default_rng(5)
    n = 500
    base = pd.DataFrame({"customer": np.arange(n), "age": rng.integers(18, 80, n),
                         "orders": rng.poisson(6, n), "basket": rng.gamma(4, 9, n).round(2),
                         "returns": rng.poisson(1, n), "days_since": rng.integers(1, 400, n)})
    risk = -1.2 + 0.008 * base.days_since - 0.15 * base.orders + 0.4 * base.returns
    base["churned"] = (rng.random(n) < 1 / (1 + np.exp(-risk))).astype(int)
    moved = np.sort(rng.choice(n, 130, replace=False))
    address = pd.DataFrame({"customer": np.concatenate([np.arange(n), moved])})
    joined = base.merge(address, on="customer").sample(frac=1, random_state=5).drop(columns="customer")
    joined = joined.reset_index(drop=True)
    joined.to_csv(d / "orders.csv", index=False)
    dup = np.flatnonzero(joined.duplicated(keep="first")).tolist()
    TRUTH["orders"] = f"second copies at rows {dup}"


def returns_heavy():
    """Clean: heavy tails, a zero-inflated column, a rare flag; all real."""
    d, rng = folder("rain-claims"), np.random.default_rng(6)
    n = 700
    a, b = rng.standard_t(4, n), rng.standard_t(4, n)
    rain = np.where(rng.random(n) < 0.65, 0.0, rng.gamma(1.2, 1.5, n))
    coast = (rng.random(n) < 0.08).astype(int)
    y = 0.8 * a - 0.5 * b + 0.9 * rain + 1.1 * coast + rng.normal(0, 0.6, n)
    pd.DataFrame({"pressure_change": a.round(3), "tide": b.round(3), "rain": rain.round(2), "coast": coast,
                  "claims": y.round(3)}).to_csv(d / "claims.csv", index=False)


def fraud():
    """Clean: 4 % positives, in train and val alike, with signal."""
    d, rng = folder("card-fraud"), np.random.default_rng(7)

    def log(n):
        x = rng.normal(size=(n, 5))
        s = -4.6 + 1.6 * x[:, 0] - 1.2 * x[:, 1] + 0.7 * x[:, 2]
        frame = pd.DataFrame(x.round(4), columns=["amount_z", "distance_z", "hour_z", "age_z", "velocity_z"])
        frame["fraud"] = (rng.random(n) < 1 / (1 + np.exp(-s))).astype(int)
        return frame
    log(3000).to_csv(d / "train.csv", index=False)
    log(1000).to_csv(d / "val.csv", index=False)


# ---------------------------------------------------------------- arrays

def biopsies():
    """Standardised over all rows, then split."""
    d, rng = folder("biopsies"), np.random.default_rng(8)
    data = load_breast_cancer()
    x = (data.data - data.data.mean(0)) / data.data.std(0)
    order = rng.permutation(len(x))
    cut = 400
    np.savez(d / "train.npz", x=x[order[:cut]], y=data.target[order[:cut]])
    np.savez(d / "val.npz", x=x[order[cut:]], y=data.target[order[cut:]])
    TRUTH["biopsies"] = "all 30 columns of x: mean 0 and deviation 1 hold exactly for train and val together only"


def draw_flower(rng, kind, size):
    """A colourful picture that differs in place, colour and ground from call to call."""
    g0, g1 = rng.uniform(20, 120, 3), rng.uniform(60, 180, 3)
    t = np.linspace(0, 1, size)[:, None, None] * np.ones((1, size, 1))
    if rng.random() < 0.5:
        t = t.transpose(1, 0, 2)
    image = Image.fromarray((g0 * (1 - t) + g1 * t).astype("uint8"))
    pen = ImageDraw.Draw(image)
    cx, cy = rng.uniform(0.35 * size, 0.65 * size, 2)
    r = rng.uniform(0.12, 0.2) * size
    shade = rng.uniform(120, 255, 3)
    shade[2 if kind == 0 else 0] *= 0.5
    colour = tuple(int(v) for v in shade)
    petals = 4 if kind == 0 else 8
    turn = rng.uniform(0, 6.28)
    for k in range(petals):
        a = turn + 2 * np.pi * k / petals
        x, y = cx + 1.3 * r * np.cos(a), cy + 1.3 * r * np.sin(a)
        q = r * (0.75 if kind == 0 else 0.4)
        pen.ellipse([x - q, y - q, x + q, y + q], fill=colour)
    pen.ellipse([cx - r / 2, cy - r / 2, cx + r / 2, cy + r / 2], fill=(250, 220, 40))
    noise = rng.normal(0, 6, (size, size, 3))
    return Image.fromarray((np.asarray(image) + noise).clip(0, 255).astype("uint8"))


def flower_arrays():
    """N,H,W,3 pictures brought to N,3,H,W with reshape."""
    d, rng = folder("flower-arrays"), np.random.default_rng(9)
    y = rng.integers(0, 2, 260)
    pictures = np.stack([np.asarray(draw_flower(rng, k, 32)) for k in y]).astype("float32") / 255
    np.savez(d / "flowers.npz", x=pictures.reshape(-1, 3, 32, 32), y=y)
    TRUTH["flower-arrays"] = "array x, every sample (pixels scrambled over channels)"


def power_windows():
    """Windows with stride one, then a random split."""
    d, rng = folder("power-windows"), np.random.default_rng(10)
    n, width = 900, 48
    load = np.zeros(n)
    for i in range(1, n):
        load[i] = 0.9 * load[i - 1] + rng.normal(0, 0.4)
    load += 1.5 * np.sin(2 * np.pi * np.arange(n) / 24)
    w = np.lib.stride_tricks.sliding_window_view(load, width + 1).astype("float32")
    order = rng.permutation(len(w))
    cut = int(0.8 * len(w))
    np.savez(d / "train.npz", x=w[order[:cut], :-1], y=w[order[:cut], -1])
    np.savez(d / "val.npz", x=w[order[cut:], :-1], y=w[order[cut:], -1])
    TRUTH["power-windows"] = "nearly every val window shares 47 of 48 values with a train window moved by one step"


def web_latency():
    """log of a request counter that is zero in some minutes."""
    d, rng = folder("web-latency"), np.random.default_rng(11)
    n = 800
    count = rng.poisson(40, n)
    rows = np.sort(rng.choice(n, 9, replace=False))
    count[rows] = 0
    cpu, mem = rng.uniform(0.1, 0.9, n), rng.uniform(0.2, 0.8, n)
    with np.errstate(divide="ignore"):
        x = np.stack([np.log(count), cpu, mem, rng.normal(size=n)], 1).astype("float32")
    y = (0.02 * count + 2 * cpu + mem + rng.normal(0, 0.2, n)).astype("float32")
    np.savez(d / "latency.npz", x=x, y=y)
    TRUTH["web-latency"] = f"array x, column 0, rows {rows.tolist()}"


# ---------------------------------------------------------------- text

SUBJECT = {
    "billing": "invoice charge refund payment receipt subscription fee card statement tax".split(),
    "shipping": "parcel courier delivery tracking depot address customs package driver pickup".split(),
    "account": "password login username profile email verification settings avatar session device".split(),
}
FRAME = ["hello, the {a} for my {b} looks wrong since {day}", "could you check the {a} and the {b}? it is {mood}",
         "{day} I saw that the {a} does not match the {b}", "my {a} is still missing, and the {b} is {mood}",
         "please help with the {b}; the {a} was {mood} on {day}", "the {a} changed again and nobody told me about the {b} {day}"]
DAYS = "monday tuesday wednesday thursday friday saturday sunday yesterday today".split()
MOODS = "strange late confusing urgent annoying odd unclear unexpected".split()


def ticket(rng, label):
    a, b = rng.choice(SUBJECT[label], 2, replace=False)
    return str(rng.choice(FRAME)).format(a=a, b=b, day=rng.choice(DAYS), mood=rng.choice(MOODS))


def tickets():
    """A temporary annotator mixed up two queues."""
    d, rng = folder("tickets"), np.random.default_rng(12)
    seen, rows = set(), []
    while len(rows) < 600:
        label = str(rng.choice(list(SUBJECT)))
        text = ticket(rng, label)
        if text not in seen:
            seen.add(text)
            rows.append([text, label])
    pool = [i for i, r in enumerate(rows) if r[1] != "account"]
    bad = np.sort(rng.choice(pool, 26, replace=False)).tolist()
    for i in bad:
        rows[i][1] = "shipping" if rows[i][1] == "billing" else "billing"
    with open(d / "tickets.jsonl", "w") as f:
        for text, label in rows:
            f.write(json.dumps({"text": text, "label": label}) + "\n")
    TRUTH["tickets"] = f"rows {bad}"


def messages():
    """Clean: several languages and scripts, emoji, very short messages."""
    d, rng = folder("messages"), np.random.default_rng(13)
    good = ["wunderbar", "très bien", "отлично", "最高です", "great", "excelente", "רעיון טוב", "👍", "süß", "love it",
            "magnifique", "супер", "素晴らしい", "génial", "top"]
    bad = ["schrecklich", "très mauvais", "ужасно", "最悪です", "awful", "pésimo", "גרוע", "👎", "öde", "hate it",
           "affreux", "кошмар", "つまらない", "nul", "broken"]
    things = ["Film", "repas", "книга", "電車", "phone", "hotel", "שירות", "Fahrrad", "café", "игра", "音楽", "shoes",
              "train", "Brücke", "señal", "wine", "garden", "köttbullar", "piñata", "школа"]
    seen, rows = set(), []
    while len(rows) < 420:
        label = int(rng.integers(2))
        text = f"{rng.choice(things)} {rng.choice(things)}{rng.choice([':', ' —', '…', ' ='])} {rng.choice(good if label else bad)}"
        if text not in seen:
            seen.add(text)
            rows.append({"text": text, "label": label})
    with open(d / "messages.jsonl", "w", encoding="utf-8") as f:
        for r in rows:
            f.write(json.dumps(r, ensure_ascii=False) + "\n")


# ---------------------------------------------------------------- pictures

def herbarium():
    """Pictures were brightened and cropped into extra copies before the split."""
    d, rng = folder("herbarium"), np.random.default_rng(14)
    names = ["clover", "aster"]
    made = {}
    for part, n in (("train", 60), ("val", 16)):
        for k, name in enumerate(names):
            (d / part / name).mkdir(parents=True)
            for i in range(n):
                picture = draw_flower(rng, k, 64)
                file = d / part / name / f"{name}_{part[0]}{i:03d}.png"
                picture.save(file)
                made[part, name, i] = picture
    copies = []
    for name in names:
        for j, i in enumerate(rng.choice(60, 6, replace=False)):
            source = made["train", name, int(i)]
            crop = source.crop((2, 2, 62, 62)).resize((64, 64), Image.BILINEAR)
            bright = Image.fromarray((np.asarray(crop) * 1.08 + 4).clip(0, 255).astype("uint8"))
            file = d / "val" / name / f"{name}_v{100 + j}.png"
            bright.save(file)
            copies.append(f"val/{name}/{file.name} <- train/{name}/{name}_t{int(i):03d}.png")
    TRUTH["herbarium"] = "; ".join(copies)


def mushrooms():
    """Two downloads broke off."""
    d, rng = folder("mushrooms"), np.random.default_rng(15)
    files = []
    for k, name in enumerate(["edible", "toxic"]):
        (d / "images" / name).mkdir(parents=True)
        for i in range(40):
            file = d / "images" / name / f"{name}{i:03d}.jpg"
            draw_flower(rng, k, 64).save(file, quality=90)
            files.append(file)
    broken = [files[17], files[58]]
    for file in broken:
        raw = file.read_bytes()
        file.write_bytes(raw[:int(len(raw) * 0.55)])
    TRUTH["mushrooms"] = ", ".join(f"images/{f.parent.name}/{f.name}" for f in broken)


def stars():
    """Clean: nearly black pictures, one star or a close pair."""
    d, rng = folder("stars"), np.random.default_rng(16)
    yy, xx = np.mgrid[:48, :48]
    for k, name in enumerate(["single", "double"]):
        (d / "images" / name).mkdir(parents=True)
        for i in range(50):
            sky = rng.gamma(1.5, 1.5, (48, 48))
            cx, cy = rng.uniform(22, 26, 2)
            spots = [(cx, cy)]
            if k:
                a = rng.uniform(0, 6.28)
                spots.append((cx + 6 * np.cos(a), cy + 6 * np.sin(a)))
            for x, y in spots:
                sky += rng.uniform(150, 240) * np.exp(-((xx - x) ** 2 + (yy - y) ** 2) / 3.0)
            for _ in range(rng.integers(2, 6)):
                x, y = rng.uniform(0, 48, 2)
                sky += rng.uniform(10, 30) * np.exp(-((xx - x) ** 2 + (yy - y) ** 2) / 1.5)
            Image.fromarray(sky.clip(0, 255).astype("uint8")).save(d / "images" / name / f"{i:03d}.png")


# ---------------------------------------------------------------- boxes

SHADES = {1: (200, 60, 50), 2: (50, 90, 200), 3: (60, 180, 70), 18: (230, 200, 40)}


def scene(rng, width, height, count, small=False, kinds=(1,)):
    image = Image.fromarray(rng.normal(110, 12, (height, width, 3)).clip(0, 255).astype("uint8"))
    pen, boxes = ImageDraw.Draw(image), []
    for _ in range(count):
        w, h = (rng.integers(5, 9), rng.integers(5, 9)) if small else (rng.integers(14, 34), rng.integers(14, 34))
        x, y = rng.integers(0, width - w + 1), rng.integers(0, height - h + 1)
        kind = int(rng.choice(kinds))
        fill = tuple(int(v) for v in np.clip(np.array(SHADES[kind]) + rng.normal(0, 20, 3), 0, 255))
        pen.rectangle([x, y, x + w - 1, y + h - 1], fill=fill)
        boxes.append([int(x), int(y), int(w), int(h), kind])
    return image, boxes


def coco(path, images, boxes, categories):
    annotations = [{"id": i + 1, "image_id": im, "category_id": c, "bbox": b, "area": float(a), "iscrowd": 0}
                   for i, (im, c, b, a) in enumerate(boxes)]
    path.write_text(json.dumps({"images": images, "annotations": annotations, "categories": categories}))


def traffic():
    """bbox holds x1, y1, x2, y2."""
    d, rng = folder("traffic"), np.random.default_rng(17)
    (d / "images").mkdir()
    images, boxes = [], []
    for i in range(40):
        picture, found = scene(rng, 128, 96, int(rng.integers(1, 4)), kinds=(1, 2))
        picture.save(d / "images" / f"cam_{i:03d}.jpg")
        images.append({"id": i + 1, "file_name": f"images/cam_{i:03d}.jpg", "width": 128, "height": 96})
        boxes += [(i + 1, k, [x, y, x + w, y + h], w * h) for x, y, w, h, k in found]
    coco(d / "annotations.json", images, boxes, [{"id": 1, "name": "car"}, {"id": 2, "name": "bus"}])
    out = sum(b[2][0] + b[2][2] > 128 or b[2][1] + b[2][3] > 96 for b in boxes)
    TRUTH["traffic"] = f"all boxes; {out} of {len(boxes)} leave the picture when read as x, y, w, h"


def phone_photos():
    """Phones stored some pictures turned, with an EXIF orientation; boxes were drawn on the upright view."""
    d, rng = folder("phone-photos"), np.random.default_rng(18)
    (d / "images").mkdir()
    images, boxes, turned = [], [], []
    for i in range(36):
        picture, found = scene(rng, 96, 144, int(rng.integers(2, 5)))
        file = f"images/IMG_{2040 + i}.jpg"
        if i % 4 == 1:
            exif = Image.Exif()
            exif[0x0112] = 6
            picture.transpose(Image.Transpose.ROTATE_90).save(d / file, exif=exif)
            turned.append(file)
        else:
            picture.save(d / file)
        images.append({"id": i + 1, "file_name": file, "width": 96, "height": 144})
        boxes += [(i + 1, k, [x, y, w, h], w * h) for x, y, w, h, k in found]
    coco(d / "annotations.json", images, boxes, [{"id": 1, "name": "parcel"}])
    TRUTH["phone-photos"] = ", ".join(turned)


def warehouse():
    """Clean: gaps in category ids, boxes on the border, small boxes, pictures without any."""
    d, rng = folder("warehouse"), np.random.default_rng(19)
    (d / "images").mkdir()
    images, boxes = [], []
    for i in range(36):
        picture, found = scene(rng, 120, 90, 0 if i % 9 == 4 else int(rng.integers(1, 5)), small=i % 3 == 0,
                               kinds=(1, 3, 18))
        if i % 6 == 1:
            ImageDraw.Draw(picture).rectangle([100, 60, 119, 89], fill=(200, 60, 50))
            found.append([100, 60, 20, 30, 1])
        picture.save(d / "images" / f"aisle{i:02d}.png")
        images.append({"id": 1000 + 7 * i, "file_name": f"images/aisle{i:02d}.png", "width": 120, "height": 90})
        boxes += [(1000 + 7 * i, k, [float(x), float(y), float(w), float(h)], w * h) for x, y, w, h, k in found]
    coco(d / "annotations.json", images, boxes,
         [{"id": 1, "name": "box"}, {"id": 3, "name": "pallet"}, {"id": 18, "name": "forklift"}])


# ---------------------------------------------------------------- scripts

SEG_HEAD = '''"""{doc}"""
from pathlib import Path

import numpy as np
import torch
from PIL import Image
from torch import nn
from torch.utils.data import DataLoader, Dataset

HERE = Path(__file__).resolve().parent
'''
SEG_TAIL = '''

def main():
    torch.manual_seed(0)
    {loaders}
    model = nn.Sequential(nn.Conv2d(3, 16, 3, padding=1), nn.ReLU(), nn.Conv2d(16, 16, 3, padding=1), nn.ReLU(),
                          nn.Conv2d(16, {classes}, 1))
    criterion = nn.CrossEntropyLoss({ce})
    optimizer = torch.optim.Adam(model.parameters(), lr=3e-3)
    for epoch in range({epochs}):
        total = 0.0
        for image, mask in loader:
            optimizer.zero_grad()
            loss = criterion(model(image), mask)
            loss.backward()
            optimizer.step()
            total += loss.item()
        print(f"epoch {{epoch + 1}} loss {{total / len(loader):.3f}}")


if __name__ == "__main__":
    main()
'''


def street(rng, size=40):
    mask = np.zeros((size, size), "uint8")
    mask[rng.integers(20, 28):] = 1
    for c in (2, 3):
        x, y = rng.integers(2, size - 14, 2)
        mask[y:y + rng.integers(8, 13), x:x + rng.integers(8, 13)] = c
    colour = np.array([[150, 190, 230], [90, 90, 95], [180, 40, 40], [40, 140, 60]], float)
    return (colour[mask] + rng.normal(0, 14, (size, size, 3))).clip(0, 255).astype("uint8"), mask


def write_street(d, rng, n):
    (d / "images").mkdir()
    (d / "masks").mkdir()
    for i in range(n):
        image, mask = street(rng)
        edge = mask != np.roll(mask, 1, 0)
        mask = np.where(edge, 255, mask).astype("uint8")
        mask[:, :2] = 255
        Image.fromarray(image).save(d / "images" / f"{i:03d}.png")
        Image.fromarray(mask).save(d / "masks" / f"{i:03d}.png")


def street_masks():
    """Palette masks opened with convert('L'): grey values in place of class numbers."""
    d = folder("street-masks")
    # build palette images straight from indices, so that the stored index is the class
    rng = np.random.default_rng(20)
    (d / "images").mkdir()
    (d / "masks").mkdir()
    for i in range(48):
        image, mask = street(rng)
        Image.fromarray(image).save(d / "images" / f"{i:03d}.png")
        m = Image.new("P", (40, 40))
        m.putpalette([0, 0, 0, 128, 0, 0, 0, 128, 0, 128, 128, 0] + [0] * (256 * 3 - 12))
        m.putdata([int(v) for v in mask.ravel()])
        m.save(d / "masks" / f"{i:03d}.png")
    (d / "train.py").write_text(SEG_HEAD.format(doc="Four-class street segmentation.") + '''

class Streets(Dataset):
    def __init__(self):
        self.names = sorted(p.name for p in (HERE / "images").glob("*.png"))

    def __len__(self):
        return len(self.names)

    def __getitem__(self, i):
        image = Image.open(HERE / "images" / self.names[i]).convert("RGB")
        mask = Image.open(HERE / "masks" / self.names[i]).convert("L")
        image = torch.from_numpy(np.asarray(image, dtype=np.float32) / 255).permute(2, 0, 1)
        return (image - 0.5) / 0.25, torch.from_numpy(np.asarray(mask, dtype=np.int64))
''' + SEG_TAIL.format(loaders="loader = DataLoader(Streets(), batch_size=8, shuffle=True)", classes=4, ce="", epochs=3))
    TRUTH["street-masks"] = "every mask: values 0, 38, 75, 113 where classes 0 to 3 are meant"


def road_ignore():
    """Clean: 255 marks border pixels and the loss ignores it."""
    d, rng = folder("road-borders"), np.random.default_rng(21)
    write_street(d, rng, 48)
    (d / "train.py").write_text(SEG_HEAD.format(doc="Street segmentation; border pixels are void (255).") + '''

class Streets(Dataset):
    def __init__(self, names):
        self.names = names

    def __len__(self):
        return len(self.names)

    def __getitem__(self, i):
        image = Image.open(HERE / "images" / self.names[i]).convert("RGB")
        mask = Image.open(HERE / "masks" / self.names[i])
        image = torch.from_numpy(np.asarray(image, dtype=np.float32) / 255).permute(2, 0, 1)
        return (image - 0.5) / 0.25, torch.from_numpy(np.asarray(mask, dtype=np.int64))
''' + SEG_TAIL.format(loaders='names = sorted(p.name for p in (HERE / "images").glob("*.png"))\n'
                      "    loader = DataLoader(Streets(names), batch_size=8, shuffle=True)", classes=4,
                      ce="ignore_index=255", epochs=3))


def cells():
    """Image and mask are flipped by two separate draws."""
    d, rng = folder("cells"), np.random.default_rng(22)
    images, masks = [], []
    yy, xx = np.mgrid[:32, :32]
    for _ in range(64):
        mask = np.zeros((32, 32), "uint8")
        for _ in range(rng.integers(1, 4)):
            x, y, r = rng.uniform(4, 28), rng.uniform(4, 28), rng.uniform(3, 6)
            mask[(xx - x) ** 2 + (yy - y) ** 2 < r * r] = 1
        picture = np.stack([60 + 90 * mask, 40 + 50 * mask, 120 + 40 * mask], -1) + rng.normal(0, 12, (32, 32, 3))
        images.append(picture.clip(0, 255).astype("uint8"))
        masks.append(mask)
    np.savez_compressed(d / "cells.npz", images=np.stack(images), masks=np.stack(masks))
    (d / "train.py").write_text(SEG_HEAD.format(doc="Cell segmentation with flip augmentation.") + '''

class RandomFlip:
    def __init__(self, p=0.5):
        self.p = p

    def __call__(self, t):
        if torch.rand(1).item() < self.p:
            t = t.flip(-1)
        if torch.rand(1).item() < self.p:
            t = t.flip(-2)
        return t


class Cells(Dataset):
    def __init__(self, transform=None):
        data = np.load(HERE / "cells.npz")
        self.images, self.masks = data["images"], data["masks"]
        self.transform = transform

    def __len__(self):
        return len(self.images)

    def __getitem__(self, i):
        image = torch.from_numpy(self.images[i].astype(np.float32) / 255).permute(2, 0, 1)
        image = (image - 0.4) / 0.2
        mask = torch.from_numpy(self.masks[i].astype(np.int64))
        if self.transform is not None:
            image = self.transform(image)
            mask = self.transform(mask)
        return image, mask
''' + SEG_TAIL.format(loaders="loader = DataLoader(Cells(transform=RandomFlip()), batch_size=8, shuffle=True)",
                      classes=2, ce="", epochs=4))
    TRUTH["cells"] = "Cells.__getitem__ in train.py: transform(image) and transform(mask); 3 of 4 samples on average disagree"


def heartbeats():
    """Each worker holds a copy of one seeded generator."""
    d, rng = folder("heartbeats"), np.random.default_rng(23)
    t = np.linspace(0, 1, 96)
    y = rng.integers(0, 2, 320)
    x = np.stack([np.exp(-((t - rng.uniform(0.3, 0.7)) / (0.03 if k else 0.07)) ** 2) for k in y])
    np.savez(d / "beats.npz", x=x.astype("float32"), y=y)
    (d / "train.py").write_text('''"""Narrow or wide heartbeats; noise and gain are drawn anew for each sample."""
from pathlib import Path

import numpy as np
import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset

HERE = Path(__file__).resolve().parent


class Beats(Dataset):
    def __init__(self, x, y, seed=0, augment=True):
        self.x, self.y, self.augment = x, y, augment
        self.rng = np.random.default_rng(seed)

    def __len__(self):
        return len(self.x)

    def __getitem__(self, i):
        beat = self.x[i]
        if self.augment:
            beat = beat * self.rng.uniform(0.7, 1.3) + self.rng.normal(0, 0.15, beat.shape)
        return torch.as_tensor(beat, dtype=torch.float32), int(self.y[i])


def main():
    torch.manual_seed(0)
    data = np.load(HERE / "beats.npz")
    train = Beats(data["x"][:256], data["y"][:256])
    val = Beats(data["x"][256:], data["y"][256:], augment=False)
    train_loader = DataLoader(train, batch_size=16, shuffle=True, num_workers=2)
    val_loader = DataLoader(val, batch_size=64)
    model = nn.Sequential(nn.Linear(96, 32), nn.ReLU(), nn.Linear(32, 2))
    optimizer = torch.optim.Adam(model.parameters(), lr=2e-3)
    for epoch in range(4):
        for x, y in train_loader:
            optimizer.zero_grad()
            loss = nn.functional.cross_entropy(model(x), y)
            loss.backward()
            optimizer.step()
        with torch.no_grad():
            acc = np.mean([(model(x).argmax(1) == y).float().mean().item() for x, y in val_loader])
        print(f"epoch {epoch + 1} loss {loss.item():.3f} val {acc:.3f}")


if __name__ == "__main__":
    main()
''')
    TRUTH["heartbeats"] = "Beats.rng in train.py: workers 0 and 1 draw the same gain and noise, and so does every epoch"


def captions():
    """pad is eos, and the collate function masks all of it in the labels."""
    d, rng = folder("captions"), np.random.default_rng(24)
    nouns, verbs = "dog cat bird horse child woman man boat".split(), "runs sits sleeps jumps waits swims".split()
    tails = "on the grass|near the river|in the snow|by the door|under a tree|at night".split("|")
    looks, lines = "small brown white old young tired happy wet".split(), set()
    while len(lines) < 300:
        line = f"a {rng.choice(looks)} {rng.choice(nouns)} {rng.choice(verbs)}"
        lines.add(f"{line} {rng.choice(tails)}" if rng.random() < 0.75 else line)
    (d / "captions.txt").write_text("\n".join(rng.permutation(sorted(lines))) + "\n")
    (d / "train.py").write_text('''"""Next-word model for short captions."""
from pathlib import Path

import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset

HERE = Path(__file__).resolve().parent


class Tokenizer:
    def __init__(self, lines):
        words = sorted({w for line in lines for w in line.split()})
        self.index = {"<bos>": 0, "<eos>": 1, **{w: i + 2 for i, w in enumerate(words)}}
        self.bos_id, self.eos_id = 0, 1
        self.pad_id = self.eos_id

    def __len__(self):
        return len(self.index)

    def encode(self, line):
        return [self.bos_id] + [self.index[w] for w in line.split()] + [self.eos_id]


class Captions(Dataset):
    def __init__(self, lines, tokenizer):
        self.rows = [torch.tensor(tokenizer.encode(line)) for line in lines]

    def __len__(self):
        return len(self.rows)

    def __getitem__(self, i):
        return self.rows[i]


class Collator:
    def __init__(self, pad_id):
        self.pad_id = pad_id

    def __call__(self, rows):
        ids = nn.utils.rnn.pad_sequence(rows, batch_first=True, padding_value=self.pad_id)
        inputs, labels = ids[:, :-1], ids[:, 1:].clone()
        labels[labels == self.pad_id] = -100
        return inputs, labels


class Captioner(nn.Module):
    def __init__(self, vocab, dim=32):
        super().__init__()
        self.embed = nn.Embedding(vocab, dim)
        self.rnn = nn.GRU(dim, dim, batch_first=True)
        self.out = nn.Linear(dim, vocab)

    def forward(self, x):
        return self.out(self.rnn(self.embed(x))[0])


def main():
    torch.manual_seed(0)
    lines = (HERE / "captions.txt").read_text().splitlines()
    tokenizer = Tokenizer(lines)
    loader = DataLoader(Captions(lines, tokenizer), batch_size=20, shuffle=True, collate_fn=Collator(tokenizer.pad_id))
    model = Captioner(len(tokenizer))
    optimizer = torch.optim.Adam(model.parameters(), lr=5e-3)
    for epoch in range(6):
        total = 0.0
        for inputs, labels in loader:
            optimizer.zero_grad()
            loss = nn.functional.cross_entropy(model(inputs).transpose(1, 2), labels, ignore_index=-100)
            loss.backward()
            optimizer.step()
            total += loss.item()
        print(f"epoch {epoch + 1} loss {total / len(loader):.3f}")


if __name__ == "__main__":
    main()
''')
    TRUTH["captions"] = "token 1 (<eos>) is never a label; Collator in train.py, labels[labels == self.pad_id] = -100"


def wine_sampler():
    """Clean: a sampler repeats the rarer classes, with a weight for each sample."""
    d, rng = folder("wine-sampler"), np.random.default_rng(25)
    wine = load_wine()
    keep = np.concatenate([np.flatnonzero(wine.target == 0)[:16], np.flatnonzero(wine.target == 1),
                           np.flatnonzero(wine.target == 2)[:24]])
    keep = rng.permutation(keep)
    frame = pd.DataFrame(wine.data[keep], columns=wine.feature_names)
    frame["cultivar"] = wine.target[keep]
    frame.to_csv(d / "wine.csv", index=False)
    (d / "train.py").write_text('''"""Cultivar of a wine; the rarer ones are drawn more often."""
from pathlib import Path

import numpy as np
import pandas as pd
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset, WeightedRandomSampler

HERE = Path(__file__).resolve().parent


def main():
    torch.manual_seed(0)
    frame = pd.read_csv(HERE / "wine.csv")
    x = frame.drop(columns="cultivar").to_numpy(np.float32)
    y = frame["cultivar"].to_numpy(np.int64)
    cut = int(0.75 * len(x))
    mean, std = x[:cut].mean(0), x[:cut].std(0)
    x = (x - mean) / std
    train = TensorDataset(torch.from_numpy(x[:cut]), torch.from_numpy(y[:cut]))
    val = TensorDataset(torch.from_numpy(x[cut:]), torch.from_numpy(y[cut:]))
    per_class = 1.0 / np.bincount(y[:cut])
    sampler = WeightedRandomSampler(torch.from_numpy(per_class[y[:cut]]), num_samples=160, replacement=True)
    loader = DataLoader(train, batch_size=16, sampler=sampler)
    val_loader = DataLoader(val, batch_size=64)
    model = nn.Sequential(nn.Linear(13, 24), nn.ReLU(), nn.Linear(24, 3))
    optimizer = torch.optim.Adam(model.parameters(), lr=3e-3)
    for epoch in range(8):
        model.train()
        for xb, yb in loader:
            optimizer.zero_grad()
            loss = nn.functional.cross_entropy(model(xb), yb)
            loss.backward()
            optimizer.step()
        model.eval()
        with torch.no_grad():
            hits = [(model(xb).argmax(1) == yb).float().mean().item() for xb, yb in val_loader]
        print(f"epoch {epoch + 1} loss {loss.item():.3f} val {np.mean(hits):.3f}")


if __name__ == "__main__":
    main()
''')


def main():
    for make in (fish_market, buoys, scanned_digits, bike_hire, orders, returns_heavy, fraud, biopsies, flower_arrays,
                 power_windows, web_latency, tickets, messages, herbarium, mushrooms, stars, traffic, phone_photos,
                 warehouse, street_masks, road_ignore, cells, heartbeats, captions, wine_sampler):
        make()
    (ROOT.parent / "planted.json").write_text(json.dumps(TRUTH, indent=1))
    print(f"{len(list(ROOT.iterdir()))} sets in {ROOT}")


if __name__ == "__main__":
    main()
