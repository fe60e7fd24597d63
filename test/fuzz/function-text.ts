import type { Random } from "./random.ts";
import type { Target } from "./target.ts";
import type { Width } from "./values.ts";

const letters: Readonly<Record<Width, string>> = { 1: "p", 8: "c", 16: "h", 32: "r", 64: "d", 128: "q" };
const widths = [1, 8, 16, 32, 64, 128] as const;

/**
 * Registers of each width: those that hold the same value in all lanes until divergent code writes them, and the
 * others.
 */
const counts: Readonly<Record<Width, number>> = { 1: 5, 8: 2, 16: 5, 32: 10, 64: 6, 128: 1 };
const uniformCounts: Readonly<Record<Width, number>> = { 1: 2, 8: 0, 16: 1, 32: 3, 64: 2, 128: 0 };

const typeOf = (width: Width): string => (width === 1 ? "pred" : `b${width}`);

/** The text of one function while it grows, an instruction a line, with a pool of registers that always hold values. */
export class FunctionText {
  readonly random: Random;
  /** What the instructions are for. */
  readonly target: Target;
  readonly #declarations: string[] = [];
  readonly #lines: string[] = [];
  #temporaries = 0;
  #labels = 0;

  constructor(random: Random, target: Target) {
    this.random = random;
    this.target = target;
    for (const width of widths) {
      for (const [u, count] of [
        ["", counts[width]],
        ["u", uniformCounts[width]],
      ] as const) {
        if (count > 0) this.declare(`.reg .${typeOf(width)} %${u}${letters[width]}<${count}>;`);
      }
    }
  }

  declare(line: string): void {
    this.#declarations.push(line);
  }

  add(...lines: readonly string[]): void {
    this.#lines.push(...lines);
  }

  get size(): number {
    return this.#lines.length;
  }

  label(): string {
    return `L${this.#labels++}`;
  }

  place(label: string): void {
    this.#lines.push(`${label}:`);
  }

  /** A new register of 32 bits, and the instruction that writes it. */
  computed(opcode: string, ...operands: readonly (string | number)[]): string {
    const to = this.temporary(32);
    this.add(`${opcode} ${to}, ${operands.join(", ")};`);
    return to;
  }

  /** A register outside the pool. */
  temporary(width: Width): string {
    const name = `%t${this.#temporaries++}`;
    this.declare(`.reg .${typeOf(width)} ${name};`);
    return name;
  }

  /** A register of the pool. */
  register(width: Width, uniform = false): string {
    const some = uniform && uniformCounts[width] > 0;
    const at = this.random.below(some ? uniformCounts[width] : counts[width]);
    return `%${some ? "u" : ""}${letters[width]}${at}`;
  }

  /** Every register of the pool. */
  pool(): readonly { readonly name: string; readonly width: Width; readonly uniform: boolean }[] {
    return widths.flatMap((width) => [
      ...Array.from({ length: counts[width] }, (_, i) => ({ name: `%${letters[width]}${i}`, width, uniform: false })),
      ...Array.from({ length: uniformCounts[width] }, (_, i) => ({
        name: `%u${letters[width]}${i}`,
        width,
        uniform: true,
      })),
    ]);
  }

  text(head: string): string {
    const body = this.#lines.map((line) => (line.endsWith(":") ? line : `    ${line}`));
    return [head, "{", ...this.#declarations.map((line) => `    ${line}`), ...body, "}"].join("\n");
  }
}
