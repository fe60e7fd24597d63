import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { type Candidate, instructionSet, type OperandRule } from "../../../src/ptx/isa/index.ts";
import { versionNumber } from "../../../src/ptx/types.ts";
import { opcodesOf } from "./opcodes.ts";

/**
 * The table against NVIDIA's assembler, where it is installed: whatever the table has for PTX 9.0 and sm_90, ptxas takes.
 * Families whose operands are all plain values.
 */
const sections = ["9.7.1.", "9.7.2.", "9.7.8.", "9.7.9.7", "9.7.18."];

const version = "9.0";
const isAvailable = spawnSync("ptxas", ["--version"]).status === 0;

const registers: Readonly<Record<number, string>> = { 1: "p", 16: "h", 32: "r", 64: "x" };

function operandText(rule: OperandRule, index: number): string {
  if (rule.immediate === "only") return String(rule.range?.[0] ?? 1);
  return `${registers[rule.type?.bits ?? 32]}${index}`;
}

const instructionText = ({ operands }: Candidate, opcode: string): string => {
  const texts = operands.map((o, i) => {
    const first = operandText(o.rule, i);
    return o.second && o.secondRule ? `${first}|${operandText(o.secondRule, 8)}` : first;
  });
  return `${opcode} ${texts.join(", ")};`;
};

/** The first complaint of ptxas about each line of the body, by its number. */
function askPtxas(lines: readonly string[]): ReadonlyMap<number, string> {
  const head = [
    `.version ${version}`,
    ".target sm_90",
    ".address_size 64",
    ".visible .entry k() {",
    ...Object.entries(registers).map(([bits, name]) => `.reg .${bits === "1" ? "pred" : `b${bits}`} ${name}<9>;`),
  ];
  const folder = mkdtempSync(join(tmpdir(), "lanewise-"));
  const file = join(folder, "table.ptx");
  writeFileSync(file, [...head, ...lines, "ret;", "}", ""].join("\n"));
  const { stdout, stderr } = spawnSync("ptxas", ["-arch=sm_90", "-O0", file, "-o", join(folder, "table.o")], {
    encoding: "utf8",
    timeout: 60_000,
  });
  rmSync(folder, { recursive: true });
  const complaints = new Map<number, string>();
  for (const [, line, message] of `${stdout}${stderr}`.matchAll(/line (\d+); error\s*: (.*)/g)) {
    const at = Number(line) - head.length - 1;
    if (!complaints.has(at)) complaints.set(at, message!);
  }
  return complaints;
}

test.skipIf(!isAvailable)("ptxas takes every form with every combination of modifiers", { timeout: 90_000 }, () => {
  const lines = instructionSet.instructions
    .filter((i) => sections.some((section) => i.section.startsWith(section)))
    .flatMap((i) => i.forms)
    .flatMap((form) =>
      opcodesOf(form, 200).flatMap((opcode) => {
        const candidate = instructionSet.resolve(opcode).candidates.find((c) => c.form === form);
        const gates = [form, ...(candidate?.written ?? []).map((word) => form.gates[word])];
        const isThere = gates.every((g) => g?.since === undefined || versionNumber(g.since) <= versionNumber(version));
        return candidate && isThere ? [instructionText(candidate, opcode)] : [];
      }),
    );
  expect(lines.length).toBeGreaterThan(500);
  const complaints = askPtxas(lines);
  expect([...complaints].map(([at, message]) => `${lines[at]} ${message}`)).toEqual([]);
});
