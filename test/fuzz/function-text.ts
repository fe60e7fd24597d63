import type { Random } from "./random.ts";
import { type Scale, scales } from "./scale.ts";
import type { Target } from "./target.ts";
import type { Width } from "./values.ts";

const letters: Readonly<Record<Width, string>> = { 1: "p", 8: "c", 16: "h", 32: "r", 64: "d", 128: "q" };
const widths = [1, 8, 16, 32, 64, 128] as const;

const typeOf = (width: Width): string => (width === 1 ? "pred" : `b${width}`);

/** The text of one function while it grows, an instruction a line, with a pool of registers that always hold values. */
export class FunctionText {
  readonly random: Random;
  /** What the instructions are for. */
  readonly target: Target;
  readonly scale: Scale;
  readonly #declarations: string[] = [];
  readonly #lines: string[] = [];
  #temporaries = 0;
  #labels = 0;

  constructor(random: Random, target: Target, scale: Scale = scales.usual) {
    this.random = random;
    this.target = target;
    this.scale = scale;
    for (const width of widths) {
      for (const [u, count] of [
        ["", scale.varying[width]],
        ["u", scale.uniform[width]],
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
    const { [width]: alike } = this.scale.uniform;
    const some = uniform && alike > 0;
    const at = this.random.below(some ? alike : this.scale.varying[width]);
    return `%${some ? "u" : ""}${letters[width]}${at}`;
  }

  /** Every register of the pool. */
  pool(): readonly { readonly name: string; readonly width: Width; readonly uniform: boolean }[] {
    const { varying, uniform } = this.scale;
    return widths.flatMap((width) => [
      ...Array.from({ length: varying[width] }, (_, i) => ({ name: `%${letters[width]}${i}`, width, uniform: false })),
      ...Array.from({ length: uniform[width] }, (_, i) => ({
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
