import { anySize } from "./flow.ts";
import { type OperandSpec, type Row, row } from "./row.ts";

/** What rows of arithmetic, logic and mathematical functions give; the rest follows. */
export interface Channelwise
  extends Pick<Row, "opcode" | "mnemonic" | "title" | "execution">,
    Partial<Pick<Row, "name" | "page" | "sizes" | "from" | "only">> {
  readonly dst: OperandSpec;
  readonly sources: readonly OperandSpec[];
  readonly saturates: boolean;
}

/** `(P) mnemonic{.sat} E dst src0 ...`, the instruction and its page called like the mnemonic. */
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
