import { addressRows } from "../../src/visa/isa/address.ts";
import { arithmeticRows } from "../../src/visa/isa/arithmetic.ts";
import { atomicRows } from "../../src/visa/isa/atomic.ts";
import { compareRows } from "../../src/visa/isa/compare.ts";
import { flowRows } from "../../src/visa/isa/flow.ts";
import { gatherRows } from "../../src/visa/isa/gather.ts";
import { logicRows } from "../../src/visa/isa/logic.ts";
import { lscRows } from "../../src/visa/isa/lsc.ts";
import { mathRows } from "../../src/visa/isa/math.ts";
import { mediaRows } from "../../src/visa/isa/media.ts";
import { miscRows } from "../../src/visa/isa/misc.ts";
import { moveRows } from "../../src/visa/isa/move.ts";
import { owordRows } from "../../src/visa/isa/oword.ts";
import { renderRows } from "../../src/visa/isa/render.ts";
import { platforms, type Row } from "../../src/visa/isa/row.ts";
import { samplerMediaRows } from "../../src/visa/isa/sampler-media.ts";
import { samplerRows } from "../../src/visa/isa/sampler.ts";
import { sendRows } from "../../src/visa/isa/send.ts";
import { svmRows } from "../../src/visa/isa/svm.ts";
import { syncRows } from "../../src/visa/isa/sync.ts";
import { systolicRows } from "../../src/visa/isa/systolic.ts";
import { rows } from "../../src/visa/isa/table.ts";
import { typedRows } from "../../src/visa/isa/typed.ts";
import { vmeRows } from "../../src/visa/isa/vme.ts";
import { registerBytes } from "../../src/visa/platforms.ts";

const families: readonly (readonly [title: string, rows: readonly Row[]])[] = [
  ["control flow and calls", flowRows],
  ["arithmetic", arithmeticRows],
  ["mathematical functions", mathRows],
  ["logic, shifts, bit fields", logicRows],
  ["moves, selection, comparison, addresses", [...moveRows, ...compareRows, ...addressRows]],
  ["matrices (dpas)", systolicRows],
  ["memory by 64-bit addresses (svm)", svmRows],
  ["memory through surfaces: gather, scatter, owords", [...gatherRows, ...owordRows]],
  ["atomic operations through surfaces", atomicRows],
  ["LSC messages", lscRows],
  ["barriers, fences", syncRows],
  ["typed surfaces, samplers, two-dimensional blocks", [...typedRows, ...samplerRows, ...mediaRows]],
  ["media functions of samplers", samplerMediaRows],
  ["motion estimation, raw messages, graphics", [...vmeRows, ...sendRows, ...renderRows]],
  ["marks of compilers and debuggers", miscRows],
];

const runs = ({ execution }: Row): boolean => execution.kind !== "none";

/** How much of each family can be executed. */
export function support(): string {
  const known = new Set(families.flatMap(([, family]) => family));
  if (rows.some((row) => !known.has(row))) throw new Error("a family is missing");
  const lines = families.map(([title, family]) => {
    const share = family.filter(runs).length / family.length;
    const executed = share === 1 ? "all" : share > 0.9 ? "nearly all" : share > 0 ? "in part" : "not yet";
    return `| ${title} | ${executed} |`;
  });
  return ["| instructions | executed |", "| --- | --- |", ...lines].join("\n");
}

/** By the size of their registers. */
export function platformTable(): string {
  const of = (bytes: number): string =>
    platforms
      .filter((platform) => registerBytes(platform) === bytes)
      .map((platform) => `\`${platform}\``)
      .join(", ");
  return ["| registers | platforms |", "| --- | --- |", ...[32, 64].map((n) => `| ${n} bytes | ${of(n)} |`)].join("\n");
}

/** Instructions named in full. */
const named = 6;

/** Why which instructions cannot be executed. */
export function obstacles(): string {
  const byReason = new Map<string, Set<string>>();
  for (const { execution, mnemonic } of rows) {
    if (execution.kind !== "none") continue;
    const others = byReason.get(execution.reason) ?? [];
    byReason.set(execution.reason, new Set([...others, `\`${mnemonic}\``]));
  }
  const lines = [...byReason].map(([reason, mnemonics]) => {
    const all = [...mnemonics];
    const more = all.length > named ? ` and ${all.length - named} more` : "";
    return `| ${all.slice(0, named).join(", ")}${more} | ${reason} |`;
  });
  return ["| not executed | because |", "| --- | --- |", ...lines].join("\n");
}
