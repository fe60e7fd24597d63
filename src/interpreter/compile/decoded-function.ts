import type { IrFunction } from "../../ir/index.ts";
import type { Extent } from "../../machine/memory/extent.ts";
import type { FrameLayout, ProgramFunction } from "../../machine/state/code.ts";
import type { Activation, BasicBlock, FunctionCode } from "../../machine/state/launch-state.ts";
import type { LeafValue } from "../../semantics/index.ts";
import type { FunctionContext } from "./expr-compiler.ts";
import { leafOf } from "./fold-compiler.ts";
import { RegisterFile } from "./register-file.ts";

/** A function of a program with its registers laid out. It is decoded when it is first entered. */
export class DecodedFunction implements FunctionCode {
  readonly ir: IrFunction;
  readonly address: number;
  readonly frame: FrameLayout;
  readonly stackCost: number;
  readonly paramExtents: readonly Extent[];
  readonly file: RegisterFile;
  readonly context: FunctionContext;
  readonly pool: Activation[] = [];
  readonly #decode: (code: DecodedFunction) => BasicBlock;
  #entry: BasicBlock | null = null;

  /** `window`: what makes a frame address generic. `decode` makes the basic blocks and returns the first. */
  constructor(loaded: ProgramFunction, window: bigint, decode: (code: DecodedFunction) => BasicBlock) {
    const { ir, address, frame, stackCost, paramExtents } = loaded;
    this.ir = ir;
    this.address = address;
    this.frame = frame;
    this.stackCost = stackCost;
    this.paramExtents = paramExtents;
    this.file = new RegisterFile(ir.registers, ir.file);
    this.#decode = decode;
    this.context = { file: this.file, frameOffset: (variable) => frame.offsets[variable]!, window };
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
