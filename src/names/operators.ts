/** How an operator is written in an expression. */
type OperatorForm =
  | "prefix"
  | "postfix"
  | "binary"
  | "member"
  | "index"
  | "call"
  | "conditional"
  | "cast"
  | "of-type"
  | "of-expression"
  | "new"
  | "delete"
  | "none";

export interface Operator {
  readonly code: string;
  readonly words: string;
  readonly form: OperatorForm;
}

const table: Readonly<Record<OperatorForm, string>> = {
  prefix: "ps + ng - ad & de * co ~ nt ! aw co_await pp_ ++ mm_ --",
  postfix: "pp ++ mm --",
  binary:
    "pl + mi - ml * dv / rm % an & or | eo ^ aS = pL += mI -= mL *= dV /= rM %= aN &= oR |= eO ^= " +
    "ls << rs >> lS <<= rS >>= eq == ne != lt < gt > le <= ge >= ss <=> aa && oo || cm , pm ->*",
  member: "pt -> dt . ds .*",
  index: "ix []",
  call: "cl ()",
  conditional: "qu ?",
  cast: "dc dynamic_cast sc static_cast cc const_cast rc reinterpret_cast",
  "of-type": "st sizeof at alignof ti typeid",
  "of-expression": "sz sizeof az alignof te typeid nx noexcept",
  new: "nw new na new[]",
  delete: "dl delete da delete[]",
  none: 'li operator""',
};

const rows = Object.entries(table).flatMap(([form, line]) => {
  const words = line.split(" ");
  return words.flatMap((code, i) => (i % 2 === 0 ? [{ code, words: words[i + 1]!, form: form as OperatorForm }] : []));
});

/** Operators by their code: two letters, and `_` for those before their operand. */
export const operators: ReadonlyMap<string, Operator> = new Map(rows.map((row) => [row.code, row]));
