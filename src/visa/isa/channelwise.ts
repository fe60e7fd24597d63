import { anySize } from "./flow.ts";
import { type OperandSpec, type Row, row } from "./row.ts";

/** The fields that a row of arithmetic, logic or mathematical functions gives; the others follow from them. */
export interface Channelwise
  extends Pick<Row, "opcode" | "mnemonic" | "title" | "execution">,
    Partial<Pick<Row, "name" | "page" | "sizes" | "from" | "only">> {
  readonly dst: OperandSpec;
  readonly sources: readonly OperandSpec[];
  readonly saturates: boolean;
}

/** A row `(P) mnemonic{.sat} E dst src0 ...`, whose name and page are by default the mnemonic in upper case. */
export function channelwise({ dst, sources, saturates, ...rest }: Channelwise): Row {
  const names = sources.map((_, i) => `src${i}`);
  return row({
    name: rest.mnemonic.toUpperCase(),
    page: rest.mnemonic.toUpperCase(),
    text: ["(P)", `${rest.mnemonic}${saturates ? "{.sat}" : ""}`, "E", "dst", ...names].join(" "),
    file: ["exec", "pred", "dst", ...names].join(" "),
    operands: { dst, ...Object.fromEntries(sources.map((source, i) => [`src${i}`, source])) },
    sizes: anySize,
    ...rest,
  });
}
