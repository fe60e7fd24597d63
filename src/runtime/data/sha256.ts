/**
 * The first 32 bits of the fractional part of the `root`-th root of each of the first `count` primes (FIPS 180-4,
 * section 4.2.2). A double has 15 bits to spare for that.
 */
function rootsOfPrimes(count: number, root: (x: number) => number): Uint32Array {
  const bits = new Uint32Array(count);
  for (let n = 2, found = 0; found < count; n++) {
    let prime = true;
    for (let d = 2; d * d <= n && prime; d++) prime = n % d !== 0;
    if (prime) bits[found++] = Math.floor((root(n) % 1) * 2 ** 32);
  }
  return bits;
}

let roundConstants: Uint32Array | null = null;

const rotate = (x: number, n: number): number => (x >>> n) | (x << (32 - n));

function compress(state: Uint32Array, w: Uint32Array, k: Uint32Array): void {
  for (let i = 16; i < 64; i++) {
    const x = w[i - 15]!;
    const y = w[i - 2]!;
    const s0 = rotate(x, 7) ^ rotate(x, 18) ^ (x >>> 3);
    const s1 = rotate(y, 17) ^ rotate(y, 19) ^ (y >>> 10);
    w[i] = w[i - 16]! + s0 + w[i - 7]! + s1;
  }
  let a = state[0]!;
  let b = state[1]!;
  let c = state[2]!;
  let d = state[3]!;
  let e = state[4]!;
  let f = state[5]!;
  let g = state[6]!;
  let h = state[7]!;
  for (let i = 0; i < 64; i++) {
    const s1 = rotate(e, 6) ^ rotate(e, 11) ^ rotate(e, 25);
    const t1 = (h + s1 + ((e & f) ^ (~e & g)) + k[i]! + w[i]!) | 0;
    const s0 = rotate(a, 2) ^ rotate(a, 13) ^ rotate(a, 22);
    const t2 = (s0 + ((a & b) ^ (a & c) ^ (b & c))) | 0;
    h = g;
    g = f;
    f = e;
    e = (d + t1) | 0;
    d = c;
    c = b;
    b = a;
    a = (t1 + t2) | 0;
  }
  [a, b, c, d, e, f, g, h].forEach((word, i) => {
    state[i] = state[i]! + word;
  });
}

/** The part of Node's `crypto` that hashes. */
interface NodeCrypto {
  createHash(name: "sha256"): { update(bytes: Uint8Array): { digest(form: "hex"): string } };
}

/** Bytes from which on it pays to ask Node, whose module may have to be loaded first. */
const manyBytes = 4096;

/** Null where the host is not Node, or has it built without `crypto`. */
function nodeCrypto(): NodeCrypto | null {
  const { process } = globalThis as {
    process?: { getBuiltinModule?: (name: string) => NodeCrypto | undefined };
  };
  try {
    return process?.getBuiltinModule?.("node:crypto") ?? null;
  } catch {
    return null;
  }
}

/**
 * SHA-256 (FIPS 180-4) as lower-case hexadecimal digits. Web Crypto offers it only asynchronously, which would make
 * everything that uses jobs asynchronous. Node computes it itself: the first bytes that a process hashes here would
 * take many times as long, as V8 has not optimized this code yet.
 */
export function sha256(bytes: Uint8Array): string {
  const crypto = bytes.length >= manyBytes ? nodeCrypto() : null;
  return crypto?.createHash("sha256").update(bytes).digest("hex") ?? sha256Here(bytes);
}

/** The same without the host's help. @internal */
export function sha256Here(bytes: Uint8Array): string {
  roundConstants ??= rootsOfPrimes(64, Math.cbrt);
  const state = rootsOfPrimes(8, Math.sqrt);
  const w = new Uint32Array(64);
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const whole = bytes.length - (bytes.length % 64);
  for (let at = 0; at < whole; at += 64) {
    for (let i = 0; i < 16; i++) w[i] = view.getUint32(at + 4 * i);
    compress(state, w, roundConstants);
  }
  const rest = bytes.length - whole;
  const tail = new Uint8Array(rest < 56 ? 64 : 128);
  tail.set(bytes.subarray(whole));
  tail[rest] = 0x80;
  const end = new DataView(tail.buffer);
  end.setBigUint64(tail.length - 8, BigInt(bytes.length) * 8n);
  for (let at = 0; at < tail.length; at += 64) {
    for (let i = 0; i < 16; i++) w[i] = end.getUint32(at + 4 * i);
    compress(state, w, roundConstants);
  }
  return [...state].map((word) => word.toString(16).padStart(8, "0")).join("");
}
