"""Writes sets/NAME/ and expected.json next to this file."""
import json, shutil, textwrap
from pathlib import Path
import numpy as np
import pandas as pd
from PIL import Image

HERE = Path(__file__).resolve().parent
SETS = HERE / "sets"
shutil.rmtree(SETS, ignore_errors=True)
EXP = {}


def new(name, command, codes, what, rows=(), columns=(), match="any", **extra):
    """match: 'any' = one of the codes is enough, 'all' = every code names a fault of its own."""
    d = SETS / name
    d.mkdir(parents=True)
    EXP[name] = dict(command=command, codes=list(codes), rows=sorted(int(r) for r in rows), columns=list(columns),
                     what=what, match=match, **extra)
    return d


def rng_(k):
    return np.random.default_rng(9000 + k)


def jsonl(path, rows):
    path.write_text("\n".join(json.dumps(r, ensure_ascii=False) for r in rows) + "\n", encoding="utf-8")


def split_csv(d, df, n_train):
    df.iloc[:n_train].to_csv(d / "train.csv", index=False)
    df.iloc[n_train:].to_csv(d / "val.csv", index=False)


# ---------------------------------------------------------------- tables, faulty
def flat_units():
    r = rng_(1); n = 1000
    area = r.gamma(9, 9, n) + 20; rooms = np.clip((area / 28 + r.normal(0, .6, n)).round(), 1, None)
    year = r.integers(1950, 2022, n); dist = r.exponential(6, n)
    price = area * 3200 - 9000 * dist + 900 * (year - 1950) + r.normal(0, 15000, n) + 50000
    bad = np.sort(r.choice(800, 26, replace=False))
    a = area.copy(); a[bad] *= 10.764
    d = new("flat_units", "train.csv --val val.csv --label price", ["PM321"],
            "26 listings carry area_m2 in square feet (factor 10.764).", bad, ["area_m2"])
    split_csv(d, pd.DataFrame(dict(area_m2=a.round(1), rooms=rooms, built=year, km_centre=dist.round(2), price=price.round(0))), 800)


def loan_leak():
    r = rng_(2); n = 1200
    inc = r.lognormal(10.4, .5, n); amt = r.lognormal(9.2, .6, n); age = r.integers(20, 70, n); hist = r.integers(0, 12, n)
    z = 1.2 * np.log(amt / inc) + .1 * hist - .02 * (age - 40)
    y = (r.random(n) < 1 / (1 + np.exp(-z))).astype(int)
    # days in collection exist only after a default; some defaulters are not yet assigned
    col = np.where((y == 1) & (r.random(n) < .94), r.integers(5, 200, n), 0)
    d = new("loan_leak", "train.csv --val val.csv --label defaulted", ["PM324"],
            "days_in_collection is filled in only after the default, so it gives the label away.", (), ["days_in_collection"])
    split_csv(d, pd.DataFrame(dict(income=inc.round(0), amount=amt.round(0), age=age, late_payments=hist,
                                   days_in_collection=col, defaulted=y)), 900)


def pump_offset():
    r = rng_(3); n = 1100
    x = r.normal(size=(n, 5)) * [4, .3, 12, 1, 2] + [60, 1.2, 900, 3, 20]
    z = (x - x.mean(0)) / x.std(0)
    s = 1.5 * z[:, 0] - z[:, 1] + z[:, 2] * z[:, 3]
    lab = np.where(s > .8, "fault", np.where(s < -.8, "idle", "normal"))
    df = pd.DataFrame(x.round(3), columns=["temp_c", "flow", "rpm", "vibration", "load"])
    tr, va = df[:800].copy(), df[800:].copy()
    tr["state"] = np.roll(lab[:800], 1)          # joined by position after a header row was dropped
    va["state"] = lab[800:]
    d = new("pump_offset", "train.csv --val val.csv --label state", ["PM311", "PM322"],
            "In train.csv every label belongs to the row before (off by one in a positional join); val.csv is aligned.", (), ["state"])
    tr.to_csv(d / "train.csv", index=False); va.to_csv(d / "val.csv", index=False)


def bird_sorted():
    r = rng_(4)
    def part(n):
        k = r.integers(0, 5, n)
        m = np.array([[12, 4, 30, 2], [14, 5, 42, 3], [18, 5, 55, 2], [22, 7, 80, 4], [25, 6, 95, 5]], float)
        x = m[k] * np.exp(r.normal(0, .16, (n, 4)))
        return pd.DataFrame(x.round(2), columns=["wing_cm", "beak_mm", "mass_g", "tail_cm"]).assign(species=np.array(["siskin", "finch", "lark", "starling", "thrush"])[k])
    tr, va = part(700), part(200)
    d = new("bird_sorted", "train.csv --val val.csv --label species", ["PM306"],
            "train.csv is ordered by species (concatenated class files), val.csv is mixed.", (), ["species"])
    tr.sort_values("species", kind="stable").to_csv(d / "train.csv", index=False); va.to_csv(d / "val.csv", index=False)


def weather_stuck():
    r = rng_(5); n = 1000
    t = 15 + 8 * np.sin(np.arange(n) / 40) + r.normal(0, 2, n); p = r.normal(1013, 7, n); w = r.gamma(2, 2.5, n); h = r.uniform(30, 95, n)
    y = 2.2 * t + .4 * w - .1 * (p - 1013) + .15 * h + r.normal(0, 2, n)
    o = r.permutation(n); t, p, w, h, y = (a[o] for a in (t, p, w, h, y))
    h[:800] = 41.2
    bad = np.sort(r.choice(800, 31, replace=False)); p[bad] = -999
    d = new("weather_stuck", "train.csv --val val.csv --label ozone", ["PM303", "PM321"],
            "humidity is stuck at 41.2 in all of train.csv (varies in val.csv) and pressure has the sentinel -999 in 31 rows.",
            bad, ["humidity", "pressure"], match="all")
    split_csv(d, pd.DataFrame(dict(temp=t.round(2), pressure=p.round(1), wind=w.round(2), humidity=h.round(1), ozone=y.round(2))), 800)


def parcel_unseen():
    r = rng_(6); n = 900
    wgt = r.gamma(2, 2, n); dist = r.gamma(3, 120, n); depot = r.choice(["north", "south", "east", "port"], n)
    s = wgt * .6 + dist / 150 + (depot == "port") + r.normal(0, .3, n)
    lab = np.where(s < 2.6, "same_day", np.where(s < 4.5, "standard", "freight")).astype(object)
    lab[(wgt > 7) & (depot == "port")] = "oversize"
    df = pd.DataFrame(dict(weight=wgt.round(2), km=dist.round(1), depot=depot, service=lab))
    over = df[df.service == "oversize"]; rest = df[df.service != "oversize"]
    va = pd.concat([rest[650:], over]).sample(frac=1, random_state=1)
    d = new("parcel_unseen", "train.csv --val val.csv --label service", ["PM323"],
            f"The class 'oversize' ({len(over)} of {len(va)} rows in val.csv) never occurs in train.csv, filtered out there.", (), ["service"])
    rest[:650].to_csv(d / "train.csv", index=False); va.to_csv(d / "val.csv", index=False)


# ---------------------------------------------------------------- texts, faulty
POS = "lovely great superb delicious friendly charming perfect wonderful fresh generous cosy excellent".split()
NEG = "awful bland rude cold dirty overpriced slow disgusting noisy stale greasy disappointing".split()
NOUN = "soup service waiter terrace dessert pasta wine room coffee bread music staff menu fish salad".split()
LEAD = ["we came on a {d} and", "my sister and i thought", "honestly", "second visit this year,", "after a long walk", "for a birthday dinner", "as a tourist", "with two kids"]
DAY = "monday tuesday wednesday thursday friday saturday sunday".split()


def review(r, y):
    w = POS if y else NEG
    a, b, c = r.choice(NOUN, 3, replace=False); u, v = r.choice(w, 2, replace=False)
    t = str(r.choice(LEAD)).format(d=r.choice(DAY))
    return f"{t} the {a} was {u} and the {b} {v}, " + str(r.choice([f"the {c} was okay", f"also tried the {c}", f"{r.integers(8, 60)} euros for the {c}"])) + f" at table {r.integers(1, 90)}"


def review_noise():
    r = rng_(7)
    def part(n):
        y = r.integers(0, 2, n)
        return [dict(text=review(r, k), label=["negative", "positive"][k]) for k in y]
    tr, va = part(900), part(200)
    bad = np.sort(r.choice(900, 63, replace=False))
    for i in bad:
        tr[i]["label"] = {"negative": "positive", "positive": "negative"}[tr[i]["label"]]
    d = new("review_noise", "train.jsonl --val val.jsonl", ["PM310"], "63 of 900 sentiment labels (7 %) are flipped.", bad)
    jsonl(d / "train.jsonl", tr); jsonl(d / "val.jsonl", va)


def letters_mojibake():
    r = rng_(8)
    de = {"beschwerde": "die Lieferung für Herrn Müller kam {n} Tage zu spät und die Tür war beschädigt", "lob": "schöne Grüße nach Köln, die {n} Schlüsselanhänger gefallen uns außerordentlich",
          "frage": "können Sie mir erklären, wie man das Gerät Nr. {n} öffnet und die Größe ändert"}
    extra = ["Bitte antworten Sie spätestens bis {m}. Mai.", "Wir wären über eine Rückmeldung in {m} Tagen froh.", "Meine Kundennummer ist {m}, Straße und Ort wie früher.", "Mit freundlichen Grüßen, Büro {m}"]
    def part(n):
        out = []
        for _ in range(n):
            k = str(r.choice(list(de)))
            out.append(dict(text=de[k].format(n=r.integers(2, 900)) + ". " + str(r.choice(extra)).format(m=r.integers(10, 9999)), label=k))
        return out
    tr, va = part(600), part(150)
    pick = r.choice(600, 58, replace=False); moji, empty, cut = pick[:36], pick[36:46], pick[46:]
    for i in moji: tr[i]["text"] = tr[i]["text"].encode("utf-8").decode("cp1252", errors="replace")
    for j, i in enumerate(empty): tr[i]["text"] = ["", "   ", "\n"][j % 3]
    for i in cut: tr[i]["text"] = tr[i]["text"][:9]
    d = new("letters_mojibake", "train.jsonl --val val.jsonl", ["PM320"],
            "36 texts are UTF-8 read as cp1252 (mojibake), 10 are empty, 12 are cut after 9 characters.", pick,
            kinds=dict(mojibake=sorted(map(int, moji)), empty=sorted(map(int, empty)), truncated=sorted(map(int, cut))))
    jsonl(d / "train.jsonl", tr); jsonl(d / "val.jsonl", va)


def ner_shift():
    r = rng_(9)
    per = "anna omar chen lucia piotr fatima jonas mei ravi elena".split(); loc = "oslo lima kyoto cairo porto riga quito dakar".split(); org = "acme globex initech umbrella hooli vandelay".split()
    def sent():
        p, l, o = str(r.choice(per)), str(r.choice(loc)), str(r.choice(org))
        t = [[(p, "PER"), ("moved", "O"), ("to", "O"), (l, "LOC"), ("for", "O"), (o, "ORG"), (str(r.integers(1, 99)), "O"), ("days", "O")],
             [("in", "O"), (l, "LOC"), ("the", "O"), ("firm", "O"), (o, "ORG"), ("hired", "O"), (p, "PER"), ("in", "O"), (str(r.integers(1980, 2023)), "O")],
             [(o, "ORG"), ("said", "O"), ("that", "O"), (p, "PER"), ("left", "O"), (l, "LOC"), ("with", "O"), (str(r.integers(2, 400)), "O"), ("others", "O")]][r.integers(3)]
        return [w for w, _ in t], [g for _, g in t]
    tr, va = [sent() for _ in range(500)], [sent() for _ in range(120)]
    bad = np.sort(r.choice(500, 120, replace=False))
    for i in bad:
        w, g = tr[i]; tr[i] = (w, ["O"] + g[:-1])          # one exporter counted a start token
    d = new("ner_shift", "train.jsonl --val val.jsonl", ["PM311", "PM310"],
            "In 120 of 500 sentences the tags are shifted one token to the right.", bad, ["tags"])
    jsonl(d / "train.jsonl", [dict(tokens=w, tags=g) for w, g in tr]); jsonl(d / "val.jsonl", [dict(tokens=w, tags=g) for w, g in va])


# ---------------------------------------------------------------- arrays, faulty
def blob(r, k, size=20):
    yy, xx = np.mgrid[:size, :size]
    cy, cx = r.uniform(7, 13, 2); a = r.uniform(3.5, 5.5)
    dy, dx = yy - cy, xx - cx
    m = [dy ** 2 + dx ** 2 < a ** 2, np.maximum(abs(dy), abs(dx)) < a * .85, abs(dy) + abs(dx) < a * 1.2][k]
    return m


def tiles_wrap():
    r = rng_(10); n = 500; y = r.integers(0, 3, n)
    x = np.stack([np.clip(r.normal(70, 8, (20, 20)) + 95 * blob(r, k) * r.uniform(.8, 1.1), 0, 255) for k in y]).astype(np.uint8)
    bad = np.sort(r.choice(n, 30, replace=False))
    x[bad] = x[bad] + np.uint8(120)                        # brightness augmentation in uint8
    d = new("tiles_wrap", "data.npz", ["PM321", "PM320"], "30 pictures were brightened by 120 in uint8, so their objects wrapped around to near black.", bad)
    np.savez_compressed(d / "data.npz", X=x, y=y)


def taps_clipped():
    r = rng_(11); n = 420; T = 256; y = r.integers(0, 3, n); t = np.arange(T) / T
    f = np.array([5, 9, 15])[y] * r.uniform(.92, 1.08, n)
    x = r.uniform(.35, .6, (n, 1)) * np.sin(2 * np.pi * (f[:, None] * t + r.random((n, 1)))) * np.exp(-1.5 * t) + r.normal(0, .03, (n, T))
    bad = np.sort(r.choice(n, 24, replace=False))
    x[bad] = np.clip(x[bad] * 14, -1, 1)
    d = new("taps_clipped", "data.npz", ["PM321", "PM320"], "24 recordings were taken with too much gain: flat tops at exactly +-1 over most of the samples.", bad)
    np.savez_compressed(d / "data.npz", X=x.astype(np.float32), y=y)


def spectra_nan():
    r = rng_(12); n = 400; y = r.integers(0, 4, n); g = np.arange(60)
    x = sum(np.exp(-((g - c[:, None]) / 4) ** 2) for c in (np.array([12, 25, 36, 48])[y] + r.normal(0, 1.5, n), r.uniform(0, 60, n))) + r.normal(0, .05, (n, 60))
    bad = np.sort(r.choice(n, 11, replace=False))
    for j, i in enumerate(bad):
        x[i, r.integers(0, 60)] = [np.nan, np.inf, np.nan][j % 3]
    d = new("spectra_nan", "data.npz", ["PM105"], "11 spectra hold one NaN or Inf each (division by a dark reference of zero).", bad)
    np.savez_compressed(d / "data.npz", x=x.astype(np.float32), y=y)


def crops_from_one():
    r = rng_(13); n = 450; y = r.integers(0, 5, n)
    c = np.random.default_rng(1).normal(size=(5, 12))
    x = c[y] + .6 * r.normal(size=(n, 12))
    d = new("crops_from_one", "data.npz", ["PM304"], "Class ids run from 1 to 5 (Matlab export) although num_classes, stored in the file, is 5.", (), ["y"])
    np.savez_compressed(d / "data.npz", X=x.astype(np.float32), y=y + 1, num_classes=np.int64(5))


# ---------------------------------------------------------------- pictures, faulty
def leaf(r, k):
    yy, xx = np.mgrid[:28, :28]
    cy, cx = r.uniform(11, 17, 2); th = r.uniform(0, np.pi)
    u = (xx - cx) * np.cos(th) + (yy - cy) * np.sin(th); v = -(xx - cx) * np.sin(th) + (yy - cy) * np.cos(th)
    m = [(u / 10) ** 2 + (v / 3.2) ** 2 < 1, (u / 7) ** 2 + (v / 6.5) ** 2 < 1, (abs(u) / 10 + abs(v) / 7) < 1][k]
    bg = r.uniform(150, 215, 3); fg = np.array([r.uniform(30, 80), r.uniform(100, 160), r.uniform(25, 70)])
    img = np.where(m[..., None], fg, bg) + r.normal(0, 9, (28, 28, 3))
    return np.clip(img, 0, 255).astype(np.uint8)


def leaf_album():
    r = rng_(14); names = ["lanceolate", "ovate", "rhombic"]
    d = new("leaf_album", "images/", ["PM320", "PM308"], "5 unreadable PNG files (cut in half, zero bytes, an HTML page) and 8 pictures that lie in two classes at once.", match="all")
    files = []
    for k, c in enumerate(names):
        (d / "images" / c).mkdir(parents=True)
        for i in range(50):
            p = d / "images" / c / f"IMG_{1000 + i * 7 + k}.png"; Image.fromarray(leaf(r, k)).save(p); files.append(p)
    for j in range(8):                                     # the same picture filed under a second species
        src = d / "images" / "ovate" / f"IMG_{1000 + j * 21 + 1}.png"
        shutil.copy(src, d / "images" / "rhombic" / f"scan_{j:02d}.png")
    broken = [files[4], files[31], files[66], files[90], files[123]]
    for j, p in enumerate(broken):
        b = p.read_bytes()
        p.write_bytes([b[:len(b) // 2], b"", b"<html><body>403 Forbidden</body></html>", b[:len(b) // 3], b""][j])
    allf = sorted((d / "images").rglob("*.png"))
    rel = lambda p: p.relative_to(d).as_posix()
    dup = sorted([p for p in allf if p.name.startswith("scan_")] + [d / "images" / "ovate" / f"IMG_{1000 + j * 21 + 1}.png" for j in range(8)])
    EXP["leaf_album"].update(rows=sorted(allf.index(p) for p in broken + dup), files=[rel(p) for p in sorted(broken)] + [rel(p) for p in dup])
    assert not set(dup) & set(broken)


def photo_overlap():
    r = rng_(15)
    d = new("photo_overlap", "train/ --val val/", ["PM307"], "15 of 45 validation pictures are edited copies (brighter by 6, some mirrored) of training pictures.")
    pool = {}
    for part, n in (("train", 45), ("val", 10)):
        for k, c in enumerate(["a_narrow", "b_round", "c_kite"]):
            (d / part / c).mkdir(parents=True)
            for i in range(n):
                im = leaf(r, k); Image.fromarray(im).save(d / part / c / f"{part[0]}{i:03d}.png"); pool[part, c, i] = im
    src = []
    for c in ["a_narrow", "b_round", "c_kite"]:
        for j, i in enumerate(r.choice(45, 5, replace=False)):
            im = np.clip(pool["train", c, i].astype(int) + 6, 0, 255).astype(np.uint8)
            if j % 2: im = im[:, ::-1]
            Image.fromarray(im).save(d / "val" / c / f"v{10 + j:03d}.png"); src.append(d / "train" / c / f"t{i:03d}.png")
    allf = sorted((d / "train").rglob("*.png"))
    EXP["photo_overlap"].update(rows=sorted(allf.index(p) for p in src), files=[p.relative_to(d).as_posix() for p in sorted(src)])


def yard_boxes():
    r = rng_(16); W, H = 96, 72
    d = new("yard_boxes", "annotations.json", ["PM312"], "23 annotations hold x1,y1,x2,y2 in a COCO file (width/height wanted), so the boxes leave the picture, and 4 have a negative width. rows = indices into 'annotations'.")
    (d / "images").mkdir()
    images, anns = [], []
    for i in range(60):
        a = r.normal(110, 12, (H, W, 3))
        for _ in range(r.integers(1, 4)):
            w, h = r.integers(12, 32, 2); x, y = int(r.integers(0, W - w)), int(r.integers(0, H - h)); k = int(r.integers(1, 4))
            a[y:y + h, x:x + w] = np.eye(3)[k - 1] * 150 + 60 + r.normal(0, 8, (h, w, 3))
            anns.append(dict(id=len(anns) + 1, image_id=i + 1, category_id=k, bbox=[x, y, int(w), int(h)], area=int(w * h), iscrowd=0))
        Image.fromarray(np.clip(a, 0, 255).astype(np.uint8)).save(d / "images" / f"{i + 1:04d}.png")
        images.append(dict(id=i + 1, file_name=f"images/{i + 1:04d}.png", width=W, height=H))
    ok = [j for j, q in enumerate(anns) if 2 * q["bbox"][0] + q["bbox"][2] > W + 4 or 2 * q["bbox"][1] + q["bbox"][3] > H + 4]
    bad = r.choice(ok, 23, replace=False)
    neg = r.choice([j for j in range(len(anns)) if j not in bad], 4, replace=False)
    for j in bad:
        x, y, w, h = anns[j]["bbox"]; anns[j]["bbox"] = [x, y, x + w, y + h]
    for j in neg:
        x, y, w, h = anns[j]["bbox"]; anns[j]["bbox"] = [x + w, y, -w, h]
    json.dump(dict(images=images, annotations=anns, categories=[dict(id=i + 1, name=c) for i, c in enumerate(["van", "crate", "drum"])]), open(d / "annotations.json", "w"))
    EXP["yard_boxes"]["rows"] = sorted(int(j) for j in list(bad) + list(neg))


# ---------------------------------------------------------------- scripts
def put(d, code):
    (d / "train.py").write_text(textwrap.dedent(code).lstrip())


def script_val_scale():
    d = new("script_val_scale", "--script train.py", ["PM318", "PM301"], "The validation branch of the dataset divides by 255 only; mean and deviation are applied in the training branch alone.")
    put(d, '''
        import torch
        from sklearn.datasets import load_digits
        from torch import nn
        from torch.utils.data import DataLoader, Dataset

        torch.manual_seed(0)


        class Scans(Dataset):
            mean, std = 0.305, 0.376

            def __init__(self, part):
                raw = load_digits()
                idx = torch.randperm(len(raw.target), generator=torch.Generator().manual_seed(1))
                idx = idx[:1400] if part == "train" else idx[1400:]
                self.part = part
                self.x = (torch.tensor(raw.images, dtype=torch.float32)[idx] / 16 * 255).round()
                self.y = torch.tensor(raw.target)[idx]

            def __len__(self):
                return len(self.y)

            def __getitem__(self, i):
                x = self.x[i][None] / 255
                if self.part == "train":
                    x = (x - self.mean) / self.std
                    x = torch.roll(x, int(torch.randint(-1, 2, ())), dims=2)
                return x, self.y[i]


        train_loader = DataLoader(Scans("train"), batch_size=64, shuffle=True)
        val_loader = DataLoader(Scans("val"), batch_size=128)
        model = nn.Sequential(nn.Conv2d(1, 8, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2), nn.Flatten(), nn.Linear(128, 10))
        opt = torch.optim.Adam(model.parameters(), 5e-3)
        for epoch in range(4):
            for x, y in train_loader:
                loss = nn.functional.cross_entropy(model(x), y)
                opt.zero_grad(); loss.backward(); opt.step()
            with torch.no_grad():
                acc = sum((model(x).argmax(1) == y).sum().item() for x, y in val_loader) / len(val_loader.dataset)
            print(epoch, loss.item(), "val acc", acc)
    ''')


def script_scaler_all():
    d = new("script_scaler_all", "--script train.py", ["PM314"], "prepare() takes mean, deviation and the PCA basis from all rows before the split, so the validation part is in the statistics.")
    put(d, '''
        import numpy as np
        import torch
        from sklearn.datasets import load_wine
        from sklearn.decomposition import PCA
        from sklearn.preprocessing import StandardScaler
        from torch.utils.data import DataLoader, TensorDataset


        def prepare():
            x, y = load_wine(return_X_y=True)
            x = StandardScaler().fit_transform(x)
            x = PCA(8, random_state=0).fit_transform(x)
            return x.astype(np.float32), y


        def loaders(holdout=0.3, seed=4):
            x, y = prepare()
            order = np.random.default_rng(seed).permutation(len(y))
            cut = int(len(y) * (1 - holdout))
            sets = [TensorDataset(torch.tensor(x[i]), torch.tensor(y[i])) for i in (order[:cut], order[cut:])]
            return DataLoader(sets[0], 16, shuffle=True), DataLoader(sets[1], 32)


        torch.manual_seed(4)
        train_dl, val_dl = loaders()
        net = torch.nn.Sequential(torch.nn.Linear(8, 16), torch.nn.ReLU(), torch.nn.Linear(16, 3))
        opt = torch.optim.SGD(net.parameters(), 0.05, momentum=0.9)
        for epoch in range(8):
            net.train()
            for xb, yb in train_dl:
                opt.zero_grad()
                loss = torch.nn.functional.cross_entropy(net(xb), yb)
                loss.backward()
                opt.step()
            net.eval()
            with torch.no_grad():
                hit = sum((net(xb).argmax(1) == yb).sum().item() for xb, yb in val_dl)
            print(f"epoch {epoch} loss {loss:.4f} val_acc {hit / len(val_dl.dataset):.3f}")
    ''')


def script_mask_flip():
    d = new("script_mask_flip", "--script train.py", ["PM317"], "The random mirror is drawn once for the image and again for the mask, so in half of the training samples they disagree.")
    put(d, '''
        import torch
        import torch.nn as nn
        from torch.utils.data import DataLoader, Dataset


        def mirror(t):
            return t.flip(-1) if torch.rand(()) < 0.5 else t


        class Lesions(Dataset):
            def __init__(self, n, seed, transform=None):
                g = torch.Generator().manual_seed(seed)
                yy, xx = torch.meshgrid(torch.arange(20.), torch.arange(20.), indexing="ij")
                c = torch.rand(n, 2, generator=g) * 14 + 3
                rad = torch.rand(n, generator=g) * 2.5 + 2
                self.mask = (((yy - c[:, :1, None]) ** 2 + (xx - c[:, 1:, None]) ** 2) < rad[:, None, None] ** 2).float()[:, None]
                self.image = 1.5 * self.mask - 0.3 + 0.5 * torch.randn(n, 1, 20, 20, generator=g)
                self.transform = transform

            def __len__(self):
                return len(self.image)

            def __getitem__(self, i):
                image, mask = self.image[i], self.mask[i]
                if self.transform is not None:
                    image, mask = self.transform(image), self.transform(mask)
                return image, mask


        torch.manual_seed(3)
        train = DataLoader(Lesions(300, 1, mirror), batch_size=20, shuffle=True)
        val = DataLoader(Lesions(80, 2), batch_size=80)
        net = nn.Sequential(nn.Conv2d(1, 8, 5, padding=2), nn.ReLU(), nn.Conv2d(8, 1, 5, padding=2))
        opt = torch.optim.Adam(net.parameters(), 5e-3)
        for epoch in range(5):
            for x, m in train:
                loss = nn.functional.binary_cross_entropy_with_logits(net(x), m)
                opt.zero_grad()
                loss.backward()
                opt.step()
            with torch.no_grad():
                x, m = next(iter(val))
                p = net(x) > 0
                print("epoch", epoch, "loss", round(loss.item(), 4), "val iou", round(((p & (m > 0)).sum() / (p | (m > 0)).sum()).item(), 3))
    ''')


def script_window_split():
    d = new("script_window_split", "--script train.py", ["PM307"], "Windows of 24 hours with stride 1 are split at random, so every validation window shares 23 of 24 hours with training windows (time leak).")
    r = rng_(20); n = 900
    load = 50 + 12 * np.sin(np.arange(n) * 2 * np.pi / 24) + np.cumsum(r.normal(0, .8, n)) + r.normal(0, 1.5, n)
    pd.DataFrame(dict(hour=np.arange(n), load=load.round(3))).to_csv(d / "load.csv", index=False)
    put(d, '''
        from pathlib import Path
        import pandas as pd
        import torch
        from torch import nn
        from torch.utils.data import DataLoader, Dataset, random_split

        SEQ = 24


        class LoadWindows(Dataset):
            def __init__(self, path):
                s = torch.tensor(pd.read_csv(path)["load"].values, dtype=torch.float32)
                self.s = (s - 50) / 12

            def __len__(self):
                return len(self.s) - SEQ

            def __getitem__(self, i):
                return self.s[i:i + SEQ], self.s[i + SEQ]


        torch.manual_seed(7)
        data = LoadWindows(Path(__file__).with_name("load.csv"))
        n_val = len(data) // 5
        train, val = random_split(data, [len(data) - n_val, n_val], generator=torch.Generator().manual_seed(7))
        train_loader = DataLoader(train, batch_size=32, shuffle=True)
        val_loader = DataLoader(val, batch_size=64)
        model = nn.Sequential(nn.Linear(SEQ, 32), nn.ReLU(), nn.Linear(32, 1))
        optimizer = torch.optim.Adam(model.parameters(), lr=2e-3)
        for epoch in range(8):
            model.train()
            for x, y in train_loader:
                loss = nn.functional.mse_loss(model(x).squeeze(1), y)
                optimizer.zero_grad()
                loss.backward()
                optimizer.step()
            model.eval()
            with torch.no_grad():
                mae = sum((model(x).squeeze(1) - y).abs().sum().item() for x, y in val_loader) / n_val
            print(f"epoch {epoch} loss {loss.item():.4f} val_mae {mae:.4f}")
    ''')


# ---------------------------------------------------------------- clean
def ok_claims():
    r = rng_(30); n = 1500
    age = r.integers(18, 85, n); power = r.integers(40, 260, n); km = r.lognormal(9.2, .6, n); region = r.choice(list("ABCDEF"), n)
    any_ = r.random(n) < .25 + .25 * (power > 150) + .1 * (age < 26)
    cost = np.where(any_, r.lognormal(6.5, 1.1, n) * (1 + (power > 150)), 0)
    d = new("ok_claims", "train.csv --val val.csv --label claim_cost", [], "Clean: insurance claims, 59 % zeros and a log-normal tail, policy ids unique.")
    split_csv(d, pd.DataFrame(dict(policy=r.permutation(900000)[:n] + 100000, age=age, power=power, km_year=km.round(0), region=region, claim_cost=cost.round(2))), 1150)


def ok_rare():
    r = rng_(31); n = 2500
    amt = r.lognormal(3.5, 1, n); hour = r.integers(0, 24, n); dist = r.exponential(15, n); new_ = r.integers(0, 2, n)
    z = -5.2 + .5 * (np.log(amt) - 3.5) + .03 * dist + .8 * new_ + .5 * (hour < 5)
    y = (r.random(n) < 1 / (1 + np.exp(-z))).astype(int)
    d = new("ok_rare", "train.csv --val val.csv --label fraud", [], f"Clean: {y.mean():.1%} positives, weak but real signal.")
    split_csv(d, pd.DataFrame(dict(amount=amt.round(2), hour=hour, km_home=dist.round(3), new_device=new_, fraud=y)), 1900)


def ok_commands():
    r = rng_(32)
    tpl = {"light": ["turn {s} the {r} lamp number {n}", "please set light {n} in the {r} to {s}"], "heat": ["set the {r} to {n} degrees {s}", "heating {s} in the {r} at {n}"], "alarm": ["wake me in {n} minutes {s} the {r}", "alarm {n} for the {r} {s}"]}
    seen, rows = set(), []
    while len(rows) < 800:
        k = str(r.choice(list(tpl))); t = str(r.choice(tpl[k])).format(s=r.choice(["on", "off", "now", "later"]), r=r.choice(["kitchen", "hall", "attic", "cellar", "bedroom", "garage"]), n=r.integers(1, 60))
        if t not in seen: seen.add(t); rows.append(dict(text=t, label=k))
    d = new("ok_commands", "train.jsonl --val val.jsonl", [], "Clean: template sentences that differ only in their slots, no text occurs twice.")
    jsonl(d / "train.jsonl", rows[:640]); jsonl(d / "val.jsonl", rows[640:])


def ok_counts():
    r = rng_(33); n = 500; V = 80; y = r.integers(0, 4, n)
    rate = .25 * np.random.default_rng(2).gamma(.35, 1, (4, V)) + .01
    x = r.poisson(rate[y] * r.gamma(3, 1, (n, 1)) * 1.5)
    x[:, 0] += 1 + r.poisson(2, n)
    d = new("ok_counts", "data.npz", [], "Clean: sparse gene-like counts, most entries zero, library sizes differ.")
    np.savez_compressed(d / "data.npz", X=x.astype(np.int32), y=y)


def ok_labels_photo():
    r = rng_(34); d = new("ok_bottles", "images/", [], "Clean: conveyor pictures that look nearly the same; the classes differ by the place of the label.")
    yy, xx = np.mgrid[:28, :28]
    for k, c in enumerate(["high", "low"]):
        (d / "images" / c).mkdir(parents=True)
        for i in range(60):
            a = np.full((28, 28), 185.) + r.normal(0, 5, (28, 28)); x0 = r.uniform(12, 16)
            a[(abs(xx - x0) < 6) & (yy > 3)] -= 70
            y0 = (9 if k == 0 else 19) + r.uniform(-1.5, 1.5)
            a[(abs(xx - x0) < 6) & (abs(yy - y0) < 3)] += r.uniform(75, 100)
            Image.fromarray(np.clip(a + r.normal(0, 3), 0, 255).astype(np.uint8)).save(d / "images" / c / f"cam1_{i * 2 + k:05d}.png")


def ok_pupils():
    r = rng_(35); rows = []
    for p in range(120):
        base = r.normal(60, 10); school = f"S{p % 9}"
        for t in range(6):
            hrs = max(0, r.normal(5, 2)); rows.append((f"P{p:03d}", school, t + 1, round(hrs, 1), round(r.normal(8, 1), 1), round(base + 2.5 * hrs + 1.2 * t + r.normal(0, 4), 1)))
    df = pd.DataFrame(rows, columns=["pupil", "school", "term", "study_hours", "sleep_hours", "score"])
    d = new("ok_pupils", "train.csv --val val.csv --label score", [], "Clean: six rows per pupil, whole pupils are held out, each split shuffled.")
    tr = df[df.pupil < "P095"].sample(frac=1, random_state=1); va = df[df.pupil >= "P095"].sample(frac=1, random_state=2)
    tr.to_csv(d / "train.csv", index=False); va.to_csv(d / "val.csv", index=False)


def ok_script():
    d = new("ok_script", "--script train.py", [], "Clean: imbalanced digits (is it an 8?), WeightedRandomSampler with per-sample weights, statistics from the training part, augmentation in training only.")
    put(d, '''
        import torch
        from sklearn.datasets import load_digits
        from torch import nn
        from torch.utils.data import DataLoader, Dataset, WeightedRandomSampler

        torch.manual_seed(12)
        raw = load_digits()
        order = torch.randperm(1797)
        pixels = torch.tensor(raw.images, dtype=torch.float32)[order]
        is8 = (torch.tensor(raw.target)[order] == 8).long()
        mean, std = pixels[:1400].mean(), pixels[:1400].std()


        class Digits(Dataset):
            def __init__(self, x, y, train):
                self.x, self.y, self.train = (x - mean) / std, y, train

            def __len__(self):
                return len(self.y)

            def __getitem__(self, i):
                x = self.x[i][None]
                if self.train:
                    x = x + 0.1 * torch.randn_like(x)
                return x, self.y[i]


        weights = (1 / torch.bincount(is8[:1400]).float())[is8[:1400]]
        train = DataLoader(Digits(pixels[:1400], is8[:1400], True), 50, sampler=WeightedRandomSampler(weights, 1400))
        val = DataLoader(Digits(pixels[1400:], is8[1400:], False), 100)
        net = nn.Sequential(nn.Conv2d(1, 8, 3), nn.ReLU(), nn.Flatten(), nn.Linear(288, 2))
        opt = torch.optim.Adam(net.parameters(), 3e-3)
        for epoch in range(5):
            net.train()
            for x, y in train:
                loss = nn.functional.cross_entropy(net(x), y)
                opt.zero_grad()
                loss.backward()
                opt.step()
            net.eval()
            with torch.no_grad():
                p = torch.cat([net(x).argmax(1) for x, _ in val])
            y = is8[1400:]
            rec = torch.stack([(p[y == k] == k).float().mean() for k in (0, 1)]).mean()
            print(f"epoch {epoch} loss {loss.item():.4f} val balanced accuracy {rec:.4f}")
    ''')


for f in (flat_units, loan_leak, pump_offset, bird_sorted, weather_stuck, parcel_unseen, review_noise, letters_mojibake, ner_shift,
          tiles_wrap, taps_clipped, spectra_nan, crops_from_one, leaf_album, photo_overlap, yard_boxes,
          script_val_scale, script_scaler_all, script_mask_flip, script_window_split,
          ok_claims, ok_rare, ok_commands, ok_counts, ok_labels_photo, ok_pupils, ok_script):
    f()
(HERE / "expected.json").write_text(json.dumps(EXP, indent=1))
print(sum(bool(e["codes"]) for e in EXP.values()), "faulty", sum(not e["codes"] for e in EXP.values()), "clean")
