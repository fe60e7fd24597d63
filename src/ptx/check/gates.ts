import type { Form, Gate } from "../isa/define.ts";
import type { Candidate } from "../isa/resolve.ts";
import { versionNumber, versionText } from "../types.ts";
import { type Target, targetNamed } from "./target.ts";

/** Why something is not available for a module's version and target. */
export interface GateProblem {
  readonly code: "needs-newer-version" | "needs-other-target" | "removed";
  readonly message: string;
  readonly help: string;
}

/** Memoizes a function of the table's few versions and targets. */
function memoized<Value>(compute: (text: string) => Value): (text: string) => Value {
  const known = new Map<string, Value>();
  return (text) => {
    let value = known.get(text);
    if (value === undefined) known.set(text, (value = compute(text)));
    return value;
  };
}

const versionOf = memoized(versionNumber);

const targetOf = memoized(targetNamed);

/** Whether a target is in the family of sm_100f and its like: of the same major generation, and not older (11.1.2). */
const inFamily = (target: Target, sm: number): boolean =>
  target.variant !== "" && Math.floor(target.sm / 10) === Math.floor(sm / 10) && target.sm >= sm;

function targetMeets(target: Target, required: string): boolean {
  const { sm, variant } = targetOf(required);
  if (variant === "a") return target.variant === "a" && target.sm === sm;
  if (variant === "f") return inFamily(target, sm);
  return target.sm >= sm;
}

const list = (targets: string | readonly string[]): readonly string[] =>
  typeof targets === "string" ? [targets] : targets;

const spell = (target: string): string => (/[af]$/.test(target) ? target : `${target} or higher`);

/**
 * Why a gate is closed for a module of this version and target, or null if it is open. `what`: the name of the gated
 * feature in messages, such as "'.rz'" or "'add.u16x2'".
 */
export function gateProblem(gate: Gate, what: string, version: number, target: Target): GateProblem | null {
  if (gate.since !== undefined && version < versionOf(gate.since)) {
    return {
      code: "needs-newer-version",
      message: `${what} needs PTX ISA ${gate.since}, but this module is version ${versionText(version)}`,
      help: `write \`.version ${gate.since}\` or higher`,
    };
  }
  if (gate.target !== undefined && !list(gate.target).some((required) => targetMeets(target, required))) {
    const wanted = list(gate.target).map(spell).join(" or ");
    return {
      code: "needs-other-target",
      message: `${what} needs target ${wanted}, but this module is for ${target.name}`,
      help: `write \`.target ${list(gate.target)[0]}\``,
    };
  }
  if (gate.until !== undefined && version >= versionOf(gate.until)) {
    if (targetMeets(target, gate.untilTarget ?? "sm_10")) {
      return {
        code: "removed",
        message: `${what} was removed for ${target.name} in PTX ISA ${gate.until}`,
        help: "use the form that replaces it (`lanewise isa` lists the forms)",
      };
    }
  }
  return null;
}

/**
 * The gates as a module's version and target find them. A module repeats few opcodes many times, so answers are cached.
 */
export class CandidateGates {
  readonly #version: number;
  readonly #target: Target;
  readonly #answers = new Map<Candidate, GateProblem | null>();

  constructor(version: number, target: Target) {
    this.#version = version;
    this.#target = target;
  }

  /** The first closed gate of the form or of one of its written modifiers, or null. */
  problem(candidate: Candidate, opcode: string): GateProblem | null {
    let problem = this.#answers.get(candidate);
    if (problem === undefined) {
      problem = candidateGateProblem(candidate, opcode, this.#version, this.#target);
      this.#answers.set(candidate, problem);
    }
    return problem;
  }
}

/** The same without a cache. */
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

/**
 * The gates of combinations of modifiers and of modifiers left out; cached, because every instruction asks for them.
 */
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
