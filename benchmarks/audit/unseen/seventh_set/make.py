"""Writes every data set into sets/NAME/ and expected.json beside this file. Deterministic."""
import io
import json
import random
import shutil
from pathlib import Path

import numpy as np
import pandas as pd
from PIL import Image
from sklearn.datasets import load_breast_cancer, load_digits, load_wine

HERE = Path(__file__).resolve().parent
SETS = HERE / "sets"
EXPECTED = {}


def new(name):
    d = SETS / name
    d.mkdir(parents=True)
    return d


def expect(name, command, codes, samples, fault, **more):
    EXPECTED[name] = {"command": command, "codes": codes, "samples": samples, "fault": fault, **more}


def rows(idx):
    return ", ".join(str(int(i)) for i in sorted(idx))


def jsonl(path, items):
    path.write_text("".join(json.dumps(x, ensure_ascii=False) + "\n" for x in items), encoding="utf-8")


# ------------------------------------------------------------------ tables
def flipped_labels():
    d, rng = new("clinic_flipped"), np.random.default_rng(1)
    b = load_breast_cancer()
    df = pd.DataFrame(b.data, columns=[c.replace(" ", "_") for c in b.feature_names])
    df["diagnosis"] = np.where(b.target == 1, "benign", "malignant")
    df = df.sample(frac=1, random_state=0).reset_index(drop=True)
    tr, va = df[:430].copy(), df[430:].copy()
    bad = rng.choice(430, 17, replace=False)
    tr.loc[bad, "diagnosis"] = tr.loc[bad, "diagnosis"].map({"benign": "malignant", "malignant": "benign"})
    tr.to_csv(d / "train.csv", index=False)
    va.to_csv(d / "val.csv", index=False)
    expect("clinic_flipped", "train.csv --val val.csv --label diagnosis", ["PM310"], f"train rows (0-based) {rows(bad)}",
           "17 of 430 diagnoses were typed in the wrong way round")


def duplicate_conflict():
    d, rng = new("wine_conflict"), np.random.default_rng(2)
    w = load_wine()
    df = pd.DataFrame(w.data, columns=[c.replace("/", "_") for c in w.feature_names])
    df["cultivar"] = w.target
    df = df.sample(frac=1, random_state=3).reset_index(drop=True)
    pick = rng.choice(len(df), 14, replace=False)
    copy = df.loc[pick].copy()
    copy["cultivar"] = (copy["cultivar"] + rng.integers(1, 3, 14)) % 3
    out = pd.concat([df, copy], ignore_index=True)
    order = rng.permutation(len(out))
    out = out.iloc[order].reset_index(drop=True)
    where = np.argsort(order)
    out.to_csv(d / "train.csv", index=False)
    pairs = ", ".join(f"({where[p]}, {where[len(df) + i]})" for i, p in enumerate(pick))
    expect("wine_conflict", "train.csv --label cultivar", ["PM308", "PM310"], f"pairs of rows (0-based; the second is wrong) {pairs}",
           "14 wines entered twice, the second time under another cultivar (two annotators merged without reconciling)")


def loans(n, rng):
    df = pd.DataFrame({
        "income": rng.lognormal(10.4, 0.4, n).round(0), "amount": rng.lognormal(9.2, 0.5, n).round(0),
        "term": rng.choice([12, 24, 36, 60], n), "score": rng.normal(640, 60, n).round(0),
        "age": rng.normal(42, 12, n).clip(19, 80).round(0), "open_lines": rng.poisson(4, n)})
    z = -1.4 - 0.012 * (df.score - 640) + 1.1 * np.log(df.amount / df.income * 3.3) + 0.015 * (df.term - 33)
    df["default"] = (rng.random(n) < 1 / (1 + np.exp(-z))).astype(int)
    return df


def target_leak():
    d, rng = new("loan_recovery"), np.random.default_rng(4)
    df = loans(1500, rng)
    fee = rng.gamma(2, 60, len(df)).round(2) + 15
    df.insert(3, "collection_fee", np.where(df["default"] == 1, fee, 0.0))
    df[:1150].to_csv(d / "train.csv", index=False)
    df[1150:].to_csv(d / "val.csv", index=False)
    expect("loan_recovery", "train.csv --val val.csv --label default", ["PM3xx"], "column collection_fee",
           "collection_fee is only charged after a default, so the column is the target in disguise (non-zero exactly for default = 1)",
           note="the catalogue has no code for a target among the inputs: any warning or error that names the column collection_fee counts")


def unit_error():
    d, rng = new("bmi_units"), np.random.default_rng(5)
    n = 900
    df = pd.DataFrame({"height_cm": rng.normal(171, 9, n).round(1), "weight_kg": rng.normal(76, 13, n).round(1),
                       "waist_cm": rng.normal(88, 11, n).round(1), "pulse": rng.normal(71, 9, n).round(0),
                       "systolic": rng.normal(126, 14, n).round(0)})
    z = 0.09 * (df.weight_kg / (df.height_cm / 100) ** 2 - 26) * 3 + 0.04 * (df.systolic - 126) + 0.05 * (df.waist_cm - 88)
    df["risk"] = np.where(z + rng.normal(0, 0.7, n) > 0.4, "high", "low")
    bad = np.sort(rng.choice(700, 26, replace=False))
    df.loc[bad, "height_cm"] = (df.loc[bad, "height_cm"] / 100).round(2)
    df[:700].to_csv(d / "train.csv", index=False)
    df[700:].to_csv(d / "val.csv", index=False)
    expect("bmi_units", "train.csv --val val.csv --label risk", ["PM321", "PM301", "PM318", "PM320"],
           f"column height_cm, train rows {rows(bad)}", "26 heights were entered in metres into the column of centimetres")


def sentinel():
    d, rng = new("weather_sentinel"), np.random.default_rng(6)
    n = 1200
    t = np.arange(n)
    temp = 11 + 9 * np.sin(2 * np.pi * t / 365) + rng.normal(0, 3, n)
    hum = (75 - 1.1 * (temp - 11) + rng.normal(0, 8, n)).clip(15, 100)
    wind, press = rng.gamma(2.2, 1.8, n), rng.normal(1013, 8, n)
    rain = ((hum - 70) * 0.08 - (press - 1013) * 0.09 + rng.normal(0, 0.7, n) > 0.3).astype(int)
    df = pd.DataFrame({"temp": temp.round(1), "humidity": hum.round(0), "wind": wind.round(1), "pressure": press.round(1), "rain": rain})
    bad = np.sort(rng.choice(n, 55, replace=False))
    df.loc[bad, "pressure"] = -999.0
    df = df.sample(frac=1, random_state=1)
    bad = np.flatnonzero(df.pressure.to_numpy() == -999)
    df[:900].to_csv(d / "train.csv", index=False)
    df[900:].to_csv(d / "val.csv", index=False)
    expect("weather_sentinel", "train.csv --val val.csv --label rain", ["PM321", "PM301", "PM105", "PM320"],
           f"column pressure = -999, train rows {rows(bad[bad < 900])}; val rows {rows(bad[bad >= 900] - 900)}",
           "a broken barometer writes -999 for missing, 55 readings are taken as pressures")


def other_statistics():
    d = new("cancer_rescaled")
    b = load_breast_cancer()
    names = [c.replace(" ", "_") for c in b.feature_names[:12]]
    order = np.random.default_rng(7).permutation(len(b.target))
    x, y = b.data[order][:, :12], b.target[order]
    tr, va = x[:420], x[420:]
    tr = (tr - tr.mean(0)) / tr.std(0)
    va = (va - va.min(0)) / (va.max(0) - va.min(0))
    for part, xx, yy in (("train", tr, y[:420]), ("val", va, y[420:])):
        pd.DataFrame(xx.round(5), columns=names).assign(benign=yy).to_csv(d / f"{part}.csv", index=False)
    expect("cancer_rescaled", "train.csv --val val.csv --label benign", ["PM318"], "all twelve feature columns of val.csv",
           "train was standardised, val was min-max scaled by its own range: every column of val lies in 0..1 around another mean")


def group_leak():
    d, rng = new("gait_patients"), np.random.default_rng(8)
    out = []
    for p in range(60):
        sick = int(p % 2)
        base = rng.normal(0, 1, 8) + 0.35 * sick
        for visit in range(14):
            out.append([f"P{p:03d}", visit, *(base + rng.normal(0, 0.06, 8)).round(4), sick])
    df = pd.DataFrame(out, columns=["patient_id", "visit"] + [f"gait_{i}" for i in range(8)] + ["parkinson"])
    df = df.sample(frac=1, random_state=0).reset_index(drop=True)
    df[:640].to_csv(d / "train.csv", index=False)
    df[640:].to_csv(d / "val.csv", index=False)
    expect("gait_patients", "train.csv --val val.csv --label parkinson", ["PM307"],
           "column patient_id: all 60 patients are in both files",
           "recordings were split at random by row, so the same patients (almost the same feature vectors) are in training and validation")


def time_leak():
    d, rng = new("sensor_interleaved"), np.random.default_rng(9)
    n = 1500
    t = pd.date_range("2023-03-01", periods=n, freq="10min")
    x = np.zeros((n, 5))
    for i in range(1, n):
        x[i] = 0.995 * x[i - 1] + 0.05 * rng.normal(size=5)
    regime = (np.floor(np.arange(n) / 75) * 7919 % 13 < 6).astype(int)
    df = pd.DataFrame(x.round(4), columns=["flow", "vib", "temp", "amp", "level"])
    df.insert(0, "timestamp", t.strftime("%Y-%m-%d %H:%M"))
    df["alarm"] = regime
    mask = rng.random(n) < 0.2
    df[~mask].to_csv(d / "train.csv", index=False)
    df[mask].to_csv(d / "val.csv", index=False)
    expect("sensor_interleaved", "train.csv --val val.csv --label alarm", ["PM307", "PM318"],
           "column timestamp: val covers the same 10 days, nearly every val row has a train row 10 minutes before and after",
           "a slowly moving time series was split at random by row instead of at a date, so val rows lie between near-identical train rows",
           note="no code of its own in the catalogue: PM307 (overlap of content in time) is meant; any warning that names timestamp counts")


def encoding():
    d, rng = new("flats_mojibake"), np.random.default_rng(10)
    towns = {"München": 19.0, "Köln": 13.5, "Nürnberg": 11.5, "Berlin": 14.0, "Düsseldorf": 13.0, "Leipzig": 8.5, "Lübeck": 10.5}
    n = 1000
    town = rng.choice(list(towns), n)
    area = rng.normal(70, 22, n).clip(20, 180).round(0)
    rent = np.array([towns[t] for t in town]) * area * rng.normal(1, 0.07, n)
    df = pd.DataFrame({"town": town, "area": area, "floor": rng.integers(0, 8, n), "year": rng.integers(1900, 2022, n), "rent": (rent / 100).round(2)})
    tr, va = df[:750].copy(), df[750:].copy()
    va["town"] = [t.encode("utf-8").decode("latin-1") for t in va["town"]]
    tr.to_csv(d / "train.csv", index=False, encoding="utf-8")
    va.to_csv(d / "val.csv", index=False, encoding="utf-8")
    expect("flats_mojibake", "train.csv --val val.csv --label rent", ["PM318", "PM320", "PM323"],
           "column town of val.csv: MÃ¼nchen, KÃ¶ln, NÃ¼rnberg, DÃ¼sseldorf, LÃ¼beck (all rows of these five towns)",
           "val.csv was read as latin-1 and written again: five of seven town names of val do not occur in train")


def shifted_columns():
    d, rng = new("orders_shifted"), np.random.default_rng(11)
    n = 800
    df = pd.DataFrame({"quantity": rng.integers(1, 12, n), "unit_price": rng.gamma(3, 14, n).round(2), "discount": rng.choice([0, 0.05, 0.1, 0.2], n),
                       "weight_g": rng.normal(2400, 500, n).round(0), "distance_km": rng.gamma(2, 140, n).round(0), "days": rng.integers(1, 9, n)})
    df["late"] = ((df.distance_km / 280 + df.weight_g / 2400 + rng.normal(0, 0.5, n)) > 2.1).astype(int)
    cols = ["quantity", "unit_price", "discount", "weight_g", "distance_km", "days"]
    bad = np.sort(rng.choice(n, 21, replace=False))
    x = df[cols].to_numpy(float)
    x[bad] = np.roll(x[bad], 1, axis=1)
    out = pd.DataFrame(x, columns=cols)
    out["late"] = df.late
    out.to_csv(d / "train.csv", index=False)
    expect("orders_shifted", "train.csv --label late", ["PM321", "PM320", "PM301"], f"rows (0-based) {rows(bad)}",
           "in 21 rows of one export the six feature columns are moved one place to the right (days stands in quantity, weight in distance ...)")


def missing_class():
    d, rng = new("glyphs_missing_class"), np.random.default_rng(12)
    g = load_digits()
    order = rng.permutation(len(g.target))
    x, y = g.data[order], g.target[order]
    tr, va = np.arange(1300), np.arange(1300, len(y))
    tr = tr[y[tr] != 6]
    cols = [f"p{i:02d}" for i in range(64) if g.data[:, i].std() > 0.5]
    keep = [i for i in range(64) if g.data[:, i].std() > 0.5]
    for part, i in (("train", tr), ("val", va)):
        pd.DataFrame(x[i][:, keep] / 16, columns=cols).assign(digit=y[i]).to_csv(d / f"{part}.csv", index=False)
    expect("glyphs_missing_class", "train.csv --val val.csv --label digit", ["PM323", "PM304", "PM318"], f"class 6: 0 rows in train, {int((y[va] == 6).sum())} in val",
           "a filter lost digit 6 from train; val still asks for it")


# ------------------------------------------------------------------ arrays and images
def texture(rng, kind, size=24):
    """Three kinds of colour scenes: sky over field, brick wall, flower."""
    yy, xx = np.mgrid[:size, :size] / size
    img = np.zeros((size, size, 3))
    if kind == 0:
        h = rng.uniform(0.35, 0.65)
        sky, field = rng.uniform([0.4, 0.6, 0.85], [0.6, 0.8, 1]), rng.uniform([0.2, 0.45, 0.1], [0.45, 0.65, 0.25])
        img[:] = np.where((yy < h + 0.05 * np.sin(rng.uniform(3, 9) * xx + rng.uniform(0, 6)))[..., None], sky * (1 - 0.3 * yy[..., None]), field)
    elif kind == 1:
        c, m = rng.uniform([0.55, 0.2, 0.12], [0.75, 0.35, 0.2]), rng.uniform(0.6, 0.8)
        r, ph = rng.integers(4, 6), rng.integers(0, 6)
        line = (np.mgrid[:size, :size][0] % r == 0) | ((np.mgrid[:size, :size][1] + ph + 3 * (np.mgrid[:size, :size][0] // r)) % 8 == 0)
        shade = rng.uniform(0.6, 1.25, (size // 4 + 2, size // 8 + 4))
        rr, cc = np.mgrid[:size, :size]
        tone = shade[rr // r, (cc + ph + 3 * (rr // r)) // 8 % shade.shape[1]]
        light = 1 + rng.uniform(-0.4, 0.4) * (xx - 0.5) + rng.uniform(-0.4, 0.4) * (yy - 0.5)
        img[:] = np.where(line[..., None], m, c * tone[..., None]) * light[..., None]
    else:
        cy, cx = rng.uniform(0.35, 0.65, 2)
        rad, ang = np.hypot(yy - cy, xx - cx), np.arctan2(yy - cy, xx - cx)
        petal = rad < rng.uniform(0.25, 0.38) * (0.7 + 0.3 * np.cos(rng.integers(5, 8) * ang + rng.uniform(0, 6)))
        img[:] = rng.uniform([0.1, 0.3, 0.1], [0.25, 0.5, 0.2])
        img[petal] = rng.uniform([0.7, 0.2, 0.5], [1, 0.6, 0.9])
        img[rad < 0.09] = [0.95, 0.8, 0.2]
    return (255 * (img + rng.normal(0, 0.03, img.shape)).clip(0, 1)).astype(np.uint8)


KINDS = ["field", "brick", "flower"]


def scrambled_layout():
    d, rng = new("scenes_reshaped"), np.random.default_rng(13)
    y = rng.integers(0, 3, 500)
    x = np.stack([texture(rng, k) for k in y])
    x = (x.reshape(500, 3, 24, 24) / 255).astype(np.float32)
    np.savez_compressed(d / "data.npz", x=x, y=y)
    expect("scenes_reshaped", "data.npz", ["PM313"], "array x, all 500 images",
           "images of shape (24, 24, 3) were turned into (3, 24, 24) by reshape instead of transpose: every channel plane is a third of the image with the colours interleaved")


def folder(d, rng, split, per_class, size=32):
    made = []
    for k, name in enumerate(KINDS):
        (d / split / name).mkdir(parents=True)
        for i in range(per_class):
            p = d / split / name / f"{name}_{i:03d}.png"
            im = Image.fromarray(texture(rng, k, size))
            im.save(p)
            made.append((p, im))
    return made


def colour_modes():
    d, rng = new("scenes_modes"), np.random.default_rng(14)
    made = folder(d, rng, "train", 60)
    folder(d, rng, "val", 20)
    bad = []
    for j, i in enumerate(sorted(rng.choice(len(made), 12, replace=False))):
        p, im = made[i]
        mode = ["L", "RGBA", "LA", "1"][j % 4]
        im.convert("RGBA").convert(mode).save(p) if mode != "1" else im.convert("L").convert("1").save(p)
        bad.append(f"{p.relative_to(d)} ({mode})")
    expect("scenes_modes", "train --val val", ["PM320", "PM318"], "; ".join(bad),
           "12 of 180 colour photographs were saved in other modes (grey, grey with alpha, RGBA, one bit): other numbers of channels")


def blank_images():
    d, rng = new("scenes_blank"), np.random.default_rng(15)
    made = folder(d, rng, "train", 60)
    folder(d, rng, "val", 20)
    bad = []
    for j, i in enumerate(sorted(rng.choice(len(made), 9, replace=False))):
        p, im = made[i]
        a = np.full((32, 32, 3), [0, 255, 128][j % 3], np.uint8)
        Image.fromarray(a).save(p)
        bad.append(str(p.relative_to(d)))
    expect("scenes_blank", "train --val val", ["PM303", "PM321", "PM320", "PM308"], "; ".join(bad),
           "9 of 180 images are empty: one colour from failed downloads (black, white, grey)")


def mirrored_copies():
    d, rng = new("scenes_mirrored"), np.random.default_rng(16)
    made = folder(d, rng, "train", 60)
    bad = []
    folder(d, rng, "val", 20)
    for k, name in enumerate(KINDS):
        src = [m for m in made if m[0].parent.name == name]
        for j, i in enumerate(rng.choice(60, 8, replace=False)):
            p, im = src[i]
            im = im.transpose(Image.Transpose.FLIP_LEFT_RIGHT)
            buf = io.BytesIO()
            im.save(buf, "JPEG", quality=95, subsampling=0)
            q = d / "val" / name / f"{name}_{j:03d}.png"
            Image.open(io.BytesIO(buf.getvalue())).save(q)
            bad.append(f"{q.relative_to(d)} = {p.relative_to(d)}")
    expect("scenes_mirrored", "train --val val", ["PM307"], "; ".join(bad),
           "the set was augmented (mirrored, JPEG) before the split: 24 of 60 validation images are mirrored copies of training images")


# ------------------------------------------------------------------ text and boxes
SUBJ = "the kettle|this blender|the vacuum|my new toaster|the coffee grinder|this lamp|the electric knife|the rice cooker|this fan|the heater".split("|")
GOOD = "works like a dream|is quiet and quick|looks lovely on the counter|cleans up in seconds|was worth every penny|arrived early and well packed|still runs after two years".split("|")
BAD = "stopped after a week|smells of burnt plastic|leaks all over the table|is far too loud|broke on first use|came with a cracked lid|never gets hot enough".split("|")
TAIL = "my sister has one too|bought it for the office|we use it daily|i compared four models first|the manual is short|delivery took three days|it replaced an old one|my flat is small|the cable is a metre long|it was a birthday present|we live at altitude|the box was huge".split("|")


WORDS = ("amber anchor apron autumn bakery balcony basement basket beach bicycle blanket bottle bridge brother bucket butter cabin camping candle carpet castle "
         "cellar cheese chimney church cinema closet clover cousin cradle curtain daughter desert dinner drawer engine evening family farmer ferry fireplace "
         "forest garage garden ginger guitar hallway hammer harbour holiday honey hostel island jacket journey kitchen ladder lantern laundry lemon library "
         "market meadow mirror mother mountain museum neighbour noodle nursery office onion orchard oven paint parlour pasta pepper piano picnic pillow "
         "plumber porridge potato printer quilt rabbit railway recipe river roof rope salad school shelf shower silver soup spring stairs station student "
         "sugar summer table teacher temple tent terrace thunder tiger tower tractor tunnel uncle valley velvet village violin wagon walnut window winter workshop").split()
CITIES = "Aachen Bergen Cadiz Dundee Essen Faro Ghent Halle Izmir Jena Kiel Lyon Malaga Nantes Odense Porto Riga Siena Turku Utrecht Vigo York Zadar".split()


def review(rng):
    y = rng.random() < 0.5
    w = rng.sample(WORDS, 9)
    a = rng.choice(GOOD if y else BAD)
    aside = rng.choice([f"i keep it between the {w[0]} and the {w[1]} at home in {rng.choice(CITIES)}", f"my {w[0]} and the {w[1]} came from the same shop in {rng.choice(CITIES)}",
                        f"ordered {rng.randint(2, 60)} days ago for the {w[0]} near the {w[1]}", f"paid {rng.randint(12, 290)} euros plus a {w[0]} voucher from {rng.choice(CITIES)}",
                        f"the {w[0]} colour fits our {w[1]}", f"we had a {w[0]} before and used it with the {w[1]} in {rng.choice(CITIES)}"])
    extra = rng.choice([f"{rng.choice(TAIL)}, but the {w[2]} {w[3]} needs {rng.randint(2, 50)} minutes", f"next to {w[2]} and {w[3]} it looks small", f"{rng.choice(TAIL)}",
                        f"tried with {w[2]}, {w[3]} and {w[4]} on a {w[5]}", f"asked my {w[2]} about the {w[3]}, he told me about {w[4]} and {w[5]}",
                        f"the {w[2]} setting number {rng.randint(2, 30)} is meant for {w[3]}"])
    last = rng.choice([f"for {w[6]} and {w[7]} i have the {w[8]}", f"maybe {w[6]} next time", f"photo shows the {w[6]} beside my {w[7]}", f"serial ends in {rng.randint(1000, 9999)}"])
    return f"{rng.choice(SUBJ)} {a}, {aside}. {extra}. {last}.", "pos" if y else "neg"


def reviews(n, rng):
    seen, out = set(), []
    while len(out) < n:
        text, y = review(rng)
        if text not in seen:
            seen.add(text)
            out.append({"text": text[0].upper() + text[1:], "label": y})
    return out


def near_texts():
    d, rng = new("reviews_reposted"), random.Random(17)
    data = reviews(900, rng)
    tr, va = data[:700], data[700:]
    bad = []
    for j in sorted(rng.sample(range(200), 40)):
        i = rng.randrange(700)
        text = tr[i]["text"].replace(".", "!" if j % 2 else " .").replace(",", " -")
        text = text.lower() if j % 3 else text + " (edited)"
        va[j] = {"text": text, "label": tr[i]["label"]}
        bad.append(f"val {j} = train {i}")
    jsonl(d / "train.jsonl", tr)
    jsonl(d / "val.jsonl", va)
    expect("reviews_reposted", "train.jsonl --val val.jsonl --label label", ["PM307"], "; ".join(bad),
           "40 of 200 validation reviews are re-posts of training reviews with other punctuation, case or '(edited)' at the end")


def boxes(rng, n):
    out = []
    for i in range(n):
        w, h = (640, 480) if rng.random() < 0.5 else (480, 640)
        bs, ls = [], []
        for _ in range(rng.integers(1, 4)):
            bw, bh = rng.uniform(0.08, 0.45, 2) * (w, h)
            x, y = rng.uniform(0, w - bw), rng.uniform(0, h - bh)
            bs.append([round(float(v), 1) for v in (x, y, x + bw, y + bh)])
            ls.append(str(rng.choice(["car", "person", "dog"])))
        out.append({"image": f"frame_{i:04d}.jpg", "width": w, "height": h, "boxes": bs, "labels": ls})
    return out


def outside_boxes():
    d, rng = new("street_rotated"), np.random.default_rng(18)
    data = boxes(rng, 400)
    bad = []
    for i in sorted(rng.choice(400, 24, replace=False)):
        r = data[i]
        r["width"], r["height"] = r["height"], r["width"]
        if any(b[2] > r["width"] or b[3] > r["height"] for b in r["boxes"]):
            bad.append(i)
    jsonl(d / "data.jsonl", data)
    expect("street_rotated", "data.jsonl", ["PM312"], f"rows (0-based) whose boxes leave the image: {rows(bad)}",
           "24 frames were turned upright (width and height swapped, from EXIF) but their boxes were not: in the frames listed boxes reach beyond the image")


def damaged_masks():
    d = new("ponds_masks")
    (d / "loader_script.py").write_text('''import numpy as np
import torch
from torch.utils.data import DataLoader, Dataset

torch.set_num_threads(1)


def to_tensor(a):
    a = torch.from_numpy(np.ascontiguousarray(a)).float() / 255.0
    return a.unsqueeze(0) if a.ndim == 2 else a.permute(2, 0, 1)


class Ponds(Dataset):
    """Aerial photographs with a mask of water."""

    def __init__(self, n, seed):
        rng = np.random.default_rng(seed)
        yy, xx = np.mgrid[:32, :32]
        self.items = []
        for _ in range(n):
            img = rng.normal([90, 120, 60], 12, (32, 32, 3))
            mask = np.zeros((32, 32), np.uint8)
            for _ in range(rng.integers(1, 4)):
                cy, cx = rng.uniform(5, 27, 2)
                hit = ((yy - cy) / rng.uniform(3, 7)) ** 2 + ((xx - cx) / rng.uniform(3, 7)) ** 2 < 1
                mask[hit] = 1
                img[hit] = rng.normal([40, 70, 130], 10, (int(hit.sum()), 3))
            self.items.append((img.clip(0, 255).astype(np.uint8), mask))

    def __len__(self):
        return len(self.items)

    def __getitem__(self, i):
        img, mask = self.items[i]
        return to_tensor(img), to_tensor(mask)


train_loader = DataLoader(Ponds(160, 0), batch_size=16, shuffle=True)
val_loader = DataLoader(Ponds(48, 1), batch_size=16)

for epoch in range(1):
    for image, mask in train_loader:
        pass
    for image, mask in val_loader:
        pass
print("image", tuple(image.shape), "mask", tuple(mask.shape))
''')
    expect("ponds_masks", '--script "loader_script.py"', ["PM302", "PM512"], "the mask of every sample (second item of the batch): values 0 and 0.0039",
           "masks are stored as 0/1 but go through the same to_tensor as the photographs, so they are divided by 255")


# ------------------------------------------------------------------ clean sets that look suspicious
def clean_survey():
    d, rng = new("survey_clean"), np.random.default_rng(30)
    n = 1400
    df = pd.DataFrame({"sex": rng.choice(["f", "m"], n), "age_group": rng.choice(["18-29", "30-44", "45-64", "65+"], n),
                       "region": rng.choice(["north", "south", "east", "west"], n), "owns_car": rng.choice(["yes", "no"], n, p=[0.7, 0.3]),
                       "commutes": rng.choice(["yes", "no"], n, p=[0.6, 0.4])})
    z = -0.6 + 1.8 * (df.owns_car == "yes") + 1.0 * (df.age_group == "65+") - 1.8 * (df.region == "north") - 1.0 * (df.commutes == "no")
    df["supports"] = np.where(rng.random(n) < 1 / (1 + np.exp(-z)), "yes", "no")
    df[:1100].to_csv(d / "train.csv", index=False)
    df[1100:].to_csv(d / "val.csv", index=False)
    expect("survey_clean", "train.csv --val val.csv --label supports", [], "none",
           "clean: only 128 possible answer patterns, so equal rows inside and across the splits (also with different answers) are different people")


def clean_fraud():
    d, rng = new("fraud_clean"), np.random.default_rng(31)
    n = 2000
    y = (rng.random(n) < 0.03).astype(int)
    x = rng.normal(0, 1, (n, 6))
    x[:, 0] += 1.6 * y
    x[:, 1] -= 1.2 * y
    df = pd.DataFrame({"log_amount": x[:, 0] * 1.1 + 3.2, "hours_since_last": np.exp(x[:, 1] + 1), "merchant_risk": x[:, 2],
                       "night": (x[:, 3] + y > 1).astype(int), "foreign": (x[:, 4] + 0.8 * y > 1.2).astype(int), "n_today": rng.poisson(1 + y)}).round(3)
    df["fraud"] = y
    df[:1500].to_csv(d / "train.csv", index=False)
    df[1500:].to_csv(d / "val.csv", index=False)
    expect("fraud_clean", "train.csv --val val.csv --label fraud", [], "none", "clean: 3 % fraud is the real rate, the signal is real but weak, rare flags are mostly zero (a note on imbalance is fine)")


def clean_income():
    d, rng = new("income_clean"), np.random.default_rng(32)
    n = 1200
    last = rng.lognormal(1.0, 0.8, n)
    df = pd.DataFrame({"last_year": last.round(3), "experience": rng.gamma(3, 4, n).round(1), "hours": rng.normal(38, 6, n).clip(5, 70).round(0),
                       "education": rng.integers(8, 21, n), "employees": rng.lognormal(4, 1.6, n).clip(1, 9000).round(0)})
    df["income"] = (last * rng.normal(1.03, 0.09, n) + 0.01 * df.experience).round(3)
    df[:950].to_csv(d / "train.csv", index=False)
    df[950:].to_csv(d / "val.csv", index=False)
    expect("income_clean", "train.csv --val val.csv --label income", [], "none",
           "clean: heavy tails are genuine, last year's income is known in advance and naturally predicts this year's (correlation about 0.99)")


def clean_stars():
    d, rng = new("nightsky_clean"), np.random.default_rng(33)
    yy, xx = np.mgrid[:32, :32]
    for split, m in (("train", 70), ("val", 25)):
        for k, name in enumerate(["cluster", "galaxy"]):
            (d / split / name).mkdir(parents=True)
            for i in range(m):
                img = rng.normal(6, 2.0, (32, 32))
                cy, cx = rng.uniform(9, 23, 2)
                if k == 0:
                    for _ in range(rng.integers(6, 14)):
                        py, px = rng.normal((cy, cx), 4)
                        img += rng.uniform(60, 200) * np.exp(-((yy - py) ** 2 + (xx - px) ** 2) / 1.2)
                else:
                    t, q = rng.uniform(0, np.pi), rng.uniform(0.35, 0.8)
                    u, v = (xx - cx) * np.cos(t) + (yy - cy) * np.sin(t), -(xx - cx) * np.sin(t) + (yy - cy) * np.cos(t)
                    img += rng.uniform(70, 200) * np.exp(-np.sqrt(u ** 2 + (v / q) ** 2) / rng.uniform(2, 4))
                Image.fromarray(img.clip(0, 255).astype(np.uint8), "L").save(d / split / name / f"{i:03d}.png")
    expect("nightsky_clean", "train --val val", [], "none", "clean: grey images that are nearly black everywhere, as astronomical images are; all different, all the same mode and size")


def clean_tickets():
    d, rng = new("tickets_clean"), random.Random(34)
    intro = "Dear support team, thank you for contacting us through the web form. Ticket opened automatically. Message follows: "
    data = [{"text": intro + r["text"], "label": r["label"]} for r in reviews(700, rng)]
    jsonl(d / "train.jsonl", data[:550])
    jsonl(d / "val.jsonl", data[550:])
    expect("tickets_clean", "train.jsonl --val val.jsonl --label label", [], "none",
           "clean: every text begins with the same boilerplate and is put together from common phrases, but no message occurs twice")


def clean_loader():
    d = new("sorted_sampler_clean")
    (d / "loader_script.py").write_text('''import numpy as np
import torch
from sklearn.datasets import load_digits
from torch.utils.data import DataLoader, TensorDataset, WeightedRandomSampler

torch.set_num_threads(1)
torch.manual_seed(0)

digits = load_digits()
order = np.random.default_rng(0).permutation(len(digits.target))
x, y = digits.images[order].astype(np.float32) / 16.0, digits.target[order]
tr, va = np.arange(1300), np.arange(1300, len(y))

# rare classes on purpose: what the sorting machine really sees
keep = np.random.default_rng(1).random(len(tr)) < np.where(y[tr] < 7, 1.0, 0.35)
tr = tr[keep]
tr = tr[np.argsort(y[tr], kind="stable")]
va = va[np.argsort(y[va], kind="stable")]

train_set = TensorDataset(torch.from_numpy(x[tr]).unsqueeze(1), torch.from_numpy(y[tr]))
val_set = TensorDataset(torch.from_numpy(x[va]).unsqueeze(1), torch.from_numpy(y[va]))
count = np.bincount(y[tr])
weights = torch.as_tensor(1.0 / count[y[tr]])
sampler = WeightedRandomSampler(weights, num_samples=len(train_set), replacement=True)
train_loader = DataLoader(train_set, batch_size=32, sampler=sampler)
val_loader = DataLoader(val_set, batch_size=64, shuffle=False)

seen = np.zeros(10, int)
for epoch in range(2):
    for xb, yb in train_loader:
        seen += np.bincount(yb.numpy(), minlength=10)
for xb, yb in val_loader:
    pass
print("drawn per class", seen.tolist())
''')
    expect("sorted_sampler_clean", '--script "loader_script.py"', [], "none",
           "clean: the training set lies on disk sorted by class and is imbalanced, but a sampler with one weight per sample draws it at random (repeats are its job); the validation loader is sorted on purpose")


if __name__ == "__main__":
    shutil.rmtree(SETS, ignore_errors=True)
    for f in (flipped_labels, duplicate_conflict, target_leak, unit_error, sentinel, other_statistics, group_leak, time_leak, encoding,
              shifted_columns, missing_class, scrambled_layout, colour_modes, blank_images, mirrored_copies, near_texts, outside_boxes, damaged_masks,
              clean_survey, clean_fraud, clean_income, clean_stars, clean_tickets, clean_loader):
        f()
    (HERE / "expected.json").write_text(json.dumps(EXPECTED, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    print(len(EXPECTED), "sets")
