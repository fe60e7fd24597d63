import type { Form, Gate } from "../isa/define.ts";
import type { Candidate } from "../isa/resolve.ts";
import { versionNumber } from "../types.ts";
import type { Target } from "./context.ts";

/** Why something is not available for a module's version and target; null when it is. */
export interface GateProblem {
  readonly code: "needs-newer-version" | "needs-other-target" | "removed";
  readonly message: string;
  readonly help: string;
}

/** Understands each of the table's few versions and targets once. */
function onceEach<Value>(understand: (text: string) => Value): (text: string) => Value {
  const known = new Map<string, Value>();
  return (text) => {
    let value = known.get(text);
    if (value === undefined) known.set(text, (value = understand(text)));
    return value;
  };
}

const versionOf = onceEach(versionNumber);
const targetOf = onceEach((name): { readonly sm: number; readonly variant: string } => {
  const match = /^sm_(\d+)([af]?)$/.exec(name);
  return { sm: Number(match?.[1] ?? 0), variant: match?.[2] ?? "" };
});

/** sm_100f code runs on its family: the same major generation, from its own number on (11.1.2). */
const inFamily = (target: Target, sm: number): boolean =>
  target.variant !== "" && Math.floor(target.sm / 10) === Math.floor(sm / 10) && target.sm >= sm;

function targetMeets(target: Target, least: string): boolean {
  const { sm, variant } = targetOf(least);
  if (variant === "a") return target.variant === "a" && target.sm === sm;
  if (variant === "f") return inFamily(target, sm);
  return target.sm >= sm;
}

const list = (targets: string | readonly string[]): readonly string[] =>
  typeof targets === "string" ? [targets] : targets;

const spell = (target: string): string => (/[af]$/.test(target) ? target : `${target} or higher`);

/** `what`: the thing as a message names it, such as "'.rz'" or "'add.u16x2'". */
export function gateProblem(gate: Gate, what: string, version: number, target: Target): GateProblem | null {
  if (gate.since !== undefined && version < versionOf(gate.since)) {
    return {
      code: "needs-newer-version",
      message: `${what} needs PTX ISA ${gate.since}, and this module is version ${Math.floor(version / 100)}.${version % 100}`,
      help: `write \`.version ${gate.since}\` or higher`,
    };
  }
  if (gate.target !== undefined && !list(gate.target).some((least) => targetMeets(target, least))) {
    const wanted = list(gate.target).map(spell).join(" or ");
    return {
      code: "needs-other-target",
      message: `${what} needs target ${wanted}, and this module is for ${target.name}`,
      help: `write \`.target ${list(gate.target)[0]}\``,
    };
  }
  if (gate.until !== undefined && version >= versionOf(gate.until)) {
    const least = gate.untilTarget ?? "sm_10";
    if (targetMeets(target, least)) {
      return {
        code: "removed",
        message: `${what} is no longer there for ${target.name} from PTX ISA ${gate.until} on`,
        help: "use the form that took its place (`lanewise isa` shows them)",
      };
    }
  }
  return null;
}

/** The gates of a module's version and target. A module repeats few opcodes many times, so answers are kept. */
export class CandidateGates {
  readonly #version: number;
  readonly #target: Target;
  readonly #answers = new Map<Candidate, GateProblem | null>();

  constructor(version: number, target: Target) {
    this.#version = version;
    this.#target = target;
  }

  /** The first gate of the form or of one of its written modifiers that the module does not meet. */
  problem(candidate: Candidate, opcode: string): GateProblem | null {
    let problem = this.#answers.get(candidate);
    if (problem === undefined) {
      problem = candidateGateProblem(candidate, opcode, this.#version, this.#target);
      this.#answers.set(candidate, problem);
    }
    return problem;
  }
}

/** The same for one question. */
export function candidateGateProblem(
  candidate: Candidate,
  opcode: string,
  version: number,
  target: Target,
): GateProblem | null {
  const { form, mods, written } = candidate;
  const own = gateProblem(form, `'${opcode}'`, version, target);
  if (own) return own;
  for (const word of written) {
    const gate = form.gates[word];
    const problem = gate ? gateProblem(gate, `'.${word}'`, version, target) : null;
    if (problem) return problem;
  }
  const holds = (part: string): boolean => (part.startsWith("!") ? !mods[part.slice(1)] : written.includes(part));
  for (const { parts, gate } of compoundGates(form)) {
    if (!parts.every(holds)) continue;
    const what = parts.map((part) => (part.startsWith("!") ? `'${opcode}' without '.${part.slice(1)}'` : `'.${part}'`));
    const problem = gateProblem(gate, what.join(" with "), version, target);
    if (problem) return problem;
  }
  return null;
}

interface CompoundGate {
  readonly parts: readonly string[];
  readonly gate: Gate;
}
const compounds = new WeakMap<Form, readonly CompoundGate[]>();

/** The gates of combinations, and of what is left out: kept, because every instruction of a module asks for them. */
function compoundGates(form: Form): readonly CompoundGate[] {
  let known = compounds.get(form);
  if (!known) {
    known = Object.entries(form.gates)
      .map(([condition, gate]) => ({ parts: condition.split("+"), gate }))
      .filter(({ parts }) => parts.length > 1 || parts[0]!.startsWith("!"));
    compounds.set(form, known);
  }
  return known;
}
