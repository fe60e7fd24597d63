import { type IrFunction, windows } from "../../ir/index.ts";
import { type Extent, Layout } from "../../machine/memory/extent.ts";
import type { Activation, BasicBlock, FunctionCode } from "../../machine/state/launch-state.ts";
import type { FrameLayout } from "../../machine/state/code.ts";
import type { LeafValue } from "../../semantics/index.ts";
import type { FunctionContext } from "./expr-compiler.ts";
import { leafOf } from "./fold-compiler.ts";
import { RegisterFile } from "./register-file.ts";

/** A function of a loaded program. It is decoded when it is first entered. */
export class LoadedFunction implements FunctionCode {
  readonly ir: IrFunction;
  readonly address: number;
  readonly frame: FrameLayout;
  readonly file: RegisterFile;
  readonly context: FunctionContext;
  readonly pool: Activation[] = [];
  readonly stackCost: number;
  /** Where a kernel's parameters lie. */
  readonly paramExtents: readonly Extent[];
  readonly #decode: (code: LoadedFunction) => BasicBlock;
  #entry: BasicBlock | null = null;

  /** `window`: what makes a frame address generic. `decode` makes the basic blocks and returns the first. */
  constructor(ir: IrFunction, address: number, window: bigint, decode: (code: LoadedFunction) => BasicBlock) {
    this.ir = ir;
    this.address = address;
    this.frame = layFrame(ir);
    this.stackCost = stackCostOf(ir, this.frame);
    this.paramExtents = layParams(ir);
    this.file = new RegisterFile(ir.registers, ir.file);
    this.#decode = decode;
    this.context = {
      file: this.file,
      frameOffset: (variable) => this.frame.offsets[variable]!,
      window,
    };
  }

  get entry(): BasicBlock {
    this.#entry ??= this.#decode(this);
    return this.#entry;
  }

  leafValue(x: Activation, lane: number): LeafValue {
    return leafOf(this.context, x, lane, () => 0n, []);
  }

  get fileBytes(): number {
    // The temporaries are known once the instructions are decoded.
    void this.entry;
    return this.file.bytes;
  }

  get cleanBytes(): number {
    return this.file.cleanBytes;
  }

  get byteFileAt(): number {
    return this.file.byteFileAt;
  }
}

function stackCostOf({ registers }: IrFunction, frame: FrameLayout): number {
  const bytes = registers.reduce((sum, r) => sum + (r.class === "b64" ? 8 : r.class === "b32" ? 4 : 0), 0);
  return frame.size + bytes + 16;
}

function layParams({ params }: IrFunction): readonly Extent[] {
  const { start } = windows["kernel-param"];
  return params.flatMap(({ name, storage, type }) => {
    if (storage.kind !== "kernel") return [];
    return { name: `\`${name}\``, start: start + storage.offset, end: start + storage.offset + type.size };
  });
}

/** Gaps between the variables let a run past the end of one be noticed. */
function layFrame(ir: IrFunction): FrameLayout {
  const layout = new Layout(0);
  const offsets: number[] = [];
  const unsized = ir.frame.findIndex((v) => v.unsized);
  ir.frame.forEach((v, i) => {
    offsets[i] = i === unsized ? 0 : layout.place(`\`${v.name}\``, v.size, Math.max(v.align, 1));
  });
  const align = ir.frame.reduce((most, v) => Math.max(most, v.align), 16);
  const size = Math.ceil(layout.end / align) * align;
  if (unsized >= 0) offsets[unsized] = size;
  return { offsets, extents: layout.extents, size: ir.frame.length === 0 ? 0 : size, align, unsized };
}
