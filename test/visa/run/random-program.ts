import type { FunctionText, Program } from "./program.ts";
import { generator, type Random } from "./random.ts";

/** Routines of structured statements, as a compiler would have them: each lane executes them as if it were alone. */
type Statement =
  | { readonly kind: "set"; readonly to: Name; readonly op: Op; readonly a: Name; readonly b: Name | number }
  | { readonly kind: "if"; readonly when: Condition; readonly body: Block; readonly otherwise: Block }
  /** Repeats as often as the low bits of a variable say. */
  | { readonly kind: "loop"; readonly depth: number; readonly count: Name; readonly body: Block }
  | { readonly kind: "break" | "continue"; readonly when: Condition }
  | { readonly kind: "return"; readonly when: Condition; readonly value: Name }
  | {
      readonly kind: "call";
      readonly when: Condition | null;
      readonly callee: number;
      readonly indirect: boolean;
      readonly to: Name;
      readonly value: Name;
    }
  | { readonly kind: "subroutine"; readonly when: Condition | null }
  | { readonly kind: "barrier" };
type Block = readonly Statement[];

const names = ["X", "Y", "Z", "W"] as const;
type Name = (typeof names)[number];

const ops = {
  add: (a: number, b: number) => a + b,
  mul: (a: number, b: number) => Math.imul(a, b),
  xor: (a: number, b: number) => a ^ b,
  and: (a: number, b: number) => a & b,
} as const;
type Op = keyof typeof ops;

/** `variable & mask` is less than `limit`. */
interface Condition {
  readonly variable: Name;
  readonly mask: number;
  readonly limit: number;
}

interface Routine {
  readonly body: Block;
  readonly subroutine: Block;
}

const loopMask = 3;
/** Functions call later ones. */
const functions = 3;

/**
 * A program that depends only on the seed. `waits`: with barriers anywhere; all threads then compute the same, so that
 * all reach barriers equally often.
 */
export function randomProgram(seed: number, waits = false): Program {
  const random = generator(seed);
  const routines = Array.from({ length: functions + 1 }, (_, i) => routine(random, i, waits));
  const text = routines.map((r, i) => new Writer(i).routine(r));
  const width = ([8, 16, 32] as const)[seed % 3]!;
  return {
    title: `seed ${seed}`,
    widths: [width],
    declarations: [0, 1, 2].map((i) => `.decl C${i} v_type=G type=ud num_elts=32 align=GRF`).join("\n"),
    kernel: `${waits ? `and (E) X! ID@ ${width - 1}:ud` : "mov (E) X! ID@"}\n${text[0]!.body}\nend:\nmov (E) R! X@\nxor (E) R! R@ Y@`,
    subroutines: text[0]!.subroutine,
    functions: text.slice(1).map(
      ({ body, subroutine }, i): FunctionText => ({
        name: `f${i + 1}`,
        takes: 1,
        returns: 1,
        body: `mov (E) X! ARG@\n${body}\nmov (E) RET! X@\nfret (E)\n${subroutine}`,
      }),
    ),
    expected: (id) => {
      const lane = new Lane(routines, 0, waits ? id % width : id);
      lane.run();
      return lane.values.X ^ lane.values.Y;
    },
  };
}

// ---- Making ---------------------------------------------------------------------------------------------------------

interface Place {
  readonly routine: number;
  readonly depth: number;
  readonly inSubroutine: boolean;
  readonly waits: boolean;
}

function routine(random: Random, index: number, waits: boolean): Routine {
  return {
    body: block(random, { routine: index, depth: 0, inSubroutine: false, waits }, 0),
    subroutine: block(random, { routine: index, depth: 2, inSubroutine: true, waits }, 1),
  };
}

const block = (random: Random, place: Place, nesting: number): Block =>
  Array.from({ length: 1 + random(4) }, () => statement(random, place, nesting));

function statement(random: Random, place: Place, nesting: number): Statement {
  const name = (): Name => names[random(names.length)]!;
  const when = (): Condition => ({ variable: name(), mask: 7, limit: 1 + random(7) });
  const deeper = (more: Partial<Place> = {}): Block => block(random, { ...place, ...more }, nesting + 1);
  const { routine: index, depth, inSubroutine } = place;
  if (place.waits && random(6) === 0) return { kind: "barrier" };
  switch (random(nesting > 3 ? 6 : 10)) {
    case 0:
      if (depth > 0 && !inSubroutine) return { kind: random(2) === 0 ? "break" : "continue", when: when() };
      break;
    case 1:
      if (!inSubroutine) return { kind: "return", when: when(), value: name() };
      break;
    case 2:
    case 3:
      if (index < functions) {
        const callee = index + 1 + random(functions - index);
        const condition = random(2) === 0 ? when() : null;
        return { kind: "call", when: condition, callee, indirect: random(2) === 0, to: name(), value: name() };
      }
      break;
    case 4:
      if (!inSubroutine) return { kind: "subroutine", when: random(2) === 0 ? when() : null };
      break;
    case 6:
    case 7:
      return { kind: "if", when: when(), body: deeper(), otherwise: random(2) === 0 ? deeper() : [] };
    case 8:
      if (depth < 2) return { kind: "loop", depth, count: name(), body: deeper({ depth: depth + 1 }) };
      break;
  }
  const op = (Object.keys(ops) as Op[])[random(4)]!;
  return { kind: "set", to: name(), op, a: name(), b: random(2) === 0 ? name() : 1 + random(1000) };
}

// ---- As text --------------------------------------------------------------------------------------------------------

class Writer {
  readonly #index: number;
  readonly #lines: string[] = [];
  #labels = 0;

  constructor(index: number) {
    this.#index = index;
  }

  routine({ body, subroutine }: Routine): { readonly body: string; readonly subroutine: string } {
    this.#add(...names.slice(1).map((name, i) => `mov (E) ${name}! ${i}:ud`));
    this.#block(body, null);
    const text = this.#lines.splice(0).join("\n");
    this.#add(`.function "work"`, "work:");
    this.#block(subroutine, null);
    this.#add("ret (E)");
    return { body: text, subroutine: this.#lines.join("\n") };
  }

  #add(...lines: readonly string[]): void {
    this.#lines.push(...lines);
  }

  #block(statements: Block, loop: { readonly next: string; readonly end: string } | null): void {
    for (const s of statements) this.#statement(s, loop);
  }

  #statement(s: Statement, loop: { readonly next: string; readonly end: string } | null): void {
    const label = (): string => `l${this.#labels++}`;
    switch (s.kind) {
      case "set":
        this.#add(`${s.op} (E) ${s.to}! ${s.a}@ ${typeof s.b === "number" ? `${s.b}:ud` : `${s.b}@`}`);
        break;
      case "if": {
        const [otherwise, end] = [label(), label()];
        this.#test(s.when);
        this.#add(`(!P1) goto (E) ${otherwise}`);
        this.#block(s.body, loop);
        // Without a predicate, either form moves all active lanes.
        if (s.otherwise.length > 0) this.#add(`goto ${s.when.limit % 2 === 0 ? "(E)" : "(M1, 1)"} ${end}`);
        this.#add(`${otherwise}:`);
        this.#block(s.otherwise, loop);
        this.#add(`${end}:`);
        break;
      }
      case "loop": {
        const [top, next, end] = [label(), label(), label()];
        const counter = `C${s.depth}`;
        this.#add(`and (E) ${counter}! ${s.count}@ ${loopMask}:ud`, `${top}:`);
        this.#add(`cmp.eq (E) P1 ${counter}@ 0:ud`, `(P1) goto (E) ${end}`);
        this.#block(s.body, { next, end });
        this.#add(`${next}:`, `add (E) ${counter}! ${counter}@ -1:d`, `goto (E) ${top}`, `${end}:`);
        break;
      }
      case "break":
      case "continue":
        this.#test(s.when);
        this.#add(`(P1) goto (E) ${s.kind === "break" ? loop!.end : loop!.next}`);
        break;
      case "return":
        this.#test(s.when);
        if (this.#index === 0) this.#add(`(P1) mov (E) X! ${s.value}@`, "(P1) goto (E) end");
        else this.#add(`(P1) mov (E) RET! ${s.value}@`, "(P1) fret (E)");
        break;
      case "call": {
        const guard = this.#guard(s.when);
        const target = s.indirect ? `ifcall (E) F$` : `fcall (E) f${s.callee}`;
        if (s.indirect) this.#add(`faddr f${s.callee} F!`);
        this.#add(`mov (E) ARG! ${s.value}@`, `${guard}${target} # #`, `${guard}mov (E) ${s.to}! RET@`);
        break;
      }
      case "barrier":
        this.#add("barrier");
        break;
      case "subroutine":
        this.#add(`${this.#guard(s.when)}call (E) work`);
        break;
    }
  }

  #test({ variable, mask, limit }: Condition): void {
    this.#add(`and (E) C2! ${variable}@ ${mask}:ud`, `cmp.lt (E) P1 C2@ ${limit}:ud`);
  }

  #guard(when: Condition | null): string {
    if (when === null) return "";
    this.#test(when);
    return "(P1) ";
  }
}

// ---- As a model -----------------------------------------------------------------------------------------------------

type Outcome = "on" | "break" | "continue" | "return";

class Lane {
  readonly values: Record<Name, number>;
  readonly #routines: readonly Routine[];
  readonly #index: number;

  constructor(routines: readonly Routine[], index: number, argument: number) {
    this.#routines = routines;
    this.#index = index;
    this.values = { X: argument, Y: 0, Z: 1, W: 2 };
  }

  /** The routine's return value. */
  run(): number {
    this.#block(this.#routines[this.#index]!.body);
    return this.values.X;
  }

  #holds(when: Condition | null): boolean {
    return when === null || (this.values[when.variable] & when.mask) < when.limit;
  }

  #block(statements: Block): Outcome {
    for (const s of statements) {
      const outcome = this.#statement(s);
      if (outcome !== "on") return outcome;
    }
    return "on";
  }

  #statement(s: Statement): Outcome {
    const { values } = this;
    switch (s.kind) {
      case "set":
        values[s.to] = ops[s.op](values[s.a], typeof s.b === "number" ? s.b : values[s.b]) >>> 0;
        return "on";
      case "if":
        return this.#block(this.#holds(s.when) ? s.body : s.otherwise);
      case "loop":
        for (let left = values[s.count] & loopMask; left > 0; left--) {
          const outcome = this.#block(s.body);
          if (outcome === "break") break;
          if (outcome === "return") return "return";
        }
        return "on";
      case "break":
      case "continue":
        return this.#holds(s.when) ? s.kind : "on";
      case "return":
        if (!this.#holds(s.when)) return "on";
        values.X = values[s.value];
        return "return";
      case "call":
        if (this.#holds(s.when)) values[s.to] = new Lane(this.#routines, s.callee, values[s.value]).run();
        return "on";
      case "barrier":
        return "on";
      case "subroutine":
        if (this.#holds(s.when)) this.#block(this.#routines[this.#index]!.subroutine);
        return "on";
    }
  }
}
