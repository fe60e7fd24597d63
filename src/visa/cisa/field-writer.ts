import type { DiagnosticSink, Span } from "../../source/index.ts";
import type { FieldWidth } from "../isa/template.ts";
import type { BoundRoutine, Variable } from "../symbols.ts";
import type { Name } from "../tree.ts";
import type { ByteWriter } from "./byte-writer.ts";
import type { CisaCode } from "./codes.ts";
import { predefinedInPool } from "./format.ts";

const ranges: Readonly<Record<FieldWidth | "i16", readonly [number, number]>> = {
  u8: [0, 0xff],
  u16: [0, 0xffff],
  i16: [-0x8000, 0x7fff],
  u32: [0, 0xffff_ffff],
  // Written as unsigned, too, as in `flat[V+0x80000000]`.
  i32: [-0x8000_0000, 0xffff_ffff],
};

/** Writes fields of a routine, and says what does not fit into them. */
export class FieldWriter {
  readonly bound: BoundRoutine;
  readonly sink: DiagnosticSink<CisaCode>;

  constructor(bound: BoundRoutine, sink: DiagnosticSink<CisaCode>) {
    this.bound = bound;
    this.sink = sink;
  }

  /** `what`: as in "the offset". */
  field(out: ByteWriter, width: FieldWidth | "i16", value: number, span: Span, what: string): void {
    const [least, most] = ranges[width];
    const fits = Number.isInteger(value) && value >= least && value <= most;
    if (!fits) this.cannotHold(span, `${what} is ${value}, and a file can only hold ${least} to ${most}`);
    const held = fits ? value : 0;
    if (width === "u8") out.u8(held);
    else if (width === "u16" || width === "i16") out.u16(held);
    else out.u32(held);
  }

  /** The number of a variable, which has a declaration or is one that 3.6 knows. */
  variable(name: Name): Variable | null {
    const variable = this.bound.variableOf.get(name);
    if (variable === undefined) {
      this.cannotHold(name, `${name.text} has no declaration`);
      return null;
    }
    if (variable.predefined && variable.kind === "G" && variable.index >= predefinedInPool) {
      this.cannotHold(name, `${name.text} came after version 3.6`);
    }
    return variable;
  }

  numberOf(name: Name): number {
    return this.variable(name)?.index ?? 0;
  }

  cannotHold(span: Span, message: string): void {
    this.sink.error("visa-cisa-cannot-hold", span, message);
  }
}
