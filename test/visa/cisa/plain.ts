/** A tree without spans, and with rows replaced by what identifies them in a file. */
export function plain(value: unknown): unknown {
  if (typeof value === "bigint") return `${value}n`;
  if (Array.isArray(value)) return value.map(plain);
  if (typeof value !== "object" || value === null) return value;
  const result: Record<string, unknown> = {};
  for (const [key, inner] of Object.entries(value)) {
    if (key === "start" || key === "end" || key === "mnemonic" || key === "source") continue;
    // A general operand's `row` is a number.
    result[key] = key === "row" && typeof inner === "object" ? rowKey(inner) : plain(inner);
  }
  return result;
}

const rowKey = (row: { opcode: number; sub: number | null; file: string | null; name: string }): string =>
  `${row.name} ${row.opcode} ${row.sub} ${row.file}`;
