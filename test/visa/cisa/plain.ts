/** A tree without places, and with rows by what tells them apart in a file. */
export function plain(value: unknown): unknown {
  if (typeof value === "bigint") return `${value}n`;
  if (Array.isArray(value)) return value.map(plain);
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).flatMap(([key, inner]) => {
      if (key === "start" || key === "end" || key === "mnemonic" || key === "source") return [];
      // A general operand's `row` is a number.
      return [[key, key === "row" && typeof inner === "object" ? rowKey(inner) : plain(inner)]];
    }),
  );
}

const rowKey = (row: { opcode: number; sub: number | null; file: string | null; name: string }): string =>
  `${row.name} ${row.opcode} ${row.sub} ${row.file}`;
