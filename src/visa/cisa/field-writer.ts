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
  // Text may also have it unsigned, as in `flat[V+0x80000000]`.
  i32: [-0x8000_0000, 0xffff_ffff],
};

/** Writes fields of a routine, and reports values that do not fit into them (`visa-cisa-cannot-hold`). */
export class FieldWriter {
  readonly bound: BoundRoutine;
  readonly sink: DiagnosticSink<CisaCode>;

  constructor(bound: BoundRoutine, sink: DiagnosticSink<CisaCode>) {
    this.bound = bound;
    this.sink = sink;
  }

  /** Writes a number, or 0 if it does not fit. `what` is the message's subject, such as "the offset". */
  field(out: ByteWriter, width: FieldWidth | "i16", value: number, span: Span, what: string): void {
    const [min, max] = ranges[width];
    const fits = Number.isInteger(value) && value >= min && value <= max;
    if (!fits) this.cannotHold(span, `${what} is ${value}, but a file can hold only ${min} to ${max}`);
    const held = fits ? value : 0;
    if (width === "u8") out.u8(held);
    else if (width === "u16" || width === "i16") out.u16(held);
    else out.u32(held);
  }

  /** The variable of a name; reports one that is not declared, and a predefined one that 3.6 does not have. */
  variable(name: Name): Variable | null {
    const variable = this.bound.variableOf.get(name);
    if (variable === undefined) {
      this.cannotHold(name, `${name.text} has no declaration`);
      return null;
    }
    if (variable.predefined && variable.kind === "G" && variable.index >= predefinedInPool) {
      this.cannotHold(name, `${name.text} was added after version 3.6`);
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
