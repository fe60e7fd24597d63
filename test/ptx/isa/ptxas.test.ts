import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { candidateGateProblem } from "../../../src/ptx/check/gates.ts";
import { type Candidate, instructionSet, type OperandRule } from "../../../src/ptx/isa/index.ts";
import { versionNumber } from "../../../src/ptx/types.ts";
import { opcodesOf } from "./opcodes.ts";

/**
 * Compares the table with NVIDIA's assembler, if it is installed, for the families whose operands are all plain values:
 * for each version and target ptxas accepts exactly the opcodes whose gates are open.
 */
const sections = [
  ...["9.7.1.", "9.7.2.", "9.7.3.", "9.7.4.", "9.7.5.", "9.7.6.", "9.7.7.", "9.7.8.", "9.7.18."],
  ...["9.7.9.3", "9.7.9.7", "9.7.9.19", "9.7.9.20", "9.7.9.21", "9.7.9.22"],
];

/** Versions and targets at the bounds of gates; ptxas 13 has no target below sm_75. */
const modules: readonly (readonly [version: string, target: string])[] = [
  ["9.0", "sm_100"],
  ["9.0", "sm_100a"],
  ["8.6", "sm_120a"],
  ["8.6", "sm_100"],
  ["9.0", "sm_90"],
  ["7.8", "sm_90"],
  ["8.0", "sm_80"],
  ["7.6", "sm_75"],
  ["7.5", "sm_75"],
  ["6.3", "sm_75"],
];

const isAvailable = spawnSync("ptxas", ["--version"]).status === 0;

const registers: Readonly<Record<number, string>> = { 1: "p", 8: "c", 16: "h", 32: "r", 64: "x", 128: "q" };

function operandText(rule: OperandRule, index: number): string {
  if (rule.immediate === "only") return String(rule.range?.[0] ?? 1);
  const register = `${registers[rule.type?.bits ?? 32]}${index}`;
  return rule.counts.includes(1) ? register : `{${new Array(rule.counts[0]).fill(register).join(", ")}}`;
}

const instructionText = ({ operands }: Candidate, opcode: string): string => {
  const texts = operands.map((o, i) => {
    const first = operandText(o.rule, i);
    return o.second && o.secondRule ? `${first}|${operandText(o.secondRule, 8)}` : first;
  });
  return `${opcode} ${texts.join(", ")};`;
};

/** The first error of ptxas in each line of the body, by line number. */
function askPtxas(version: string, target: string, lines: readonly string[]): ReadonlyMap<number, string> {
  const head = [
    `.version ${version}`,
    `.target ${target}`,
    ".address_size 64",
    ".visible .entry k() {",
    ...Object.entries(registers).map(([bits, name]) => `.reg .${bits === "1" ? "pred" : `b${bits}`} ${name}<9>;`),
  ];
  const folder = mkdtempSync(join(tmpdir(), "lanewise-"));
  const file = join(folder, "table.ptx");
  writeFileSync(file, [...head, ...lines, "ret;", "}", ""].join("\n"));
  const { stdout, stderr } = spawnSync("ptxas", [`-arch=${target}`, "-O0", file, "-o", join(folder, "table.o")], {
    encoding: "utf8",
    timeout: 600_000,
  });
  rmSync(folder, { recursive: true });
  const complaints = new Map<number, string>();
  for (const [, line, message] of `${stdout}${stderr}`.matchAll(/line (\d+); error\s*: (.*)/g)) {
    const at = Number(line) - head.length - 1;
    if (!complaints.has(at)) complaints.set(at, message!);
  }
  return complaints;
}

const candidates = instructionSet.instructions
  .filter((i) => sections.some((section) => i.section.startsWith(section)))
  .flatMap((i) => i.forms)
  .flatMap((form) =>
    opcodesOf(form, 200).flatMap((opcode) => {
      const candidate = instructionSet.resolve(opcode).candidates.find((c) => c.form === form);
      return candidate ? [{ candidate, opcode, line: instructionText(candidate, opcode) }] : [];
    }),
  );

test.skipIf(!isAvailable).each(modules)("ptxas agrees on what PTX %s has for %s", (version, target) => {
  expect(candidates.length).toBeGreaterThan(500);
  const complaints = askPtxas(
    version,
    target,
    candidates.map(({ line }) => line),
  );
  const sm = {
    name: target,
    sm: Number.parseInt(target.slice(3), 10),
    variant: target.endsWith("a") ? "a" : "",
  } as const;
  const disagreements = candidates.flatMap(({ candidate, opcode, line }, i) => {
    const ours = candidateGateProblem(candidate, opcode, versionNumber(version), sm)?.message;
    const theirs = complaints.get(i);
    return (ours === undefined) === (theirs === undefined) ? [] : [`${line} ptxas: ${theirs}; table: ${ours}`];
  });
  expect(disagreements).toEqual([]);
});
