#!/usr/bin/env python3
"""
Writes the vectors of this folder: python3 reference.py, without arguments. It shares nothing with the machine: images
are dictionaries of texels, all arithmetic is that of exact fractions, rounded once where a result is rounded. What it
follows is named at each group: sections of the PTX manual, the appendix "Texture Fetching" of CUDA's programming guide
(nearest point, linear filtering with weights of 8 bits, table lookups by level), the table of faces in OpenGL's
specification.
"""
from fractions import Fraction as F
import math
import os
import struct

LANES = range(32)
HERE = os.path.dirname(os.path.abspath(__file__))


def f32(x):
    """The number of binary32 next to a fraction whose numerator and denominator fit into a double."""
    return F(struct.unpack("<f", struct.pack("<f", float(x)))[0])


def bits(x, code):
    """The bits of a number in the format of a letter of struct: e, f."""
    size = {"e": "<H", "f": "<I"}[code]
    return struct.unpack(size, struct.pack("<" + code, float(x)))[0]


class Image:
    """Texels by (level, layer, z or sample, y, x), numbered in the order of memory."""

    def __init__(self, kind, channels, size, layers=1, cube=False, levels=1, samples=1):
        self.kind, self.channels, self.size = kind, channels, size
        self.layers, self.cube, self.levels, self.samples = layers, cube, levels, samples
        self.texels, n = {}, 0
        for level in range(levels):
            w, h, d = self.sizes(level)
            for layer in range(layers * (6 if cube else 1)):
                for z in range(d * samples):
                    for y in range(h):
                        for x in range(w):
                            self.texels[level, layer, z, y, x] = [value(kind, n + c) for c in range(channels)]
                            n += channels

    def sizes(self, level=0):
        w, h, d = (list(self.size) + [1, 1])[:3]
        return max(1, w >> level), max(1, h >> level), max(1, d >> level)

    def text(self):
        words = [f"{self.kind}x{self.channels}", "x".join(map(str, self.size))]
        words += [f"{k}={v}" for k, v in (("layers", self.layers), ("levels", self.levels), ("samples", self.samples)) if v > 1]
        return " ".join(words + (["cube"] if self.cube else []))


def value(kind, n):
    """The n-th channel of an image: what the format of a vector says of all images."""
    number = (37 * n + 11) % 251
    return number if kind[0] == "u" else number - 125 if kind in ("f32", "s16", "s32") else number // 2 - 60


def address(i, size, mode):
    if mode == "border":
        return i if 0 <= i < size else None
    if mode == "clamp":
        return max(0, min(size - 1, i))
    i %= size if mode == "wrap" else 2 * size
    return i if i < size else 2 * size - 1 - i


def texel(image, level, layer, z, place, modes, border):
    sizes = image.sizes(level)
    at = [address(i, sizes[axis], modes[axis]) for axis, i in enumerate(place)]
    if None in at:
        return border
    x, y, depth = (at + [0, 0])[:3]
    got = image.texels[level, layer, depth if len(at) > 2 else z, y, x]
    return [F(c) for c in got] + [F(0), F(0), F(0), F(1)][len(got):]


FACES = [  # OpenGL: major axis, its sign, sc, tc
    ((0, 1), (2, -1), (1, -1)), ((0, -1), (2, 1), (1, -1)), ((1, 1), (0, 1), (2, 1)),
    ((1, -1), (0, 1), (2, -1)), ((2, 1), (0, 1), (1, -1)), ((2, -1), (0, -1), (1, -1)),
]


def on_cube(direction):
    face = max(range(6), key=lambda n: FACES[n][0][1] * direction[FACES[n][0][0]])
    (major, _), (s, s_sign), (t, t_sign) = FACES[face]
    ma = abs(direction[major])
    return face, [(sign * direction[axis] / ma + 1) / 2 for axis, sign in ((s, s_sign), (t, t_sign))]


def sampled(image, how, level, layer, z, coordinates, offset, integers):
    """One level of an image at a point."""
    sizes = image.sizes(level)
    at = list(coordinates)
    if not integers and how["normalized"]:
        at = [f32(c * sizes[axis]) for axis, c in enumerate(at)]
    move = offset + [0] * 3
    args = (how["modes"], how["border"])
    if how["filter"] == "point" or integers:
        return texel(image, level, layer, z, [math.floor(c) + move[a] for a, c in enumerate(at)], *args)
    total = [F(0)] * 4
    firsts = [math.floor(f32(c - F(1, 2))) for c in at]
    weights = [F(math.floor((f32(c - F(1, 2)) - firsts[a]) * 256 + F(1, 2)), 256) for a, c in enumerate(at)]
    for corner in range(2 ** len(at)):
        second = [corner >> a & 1 for a in range(len(at))]
        weight = math.prod(w if s else 1 - w for w, s in zip(weights, second))
        got = texel(image, level, layer, z, [firsts[a] + second[a] + move[a] for a in range(len(at))], *args)
        total = [t + weight * c for t, c in zip(total, got)]
    return total


def levels_of(image, how, lod):
    """Levels and how much each counts."""
    lod = min(max(lod, F(0)), F(image.levels - 1))
    if how["mip"] == "point":
        return [(math.floor(lod + F(1, 2)), F(1))]
    position = math.floor(lod * 256 + F(1, 2))
    level, part = divmod(position, 256)
    both = [(level, F(256 - part, 256)), (min(level + 1, image.levels - 1), F(part, 256))]
    return [(l, w) for l, w in both if w]


def fetched(image, how, words, geom, integers, lod, offset):
    """The four channels for one lane."""
    words = list(words)
    z = max(0, min(image.samples - 1, words.pop(0))) if geom.endswith("ms") else 0
    layer = max(0, min(image.layers - 1, words.pop(0))) if geom.startswith("a") else 0
    if geom.endswith("cube"):
        face, words = on_cube(words)
        layer, how = 6 * layer + face, {**how, "normalized": True, "modes": ["clamp"] * 3}
    total = [F(0)] * 4
    for level, weight in levels_of(image, how, lod):
        got = sampled(image, how, level, layer, z, words, offset, integers)
        total = [t + weight * c for t, c in zip(total, got)]
    return total


def gathered(image, how, words, geom, component, offset):
    words = list(words)
    layer = max(0, min(image.layers - 1, words.pop(0))) if geom.startswith("a") else 0
    if geom.endswith("cube"):
        face, words = on_cube(words)
        layer, how = 6 * layer + face, {**how, "normalized": True, "modes": ["clamp"] * 3}
    sizes = image.sizes()
    at = [f32(c * sizes[a]) if how["normalized"] else c for a, c in enumerate(words)]
    i, j = [math.floor(f32(c - F(1, 2))) + (offset + [0, 0])[a] for a, c in enumerate(at)]
    corners = [(i, j + 1), (i + 1, j + 1), (i + 1, j), (i, j)]
    return [texel(image, 0, layer, 0, corner, how["modes"], how["border"])[component] for corner in corners]


def shown(x):
    """A number of a lane: decimal, exactly."""
    return repr(float(x)).removesuffix(".0") if isinstance(x, F) else str(x)


def row(name, values):
    return f"  {name} " + " ".join(values)


def spread(lane, salt, count):
    return (lane * 2654435761 + salt * 40503 >> 7) % count


SIZES = {
    "1d": (7,), "a1d": (7,), "2d": (8, 5), "a2d": (8, 5), "3d": (4, 5, 3),
    "cube": (4, 4), "acube": (4, 4), "2dms": (6, 4), "a2dms": (6, 4),
}
FORMATS = {"u32": "u8", "s32": "s16", "f32": "f32", "f16": "f16", "f16x2": "f16"}


def coordinates(lane, geom, size, integers, normalized, n):
    words = []
    if geom.endswith("ms"):
        words.append(spread(lane, 90 + n, 4))
    if geom.startswith("a"):
        words.append(spread(lane, 70 + n, 3 if geom != "acube" else 2))
    if geom.endswith("cube"):
        # On a face, not within half a texel of its edges.
        longest, sign = lane % 3, 1 - 2 * (lane // 3 % 2)
        rest = iter(F(spread(lane, s + n, 23) - 11, 16) for s in (1, 2))
        return words + [F(sign) if axis == longest else next(rest) for axis in range(3)]
    for axis, s in enumerate(size):
        if integers:
            words.append(spread(lane, axis + n, s + 2) - 1)
        else:
            at = F(spread(lane, axis + n, 64 * (s + 2)), 64) - 1
            words.append(f32(at / s) if normalized else at)
    return words


def fetch_vector(opcode, n, how=None, offset=None):
    """A fetch: what is asked for by `opcode` and a texture, for 32 lanes."""
    parts = opcode.split()[0].split(".")
    geom = next(p for p in parts if p in SIZES)
    rest = parts[parts.index(geom) + 1:]
    dtype, ctype = [p for p in rest if p[0] in "usf"]
    integers, gather = ctype == "s32", parts[0] == "tld4"
    mode = parts[1] if parts[1] in ("level", "grad") else "base"
    size = SIZES[geom]
    levels = 2 if mode != "base" else 1
    image = Image(FORMATS[dtype], 4 if n % 3 else 2, size, cube=geom.endswith("cube"),
                  layers=(2 if geom == "acube" else 3) if geom.startswith("a") else 1, levels=levels,
                  samples=4 if geom.endswith("ms") else 1)
    floats = dtype[0] == "f"
    base = {"filter": "linear" if floats and not integers and not gather and n % 2 else "point",
            "normalized": not integers and not geom.endswith("ms"), "address": ["wrap", "mirror", "clamp", "border"][n % 4],
            "mip": "linear" if floats and not integers and n % 5 == 1 else "point", "border": [F(3), F(-2), F(9), F(4)]}
    how = {**base, **(how or {})}
    if not floats:
        how["border"] = [abs(b) for b in how["border"]]
    repeats = how["normalized"] and not integers
    how["modes"] = [how["address"] if repeats or how["address"] in ("clamp", "border") else "clamp"] * 3
    lanes = [coordinates(lane, geom, size, integers, how["normalized"], n) for lane in LANES]
    offset = offset or []
    lines = [opcode, f"  image {image.text()}"]
    texture = [f"filter={how['filter']}", f"address={how['address']}", f"mipFilter={how['mip']}"]
    texture += ["normalized"] if how["normalized"] else []
    # Faces by themselves: texels of the next face are tested in ../sampling.test.ts.
    texture += ["seamless=false"] if geom.endswith("cube") else []
    lines.append("  texture " + " ".join(texture) + " border=" + ",".join(shown(b) for b in how["border"]))
    lods = [F(0)] * 32
    for i in range(len(lanes[0])):
        lines.append(row("c", [shown(lane[i]) for lane in lanes]))
    if mode == "level":
        lods = [F(spread(lane, 5, 9), 4) - F(1, 2) for lane in LANES]
        if integers:
            lods = [F(spread(lane, 5, 4) - 1) for lane in LANES]
        lines.append(row("lod", [shown(int(l) if integers else l) for l in lods]))
    if mode == "grad":
        # Along x: 2^k texels, so that the logarithm is k. Directions of a cube change across their own.
        powers = [spread(lane, 6, 4) - 1 for lane in LANES]
        lods = [F(p) for p in powers]
        count = 3 if geom.endswith("cube") else len(size)
        for name, scale in (("dx", F(1)), ("dy", F(1, 2))):
            for axis in range(count):
                along = lambda lane: (axis == (lane % 3 + 1) % 3) if geom.endswith("cube") else axis == 0
                unit = F(2, size[0]) if geom.endswith("cube") else F(1) if integers else f32(F(1, size[0]))
                lines.append(row(name, [shown(scale * unit * F(2) ** powers[lane] if along(lane) else F(0)) for lane in LANES]))
    if offset:
        lines.append("  e " + " ".join(map(str, offset)))
    if gather:
        component = "rgba".index(parts[1])
        got = [gathered(image, how, lane, geom, component, offset) for lane in lanes]
    else:
        got = [fetched(image, how, lane, geom, integers, lods[l], offset) for l, lane in enumerate(lanes)]
    if dtype in ("u32", "s32"):
        lines += [row("d", [str(int(g[c])) for g in got]) for c in range(4)]
    elif dtype == "f32":
        lines += [row("d", [f"{bits(g[c], 'f'):x}" for g in got]) for c in range(4)]
    elif dtype == "f16":
        lines += [row("d", [f"{bits(g[c], 'e'):x}" for g in got]) for c in range(4)]
    else:
        lines += [row("d", [f"{bits(g[c], 'e') | bits(g[c + 1], 'e') << 16:x}" for g in got]) for c in (0, 2)]
    return lines


def fetches():
    out = ["# Vectors of tex and tld4: see vectors.ts. Written by reference.py."]
    types = ["f32", "u32", "s32", "f16", "f16x2"]
    n = 0
    group = lambda text: out.append(f"\n## {text}")
    for sampler in ("", " sampler"):
        mode = "9.7.10.3 (a, c)" if sampler == "" else "9.7.10.3 (a, b, c)"
        group(f'PTX {mode}; CUDA guide, "Nearest-Point Sampling", "Linear Filtering"')
        for i, geom in enumerate(SIZES):
            dtype = types[i % 5]
            ctype = "s32" if geom.endswith("ms") or (geom.endswith("d") and i % 3 == 1) else "f32"
            if geom.endswith("ms"):
                dtype = ["u32", "f32"][i % 2]
            vec = "v2" if dtype == "f16x2" else "v4"
            base = ".base" if i % 2 and not geom.endswith("ms") else ""
            offset = [1, -2, 1][: len(SIZES[geom])] if i % 4 == 2 and not geom.endswith("cube") else None
            out.extend(fetch_vector(f"tex{base}.{geom}.{vec}.{dtype}.{ctype}{sampler}", n, offset=offset))
            n += 1
        for which in ("level", "grad"):
            group(f'PTX {mode}, `.{which}`; CUDA guide, "Texture Fetching"; levels by log2 of the longer gradient')
            for i, geom in enumerate(list(SIZES)[:7]):
                dtype = types[(i + (which == "grad")) % 5]
                ctype = "s32" if geom.endswith("d") and i % 3 == 1 else "f32"
                vec = "v2" if dtype == "f16x2" else "v4"
                out.extend(fetch_vector(f"tex.{which}.{geom}.{vec}.{dtype}.{ctype}{sampler}", n))
                n += 1
        group('PTX 9.7.10.4: a component of the texels (i, j + 1), (i + 1, j + 1), (i + 1, j), (i, j)')
        for i, geom in enumerate(("2d", "a2d", "cube", "acube")):
            dtype = ["u32", "f32", "s32", "f32"][i]
            offset = [2, -1] if i == 1 else None
            out.extend(fetch_vector(f"tld4.{'rgba'[i]}.{geom}.v4.{dtype}.f32{sampler}", n, offset=offset))
            n += 1
    group('CUDA guide, "Linear Filtering": each way of addressing, normalized and not')
    for i, geom in enumerate(("1d", "2d", "3d", "a1d", "a2d")):
        for address_mode in ("wrap", "mirror", "clamp", "border"):
            how = {"filter": "linear", "address": address_mode, "normalized": address_mode in ("wrap", "mirror") or i % 2 == 0}
            out.extend(fetch_vector(f"tex.{geom}.v4.f32.f32", n, how))
            n += 1
    return out


# ---- surfaces

SURFACES = {"1d": (40,), "2d": (8, 5), "3d": (4, 5, 2), "a1d": (14,), "a2d": (4, 5)}


def stored_bytes(image, count):
    """The bytes of an image of 32-bit channels of so many bytes."""
    return bytearray((37 * n + 11) % 251 for n in range(count))


def place(image, lane_words, geom, bounds, unit, bytes_, formatted):
    """The byte of an element, or None: `unit` bytes a texel."""
    words = list(lane_words)
    layer = words.pop(0) if geom.startswith("a") else 0
    x, y, z = (words + [0, 0])[:3]
    w, h, d = image.sizes()
    most = [w - 1 if formatted else w * unit - bytes_, h - 1, d - 1, image.layers - 1]
    at = [x, y, z, layer]
    inside = all(0 <= a <= m for a, m in zip(at, most))
    if not inside and bounds == "zero":
        return None
    assert inside or bounds == "clamp"
    x, y, z, layer = [max(0, min(m, a)) for a, m in zip(at, most)]
    return ((layer * d + z) * h + y) * w * unit + x * (unit if formatted else 1)


def surface_places(geom, bounds, step, unit, n, distinct):
    """Coordinates of 32 lanes: each texel at most once where `distinct`."""
    size = list(SURFACES[geom]) + [1, 1]
    layers = 3 if geom.startswith("a") else 1
    reach = 0 if bounds != "zero" else 1
    lanes = []
    for lane in LANES:
        if distinct:
            number = (lane * 7 + n) % 40
            x, number = number % size[0], number // size[0]
            y, number = number % size[1], number // size[1]
            z = number
            if bounds == "zero" and lane % 5 == 0:
                x += size[0]
        else:
            beyond = 0 if bounds == "trap" else 1
            x, y, z = [spread(lane, n + a, s + 2 * beyond) - beyond for a, s in enumerate(size[:3])]
        axes = int(geom[-2])
        layer = z % layers if geom == "a2d" else (y % layers if geom == "a1d" else 0)
        words = [x * step, y, z][:axes]
        lanes.append(([layer] if geom.startswith("a") else []) + words)
    return lanes


def surface_vector(opcode, n):
    parts = opcode.split(".")
    name, form = parts[0], parts[1]
    geom = next(p for p in parts if p in SURFACES)
    bounds, kind = parts[-1], parts[-2]
    count = next((int(p[1]) for p in parts if p in ("v2", "v4")), 1)
    element = int(kind[1:]) // 8
    formatted = form == "p"
    signed = kind[0] == "s" or (formatted and name == "sured" and n % 2 == 1)
    if name == "sured":
        channels, sort = (2 if element == 8 else 1), ("s32" if signed else "u32")
    else:
        channels, sort = 4, ("unorm8" if formatted else "u32")
    image = Image("u32", channels, SURFACES[geom], layers=3 if geom.startswith("a") else 1)
    unit = channels * (1 if sort == "unorm8" else 4)
    w, h, d = image.sizes()
    memory = stored_bytes(image, w * h * d * image.layers * unit)
    bytes_ = count * element
    step = 1 if formatted else unit if name == "sust" else bytes_
    lanes = surface_places(geom, bounds, step, unit, n, name == "sust")
    words = image.text().replace(f"u32x{channels}", f"{sort}x{channels}")
    lines = [opcode, f"  image {words}"]
    lines += [row("c", [str(lane[i]) for lane in lanes]) for i in range(len(lanes[0]))]
    at = [place(image, lane, geom, bounds, unit, bytes_, formatted) for lane in lanes]
    if name == "suld":
        take = lambda a, i: 0 if a is None else int.from_bytes(memory[a + i * element:a + (i + 1) * element], "little")
        return lines + [row("d", [f"{take(a, i):x}" for a in at]) for i in range(count)]
    if name == "sust":
        values = []
        for i in range(count):
            given = [spread(lane, 11 * i + n, 256) for lane in LANES]
            if formatted:
                lines.append(row("v", [f"{bits(F(g, 255), 'f'):x}" for g in given]))
            else:
                given = [(g * 0x0123456789abcdf1 + lane) % (1 << 8 * element) for lane, g in enumerate(given)]
                lines.append(row("v", [f"{g:x}" for g in given]))
            values.append(given)
        for lane, a in enumerate(at):
            if a is None:
                continue
            if formatted:
                # Channels that are not given are 0.
                memory[a:a + 4] = bytes([values[c][lane] if c < count else 0 for c in range(4)])
            else:
                for i in range(count):
                    memory[a + i * element:a + (i + 1) * element] = values[i][lane].to_bytes(element, "little")
        return lines + [f"  after {memory.hex()}"]
    given = [(spread(lane, n, 1 << 20) * 0x0f1e2d3c4b5a6978 + lane) % (1 << 8 * element) for lane in LANES]
    lines.append(row("v", [f"{g:x}" for g in given]))
    typed = lambda g: g - (1 << 8 * element) if signed and g >> 8 * element - 1 else g
    do = {"add": lambda a, b: a + b, "min": min, "max": max, "and": lambda a, b: a & b, "or": lambda a, b: a | b}
    for lane, a in enumerate(at):
        if a is None:
            continue
        old = int.from_bytes(memory[a:a + element], "little")
        new = do[parts[2]](typed(old), typed(given[lane])) % (1 << 8 * element)
        memory[a:a + element] = new.to_bytes(element, "little")
    return lines + [f"  after {memory.hex()}"]


def surfaces():
    out = ["# Vectors of suld, sust, sured: see vectors.ts. Written by reference.py."]
    geoms, bounds, sizes = list(SURFACES), ["trap", "clamp", "zero"], [8, 16, 32, 64]
    group = lambda text: out.append(f"\n## {text}")
    n = 0
    for name, cops in (("suld", ["", ".ca", ".cg", ".cs", ".cv"]), ("sust", ["", ".wb", ".cg", ".cs", ".wt"])):
        group(f"PTX 9.7.11.{1 if name == 'suld' else 2}: elements at bytes of rows; outside: .clamp, .zero")
        for i in range(12):
            bits_ = sizes[i % 4]
            vec = ["", ".v2", ".v4"][(i + i // 4) % 3]
            if vec == ".v4" and bits_ == 64:
                vec = ".v2"
            bound = bounds[(i + i // 5) % 3] if name == "suld" else bounds[i % 3 if i % 3 != 1 else 0] if i % 6 else "clamp"
            out.extend(surface_vector(f"{name}.b.{geoms[i % 5]}{cops[i % 5]}{vec}.b{bits_}.{bound}", n))
            n += 1
    group("PTX 9.7.11.2, `.p`: fractions of 8 bits, to the nearest")
    for i in range(6):
        out.extend(surface_vector(f"sust.p.{geoms[i % 3]}{['', '.v2', '.v4'][(i + i // 3) % 3]}.b32.{bounds[(0, 2, 1)[i % 3]]}", n))
        n += 1
    group("PTX 9.7.11.3: operations on elements, in any order")
    pairs = [("add", "u32"), ("add", "u64"), ("add", "s32"), ("min", "u32"), ("min", "s32"), ("max", "s64"),
             ("max", "u64"), ("and", "b32"), ("or", "b32"), ("min", "u64"), ("max", "s32")]
    for i, (op, kind) in enumerate(pairs):
        out.extend(surface_vector(f"sured.b.{op}.{geoms[i % 3]}.{kind}.{bounds[i // 3 % 3]}", n))
        n += 1
    group("PTX 9.7.11.3, `.p`: the type is that of the surface's channels")
    for i, (op, kind) in enumerate([("add", "b32"), ("min", "b32"), ("max", "b32"), ("and", "b32"), ("or", "b32"),
                                    ("min", "b64"), ("max", "b64"), ("max", "b32")]):
        out.extend(surface_vector(f"sured.p.{op}.{geoms[i % 3]}.{kind}.{bounds[i // 3 % 3]}", n))
        n += 1
    return out


# ---- queries

DATA_TYPES = {  # OpenCL's cl_channel_type
    "snorm8": 0x10D0, "snorm16": 0x10D1, "unorm8": 0x10D2, "unorm16": 0x10D3, "s8": 0x10D7, "s16": 0x10D8,
    "s32": 0x10D9, "u8": 0x10DA, "u16": 0x10DB, "u32": 0x10DC, "f16": 0x10DD, "f32": 0x10DE,
}
ORDERS = {1: 0x10B0, 2: 0x10B2, 4: 0x10B5}  # OpenCL's cl_channel_order: R, RG, RGBA
ADDRESS_MODES = {"wrap": 0, "mirror": 1, "clamp": 3, "border": 4}  # PTX 5.3, .samplerref: clamp_to_edge, clamp_to_border


def query_vector(opcode, kind, image, texture, answers):
    lines = [opcode, f"  image {image}", f"  texture {texture}", f"  kind {kind}"]
    if opcode.startswith("txq.level"):
        lines.append(row("lod", [str(lane % 3) for lane in LANES]))
    return lines + [row("d", [str(answers(lane)) for lane in LANES])]


def queries():
    out = ["# Vectors of txq, suq, istypep: see vectors.ts. Written by reference.py."]
    group = lambda text: out.append(f"\n## {text}")
    sampled_as = "normalized address=mirror filter=linear"
    group("PTX 9.7.10.5; numbers of OpenCL's cl_channel_type and cl_channel_order")
    volume = "f32x2 40x20x10 levels=3"
    for what, answer in (("width", 40), ("height", 20), ("depth", 10), ("channel_data_type", DATA_TYPES["f32"]),
                         ("channel_order", ORDERS[2]), ("normalized_coords", 1), ("num_mipmap_levels", 3)):
        out.extend(query_vector(f"txq.{what}.b32", "texture", volume, sampled_as, lambda lane: answer))
    out.extend(query_vector("txq.array_size.b32", "texture", "u8x1 12x9 layers=7", "filter=point", lambda lane: 7))
    out.extend(query_vector("txq.num_samples.b32", "texture", "u8x1 12x9 samples=8", "filter=point", lambda lane: 8))
    for what, size in (("width", 40), ("height", 20), ("depth", 10)):
        out.extend(query_vector(f"txq.level.{what}.b32", "texture", volume, sampled_as, lambda lane: size >> lane % 3))
    for what, kind, answer in (("force_unnormalized_coords", "sampler", 0), ("filter_mode", "sampler", 1),
                               ("addr_mode_0", "texture", ADDRESS_MODES["mirror"]),
                               ("addr_mode_1", "sampler", ADDRESS_MODES["mirror"]),
                               ("addr_mode_2", "texture", ADDRESS_MODES["mirror"])):
        out.extend(query_vector(f"txq.{what}.b32", kind, volume, sampled_as, lambda lane: answer))
    for mode, answer in ADDRESS_MODES.items():
        out.extend(query_vector("txq.addr_mode_0.b32", "texture", volume, f"normalized address={mode}", lambda lane: answer))
    for sort, answer in DATA_TYPES.items():
        out.extend(query_vector("txq.channel_data_type.b32", "texture", f"{sort}x4 8", "filter=point", lambda lane: answer))
    group("PTX 9.7.11.4")
    for what, answer in (("width", 12), ("height", 9), ("channel_data_type", DATA_TYPES["s16"]),
                         ("channel_order", ORDERS[4]), ("array_size", 7), ("memory_layout", 0)):
        out.extend(query_vector(f"suq.{what}.b32", "surface", "s16x4 12x9 layers=7", "filter=point", lambda lane: answer))
    out.extend(query_vector("suq.depth.b32", "surface", "s16x4 12x9x5", "filter=point", lambda lane: 5))
    group("PTX 9.7.10.6")
    for kind, of in (("texref", "texture"), ("samplerref", "sampler"), ("surfref", "surface")):
        for given in ("texture", "sampler", "surface"):
            is_it = int(given == of)
            out.extend(query_vector(f"istypep.{kind}", given, "s16x4 12x9", "filter=point", lambda lane: is_it))
    return out


def write(file, made):
    with open(os.path.join(HERE, file), "w", encoding="utf-8") as target:
        target.write("\n".join(made) + "\n")


if __name__ == "__main__":
    write("fetch.image-vectors", fetches())
    write("surface.image-vectors", surfaces())
    write("query.image-vectors", queries())
