#!/usr/bin/env python3
"""
Writes images.visa-vectors: python3 visa_reference.py. Messages of vISA to samplers and typed surfaces, by the images and
the arithmetic of reference.py. The order of parameters is that of the pages 3D_SAMPLE, 3D_LOAD, 3D_SAMPLE4 of IGC's
documentation (with the least level at the end); what lies in which bits of packed ones is as IGC's pass that makes
them has it: offsets of four bits (of gathers six), floats without their low 12 bits.
"""
from fractions import Fraction as F
import math

from reference import Image, bits, f32, gathered, levels_of, row, sampled, spread, write

LANES = range(16)
W, H = 16, 8

SAMPLES = {
    "sample_3d": "u v r ai", "sample_b": "bias u v r", "sample_l": "lod u v r ai", "sample_c": "ref u v r",
    "sample_d": "u dudx dudy v dvdx dvdy r", "sample_b_c": "ref bias u v r", "sample_l_c": "ref lod u v r",
    "sample_c_mlod": "mlod ref u v r", "sample_d_c": "ref u dudx dudy v dvdx dvdy r", "sample_lz": "u v r",
    "sample_c_lz": "ref u v r", "sample": "u v r",
}
# From Xe2 on.
PACKED = {
    "sample_d_c_mlod": "ref u dudx dudy v dvdx dvdy mlod_r", "sample_mlod": "mlod u v r", "sample_po": "u v r offuvr",
    "sample_po_b": "biasoffuvr u v r", "sample_po_l": "lodoffuvr u v r", "sample_po_c": "ref u v offuv_r",
    "sample_po_d": "u dudx dudy v dvdx dvdy offuvr_r", "sample_po_l_c": "ref lodoffuv u v r",
    "sample_po_lz": "u v r offuvr", "sample_po_c_lz": "ref u v offuv_r", "sample_po_b_c": "ref biasoffuvr u v r",
    "sample_po_d_c": "ref u dudx dudy v dvdx dvdy offuv_r",
}
LOADS = {
    "load_3d": "u v lod r", "load_lz": "u v r", "load_l": "u v r lod", "load_2dms_w": "si none none u v r lod",
    "load": "u v r", "load_mcs": "u v r",
}
GATHERS = {
    "sample4": "u v r", "sample4_l": "lod u v r", "sample4_b": "bias u v r", "sample4_i": "u v r", "sample4_c": "ref u v r",
    "sample4_po": "u v offu offv r", "sample4_po_c": "ref u v offu offv r", "sample4_i_c": "ref u v r",
    "sample4_l_c": "ref lod u v r",
}
PACKED_GATHERS = {
    "sample4_po_l": "gather_lodoffuv u v r", "sample4_po_b": "gather_biasoffuv u v r", "sample4_po_i": "u v r gather_offuv",
    "sample4_po_i_c": "ref u v gather_offuv_r", "sample4_po_l_c": "ref gather_lodoffuv u v r",
}


class Lane:
    """What a lane asks for: in texels of the base level, or as whole numbers for loads."""

    def __init__(self, lane, n, arrayed):
        self.u = F(spread(lane, n, 64 * (W + 2)), 64) - 1
        self.v = F(spread(lane, n + 1, 64 * (H + 2)), 64) - 1
        self.i, self.j = spread(lane, n + 2, W + 2) - 1, spread(lane, n + 3, H + 2) - 1
        self.layer = spread(lane, n + 4, 3) if arrayed else 0
        self.lod = F(spread(lane, n + 5, 5), 4)
        self.level = spread(lane, n + 5, 2)
        self.ref = F(spread(lane, n + 6, 250) - 125)
        self.off = [spread(lane, n + 7, 5) - 2, spread(lane, n + 8, 5) - 2]
        self.sample = spread(lane, n + 9, 4)
        self.power = spread(lane, n + 10, 3) - 1


def word(name, lane, load):
    """The doubleword of a parameter."""
    single = lambda x: bits(f32(x), "f")
    packed = lambda width, first: sum((o & (1 << width) - 1) << first + width * i for i, o in enumerate(lane.off))
    short = lambda x: single(x) & ~0xFFF
    step = F(2) ** lane.power
    values = {
        "u": lane.i if load else single(lane.u / W), "v": lane.j if load else single(lane.v / H),
        "r": lane.layer if load else single(F(lane.layer)), "ai": 0, "none": 0, "si": lane.sample,
        "lod": lane.level if load else single(lane.lod), "bias": single(lane.lod), "mlod": single(lane.lod),
        "ref": single(lane.ref), "dudx": single(step / W), "dvdy": single(step / 2 / H), "dudy": 0, "dvdx": 0,
        "offu": lane.off[0] & 0xFFFFFFFF, "offv": lane.off[1] & 0xFFFFFFFF,
        "offuvr": packed(4, 0), "lodoffuvr": short(lane.lod) | packed(4, 0), "lodoffuv": short(lane.lod) | packed(4, 0),
        "biasoffuvr": short(lane.lod) | packed(4, 0), "offuv_r": lane.layer | packed(4, 12),
        "offuvr_r": lane.layer | packed(4, 12), "gather_offuv": packed(6, 0),
        "gather_lodoffuv": short(lane.lod) | packed(6, 0), "gather_biasoffuv": short(lane.lod) | packed(6, 0),
        "gather_offuv_r": lane.layer | packed(6, 12), "mlod_r": short(lane.lod) | lane.layer,
    }
    return values[name]


def lod_of(names, lane):
    """The level for which parameters ask; without neighbours it is the base level, to which a bias is added."""
    if any(name.startswith(("lod", "gather_lod", "bias", "gather_bias")) for name in names):
        return lane.lod
    if "dudx" in names:
        return max(F(lane.power), lane.lod) if any(n.startswith("mlod") for n in names) else F(lane.power)
    return lane.lod if any(name.startswith("mlod") for name in names) else F(0)


def compared(image, lane):
    """The image of what comparing depths gives."""
    other = Image(image.kind, image.channels, image.size, layers=image.layers, levels=image.levels)
    for at, channels in image.texels.items():
        other.texels[at] = [1 if lane.ref <= channels[0] else 0] * 4
    return other


def head(line, platform, image, sampler, parameters):
    lines = [line, f"  platform {platform}", f"  image {image.text()}", f"  texture {sampler}"]
    return lines + [row("p", [f"{w:x}" for w in words]) for words in parameters]


def operands(names):
    return " ".join(f"A{i}.0" for i in range(len(names)))


def sampling(message, listed, platform, n, gather):
    names = listed.split()
    refs = "ref" in names
    layered = "r" in names or any(name.endswith("_r") for name in names)
    image = Image("f32", 1 if refs or gather else 2 + 2 * (n % 2), (W, H), layers=3 if layered and n % 3 else 1, levels=2)
    linear = n % 2 == 0 and not gather
    address = ["clamp", "wrap", "mirror"][n % 3]
    how = {"filter": "linear" if linear else "point", "normalized": True, "modes": [address] * 3, "mip": "point", "border": None}
    sampler = f"normalized address={address} filter={how['filter']} mipFilter=point"
    lanes = [Lane(lane, n, image.layers > 1) for lane in LANES]
    offset = lambda lane: lane.off if any("off" in name for name in names) else []
    results = []
    component = n % 4 if gather and not refs and image.channels > n % 4 else 0
    for lane in lanes:
        source = compared(image, lane) if refs else image
        [(level, _)] = levels_of(image, how, lod_of(names, lane))
        at = [f32(lane.u / W), f32(lane.v / H)]
        layer = max(0, min(image.layers - 1, lane.layer))
        if gather:
            one = Image(image.kind, image.channels, image.sizes(level)[:2])
            one.texels = {(0, 0) + key[2:]: value for key, value in source.texels.items() if key[:2] == (level, layer)}
            results.append(gathered(one, how, at, "2d", component, offset(lane)))
        else:
            results.append(sampled(source, how, level, layer, 0, at, offset(lane), False))
    params = [[word(name, lane, False) for lane in lanes] for name in names]
    if message == "sample":
        line = f"sample.RGBA (16) S0 T6 {operands(names)} R.0"
    else:
        line = f"{message}.{'RGBA'[component] if gather else 'RGBA'} (M1, 16) 0x0:uw S0 T6 R.0 {operands(names)}"
    out = head(line, platform, image, sampler, params)
    return out + [row("d", [f"{bits(r[c], 'f'):x}" for r in results]) for c in range(4)]


def loading(message, listed, platform, n):
    names = listed.split()
    many = message == "load_2dms_w"
    layered = n % 2 == 1 and not many
    image = Image("u16", 4, (W, H), layers=3 if layered else 1, levels=1 if many else 2, samples=4 if many else 1)
    lanes = [Lane(lane, n, layered) for lane in LANES]
    results = []
    for lane in lanes:
        level = lane.level if "lod" in names and not many else 0
        w, h, _ = image.sizes(level)
        inside = 0 <= lane.i < w and 0 <= lane.j < h
        z = lane.sample if many else 0
        results.append(image.texels[level, lane.layer, z, lane.j, lane.i] if inside and message != "load_mcs" else [0] * 4)
        lane.level = level
    params = [[word(name, lane, True) & 0xFFFFFFFF for lane in lanes] for name in names]
    if message == "load":
        line = f"load.RGBA (16) T6 {operands(names)} R.0"
    else:
        line = f"{message}.RGBA (M1, 16) 0x0:uw T6 R.0 {operands(names)}"
    out = head(line, platform, image, "filter=point", params)
    return out + [row("d", [f"{r[c]:x}" for r in results]) for c in range(4)]


def flat(image):
    """The channels of an image in the order of memory."""
    return [c for channels in image.texels.values() for c in channels]


def signed(x):
    return x - (1 << 32) if x >> 31 else x


INTEGERS = {
    "add": lambda o, a, b: o + a, "sub": lambda o, a, b: o - a, "inc": lambda o, a, b: o + 1, "dec": lambda o, a, b: o - 1,
    "min": lambda o, a, b: min(o, a), "max": lambda o, a, b: max(o, a), "xchg": lambda o, a, b: a,
    "cmpxchg": lambda o, a, b: a if o == b else o, "and": lambda o, a, b: o & a, "or": lambda o, a, b: o | a,
    "xor": lambda o, a, b: o ^ a, "minsint": lambda o, a, b: min(signed(o), signed(a)),
    "maxsint": lambda o, a, b: max(signed(o), signed(a)), "predec": lambda o, a, b: o - 1, "load": lambda o, a, b: o,
}
FLOATS = {
    "fmax": lambda o, a, b: max(o, a), "fmin": lambda o, a, b: min(o, a), "fcmpwr": lambda o, a, b: a if o == b else o,
    "fadd": lambda o, a, b: o + a, "fsub": lambda o, a, b: o - a,
}
LSC = {
    "iadd": "add", "isub": "sub", "iinc": "inc", "idec": "dec", "smin": "minsint", "smax": "maxsint", "umin": "min",
    "umax": "max", "icas": "cmpxchg", "and": "and", "or": "or", "xor": "xor", "load": "load", "store": "xchg",
    "fadd": "fadd", "fsub": "fsub", "fmin": "fmin", "fmax": "fmax", "fcas": "fcmpwr",
}


def atomic(line, op, n, platform):
    """An operation of lanes on texels of their own, some of which are outside."""
    is_float = op in FLOATS
    image = Image("f32" if is_float else "u32", 1, (W, H))
    texels = flat(image)
    u = [(lane * 5 + n) % (W + 1) for lane in LANES]
    v = [lane * 3 % H for lane in LANES]
    first = [spread(lane, n, 250) - 125 for lane in LANES]
    second = []
    for lane in LANES:
        old = texels[v[lane] * W + u[lane]] if u[lane] < W else 0
        second.append(old if lane % 2 else old + 1)
    # "VCMP VIFEQ" is the order of the page LSC_UNTYPED; that of typed_atomic is the other way round.
    swapped = line.startswith("lsc") and op in ("cmpxchg", "fcmpwr")
    code = (lambda x: bits(F(x), "f")) if is_float else (lambda x: x & 0xFFFFFFFF)
    results = []
    do = (FLOATS if is_float else INTEGERS)[op]
    for lane in LANES:
        if u[lane] >= W:
            results.append(0)
            continue
        at = v[lane] * W + u[lane]
        old = texels[at]
        given = first[lane] if is_float else first[lane] & 0xFFFFFFFF
        new = do(old, given, second[lane])
        texels[at] = new if is_float else new & 0xFFFFFFFF
        results.append(code(new if op == "predec" else old))
    sources = [[code(x) for x in second], [code(x) for x in first]] if swapped else [[code(x) for x in first], [code(x) for x in second]]
    params = [u, v] + sources
    out = head(line, platform, image, "filter=point", params)
    return out + [row("d", [f"{r:x}" for r in results]), row("t", [str(t) for t in texels])]


def typed_access(n):
    out = []
    image = Image("u16", 4, (W, H), layers=3)
    lanes = [(spread(lane, n, W + 1), (lane * 3 + n) % H, lane % 3) for lane in LANES]
    at = lambda lane: None if lane[0] >= W else image.texels[0, lane[2], 0, lane[1], lane[0]]
    place = [[lane[i] for lane in lanes] for i in range(3)] + [[0] * 16]
    got = [at(lane) or [0] * 4 for lane in lanes]
    rows = [row("d", [f"{g[c]:x}" for g in got]) for c in range(4)]
    out += head("gather4_typed.RGBA (M1, 16) T6 A0.0 A1.0 A2.0 A3.0 R.0", "dg2", image, "filter=point", place) + rows
    out += head("lsc_load_quad.tgm (M1, 16) R:d32.xyzw bti(0x0)[A0,A1,A2,A3]:a32", "bmg", image, "filter=point", place) + rows
    for line, platform in (("scatter4_typed.RA (M1, 16) T6 A0.0 A1.0 A2.0 A3.0 A4.0", "dg2"),
                           ("lsc_store_quad.tgm (M1, 16) bti(0x0)[A0,A1,A2,A3]:a32 A4:d32.xw", "bmg")):
        changed = Image("u16", 4, (W, H), layers=3)
        given = [[spread(lane, n + c, 1 << 16) for lane in LANES] for c in range(2)]
        for number, lane in enumerate(lanes):
            if lane[0] < W:
                texel = changed.texels[0, lane[2], 0, lane[1], lane[0]]
                texel[0], texel[3] = given[0][number], given[1][number]
        out += head(line, platform, image, "filter=point", place + given) + [row("t", map(str, flat(changed)))]
    many = Image("u32", 1, (W, H), samples=4)
    words = [[(lane * 5 + 1) % W for lane in LANES], [lane % H for lane in LANES], [0] * 16, [lane % 4 for lane in LANES]]
    key = lambda lane: (0, 0, words[3][lane], words[1][lane], words[0][lane])
    loaded = [many.texels[key(lane)][0] for lane in LANES]
    address = "bti(0x0)[A0,A1,A2,A3]:a32"
    # All of an image is resident: a doubleword for each lane, as IGC's pass that sends the message has it.
    out += head("lsc_load_quad_status.tgm (M1, 16) R:d32.x bti(0x0)[A0,A1]:a32", "bmg", image, "filter=point", place[:2])
    out.append(row("d", ["1"] * 16))
    out += head(f"lsc_load_quad_msrt.tgm (M1, 16) R:d32.x {address}", "bmg", many, "filter=point", words)
    out.append(row("d", [f"{x:x}" for x in loaded]))
    given = [spread(lane, 3, 1 << 20) for lane in LANES]
    for lane in LANES:
        many.texels[key(lane)] = [given[lane]]
    out += head(f"lsc_store_quad_msrt.tgm (M1, 16) {address} A4:d32.x", "bmg", many, "filter=point", words + [given])
    out.append(row("t", map(str, flat(many))))
    return out


def unorm_block(channels, form, place, n):
    """8 by 4 pixels, channel by channel, as tests of Intel's (cassian, cm_sample32_2d) have them: 8 bits are the upper ones."""
    image = Image("unorm8", 4, (W, H))
    (u, v), (du, dv) = place, (1, 2)
    clamp = lambda i, size: max(0, min(size - 1, i))
    pixels = [image.texels[0, 0, 0, clamp(v + y * dv, H), clamp(u + x * du, W)]["RGBA".index(c)] << 8
              for c in channels for y in range(4) for x in range(8)]
    dwords = [pixels[2 * i] | pixels[2 * i + 1] << 16 for i in range(len(pixels) // 2)]
    given = [[bits(F(x), "f") for x in (F(u, W), F(v, H), F(du, W), F(dv, H))] + [0] * 12]
    operands = " ".join(f"AF(0,{i})<0;1,0>" for i in range(4))
    out = head(f"sample_unorm.{channels}.{form} S0 T6 {operands} RW.0", "dg2", image, "normalized address=clamp filter=point", given)
    return out + [row("d", [f"{w:x}" for w in dwords[16 * i:16 * i + 16]]) for i in range(len(channels))]


def information():
    image = Image("f32", 2, (W, H), layers=3, levels=3)
    levels = [lane % 3 for lane in LANES]
    out = head("resinfo.RGBA (M1, 16) T6 A0.0 R.0", "dg2", image, "filter=point", [levels])
    sizes = [image.sizes(level)[:2] + (image.layers, image.levels) for level in levels]
    out += [row("d", [f"{s[c]:x}" for s in sizes]) for c in range(4)]
    many = Image("f32", 1, (W, H), samples=8)
    return out + head("sampleinfo.R (M1, 16) T6 R.0", "dg2", many, "filter=point", []) + [row("d", ["8"] * 16)]


def blocks():
    """Blocks of 16 by 4 bytes: at edges media blocks repeat them, typed 2D blocks have zeros."""
    out = []
    image = Image("u8", 1, (24, 6))
    texels = flat(image)
    inside = lambda i, size: max(0, min(size - 1, i))
    for line, platform, edge in (("media_ld.nomod (16,4) T6 0 A0(0,0)<0;1,0> A0(0,1)<0;1,0> R.0", "dg2", True), ("lsc_load_block2d.tgm R:16x4 bti(0x0)[A0(0,0),A0(0,1)]", "bmg", False)):
        for x, y in ((3, 1), (12, 4)):
            rows = []
            for j in range(4):
                for i in range(16):
                    u, v = inside(x + i, 24), inside(y + j, 6)
                    rows.append(texels[v * 24 + u] if edge or (u, v) == (x + i, y + j) else 0)
            words = [int.from_bytes(bytes(rows[4 * k:4 * k + 4]), "little") for k in range(16)]
            at = [[x, y] + [0] * 14]
            out += head(line, platform, image, "filter=point", at)
            out.append(row("d", [f"{w:x}" for w in words]))
    given = [spread(lane, 5, 1 << 30) for lane in LANES]
    stored = b"".join(w.to_bytes(4, "little") for w in given)
    for line, platform in (("media_st.nomod (16,4) T6 0 A0(0,0)<0;1,0> A0(0,1)<0;1,0> A1.0", "dg2"), ("lsc_store_block2d.tgm bti(0x0)[A0(0,0),A0(0,1)] A1:16x4", "bmg")):
        for x, y in ((4, 1), (12, 4)):
            changed = list(texels)
            for j in range(4):
                for i in range(16):
                    if x + i < 24 and y + j < 6:
                        changed[(y + j) * 24 + x + i] = stored[16 * j + i]
            out += head(line, platform, image, "filter=point", [[x, y] + [0] * 14, given])
            out.append(row("t", map(str, changed)))
    return out


def main():
    out = ["# Vectors of vISA's samplers and typed surfaces: see visa-vectors.ts. Written by visa_reference.py."]
    n = 0
    group = lambda text: out.append(f"\n## {text}")
    group('3D_SAMPLE; CUDA guide, "Linear Filtering"; depths are compared before they are filtered')
    for listed, platform in ((SAMPLES, "dg2"), (PACKED, "bmg")):
        for message, names in listed.items():
            for _ in range(2):
                out.extend(sampling(message, names, platform, n, False))
                n += 1
    group("3D_SAMPLE4: (i, j + 1), (i + 1, j + 1), (i + 1, j), (i, j)")
    for listed, platform in ((GATHERS, "dg2"), (PACKED_GATHERS, "bmg")):
        for message, names in listed.items():
            out.extend(sampling(message, names, platform, n, True))
            n += 1
    group("3D_LOAD: zeros outside")
    for message, names in LOADS.items():
        for _ in range(1 if message in ("load_mcs", "load_2dms_w") else 2):
            out.extend(loading(message, names, "dg2", n))
            n += 1
    group("SAMPLE_UNORM; the order of pixels is that of intel/cassian, cm_sampler")
    for i, (channels, form) in enumerate((("R", "16-full"), ("RGBA", "8-full"), ("GA", "16-downsampled"), ("RGB", "8-downsampled"))):
        out.extend(unorm_block(channels, form, [(0, 0), (3, 1), (7, 2), (12, 5)][i], n))
    group("INFO")
    out.extend(information())
    group("GATHER4_TYPED, SCATTER4_TYPED, LSC_TYPED: zeros outside, where nothing is stored")
    out.extend(typed_access(n))
    group("TYPED_ATOMIC")
    for op in {**{k: v for k, v in INTEGERS.items() if k != "load"}}:
        sources = "%null.0 %null.0" if op in ("inc", "dec", "predec") else "A2.0 A3.0" if op == "cmpxchg" else "A2.0 %null.0"
        out.extend(atomic(f"typed_atomic.{op} (M1, 16) T6 A0.0 A1.0 %null.0 %null.0 {sources} R.0", op, n, "dg2"))
        n += 1
    group("LSC_TYPED, atomic operations")
    for name, op in LSC.items():
        both = "%null %null" if op in ("inc", "dec", "load") else "A2 A3" if op in ("cmpxchg", "fcmpwr") else "A2 %null"
        out.extend(atomic(f"lsc_atomic_{name}.tgm (M1, 16) R:d32 bti(0x0)[A0,A1]:a32 {both}", op, n, "dg2"))
        n += 1
    group("MEDIA_LD, MEDIA_ST, LSC_TYPED, blocks")
    out.extend(blocks())
    write("images.visa-vectors", out)


if __name__ == "__main__":
    main()
