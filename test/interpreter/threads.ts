import { type ByteFile, type FileTarget, type LaneRule, retvalAt, variablesAt } from "../../src/ir/index.ts";
import type { ThreadModel } from "../../src/machine/state/thread-model.ts";
import { type Expr, kit, type Region, type RegionLeaf } from "../../src/semantics/index.ts";
import { access, type FunctionBuilder, ModuleBuilder, type Reg } from "./builder.ts";
import { type Run, run, type RunOptions } from "./harness.ts";

/** Where the tests' variables begin, on a platform with registers of 32 bytes. */
export const vars = variablesAt(32);
export const retval = retvalAt(32);

export const byteFile = (bytes: number, sizes: Partial<ByteFile> = {}): ByteFile => ({
  bytes: vars + bytes,
  grfBytes: 32,
  argSize: null,
  retvalSize: null,
  variables: [],
  ...sizes,
});

/** Channels `first` to `first + count - 1`. */
export const channels = (count: number, first = 0, more: Partial<LaneRule> = {}): LaneRule => ({
  first,
  count,
  noMask: false,
  uniform: false,
  ...more,
});

/** A region `<vertical;width,horizontal>` at a byte. */
export const region = (
  at: number,
  [vertical, width, horizontal]: readonly [number, number, number],
  first = 0,
): Region => ({
  at,
  first,
  vertical,
  width,
  horizontal,
});

export const flat = (at: number, first = 0): Region => region(at, [1, 1, 0], first);
export const one = (at: number, first = 0): Region => region(at, [0, 1, 0], first);

const tyOf = (bits: number): "i32" | "i64" => (bits === 64 ? "i64" : "i32");

export const read = (
  from: Region,
  bits: RegionLeaf["bits"] = 32,
  signed = true,
  ty: RegionLeaf["ty"] = tyOf(bits),
): Expr => ({
  kind: "region",
  ty,
  bits,
  signed,
  region: from,
});

export const readAt = (address: Expr, bits: RegionLeaf["bits"] = 32, signed = true): Expr => ({
  kind: "indirect",
  ty: tyOf(bits),
  bits,
  signed,
  address,
});

export const into = (to: Region, bits: RegionLeaf["bits"] = 32): FileTarget => ({ kind: "region", bits, region: to });
export const intoAt = (address: Expr, bits: RegionLeaf["bits"] = 32): FileTarget => ({
  kind: "indirect",
  bits,
  address,
});

/** The global id of each lane, and the address of the buffer, as the test's threads find them in their file. */
export const idAt = variablesAt(32);
const bufferAt = vars + 128;
export const freeAt = vars + 192;

export interface ThreadsOptions extends RunOptions {
  readonly width?: number;
  readonly surfaces?: ThreadModel["surfaces"];
}

/** Runs the kernel `k`: threads of `width` lanes, each with its lanes' ids and the address of the output buffer. */
export function runThreads(module: ModuleBuilder, options: ThreadsOptions = {}): Run {
  const width = options.width ?? 16;
  const block = options.block ?? [width, 1, 1];
  const threads: ThreadModel = {
    width,
    surfaces: options.surfaces ?? new Map(),
    start: (file, { group, index }) => {
      for (let lane = 0; lane < 32; lane++) {
        file.setInt32(idAt + lane * 4, group[0] * block[0] + index * width + lane, true);
      }
      file.setBigInt64(bufferAt, outAddress, true);
    },
  };
  return run(module, { ...options, block, request: { ...options.request, threads, params: new Uint8Array(0) } });
}

/** The first allocation of a fresh device without variables. */
export const outAddress = 0x7f00_0001_0000n;

/** A kernel with room for `bytes` of variables after the ids. */
export function kernel(bytes: number): { readonly m: ModuleBuilder; readonly k: FunctionBuilder } {
  const m = new ModuleBuilder();
  const k = m.kernel();
  k.file = byteFile(192 + bytes);
  return { m, k };
}

/** Stores one dword a lane at its id, `slot` times the lanes of the launch further on. */
export function storeLanes(k: FunctionBuilder, value: Expr, rule: LaneRule, at = 0): void {
  const id = kit.widen(read(flat(idAt)), false);
  const address = kit.add(kit.add(read(one(bufferAt), 64), kit.mul(id, kit.i64(4n))), kit.i64(BigInt(at)));
  k.store(access("global"), address, value, { lanes: rule });
}

/** Stores `bytes` of the file (a multiple of 4) at a byte of the buffer. */
export function storeBytes(k: FunctionBuilder, from: number, bytes: number, at = 0): void {
  const scalar = channels(1, 0, { noMask: true });
  for (let b = 0; b < bytes; b += 4) {
    const address = kit.add(read(one(bufferAt), 64), kit.i64(BigInt(at + b)));
    k.store(access("global"), address, read(one(from + b)), { lanes: scalar });
  }
}

/** What a call says, in registers: two for 16 dwords. */
const sizes = { argSize: 2, retvalSize: 2 } as const;

/** A function with `bytes` of variables of its own. */
export function callee(
  m: ModuleBuilder,
  name: string,
  bytes = 64,
  declared: Partial<ByteFile> = sizes,
): FunctionBuilder {
  const f = m.func(name);
  f.file = byteFile(bytes, declared);
  return f;
}

interface CallOptions {
  readonly lanes: LaneRule;
  readonly when?: Reg;
  readonly unless?: Reg;
  readonly sizes?: { readonly argSize: number; readonly retvalSize: number };
}

/** fcall of a name, ifcall of an address. */
export function call(
  k: FunctionBuilder,
  target: string | Expr,
  { sizes: said = sizes, ...details }: CallOptions,
): void {
  const { uniform } = details.lanes;
  k.emit(
    {
      kind: "file-call",
      target: typeof target === "string" ? { kind: "direct", function: target } : { kind: "indirect", address: target },
      ...said,
      allLanes: uniform,
    },
    details,
  );
}

/** `dst = value` in the byte file. */
export const put = (
  k: FunctionBuilder,
  to: Region,
  value: Expr,
  lanes: LaneRule,
  more: { readonly when?: Reg; readonly unless?: Reg } = {},
): void => k.emit({ kind: "pure", values: [value] }, { dst: [into(to)], lanes, ...more });
