import type { FileTarget, Instruction } from "../instruction.ts";
import { type FileAccess, type FileComponent, elementAt, isSingle } from "./file-accesses.ts";

type Bits = FileTarget["bits"];

/**
 * How registers hold a component of the byte file. `elements`: one register for each, the same for all lanes of the
 * thread. `rows`: element e belongs to lane e mod width, in the register of row e div width.
 */
export interface Holder {
  readonly kind: "elements" | "rows";
  readonly component: FileComponent;
  /** The byte at which element 0 begins; it may lie before the component. */
  readonly at: number;
  readonly bits: Bits;
}

/** A part of an element: which element, and at which bit it begins. */
export interface Slot {
  readonly element: number;
  readonly shift: number;
}

/** The part of an element that lies at a byte; null if it is none, or parts of two. */
export function slotAt({ at, bits }: Pick<Holder, "at" | "bits">, byte: number, size: Bits): Slot | null {
  const shift = 8 * (byte - at);
  const element = Math.floor(shift / bits);
  const within = shift - element * bits;
  return element < 0 || within + size > bits ? null : { element, shift: within };
}

/** The most registers that stand for a component. */
const maxElements = 64;
const maxRows = 16;

/** Finds a holder for each component; null if one has none. */
export function holdersOf(
  components: readonly FileComponent[],
  instructions: readonly Instruction[],
  width: number,
): readonly Holder[] | null {
  const shared = sharedComponents(components, instructions);
  const holders = components.map((component, i) => {
    const elements = elementsOf(component);
    const isOne =
      elements !== null &&
      !component.accesses.some(({ any }) => any) &&
      component.end - elements.at <= elements.bits / 8;
    return isOne || (elements !== null && shared.has(i)) ? elements : rowsOf(component, width);
  });
  return holders.includes(null) ? null : (holders as Holder[]);
}

const largest = (accesses: readonly FileAccess[]): Bits =>
  accesses.reduce<Bits>((most, { bits }) => (bits > most ? bits : most), 8);

/** Whether all elements that are accessed are parts of the first `most` elements of a holder. */
function fits({ at, bits: whole, component }: Holder, most: number): boolean {
  const { accesses } = component;
  for (let a = 0; a < accesses.length; a++) {
    const access = accesses[a]!;
    const { count, bits, step, any } = access;
    if (any && bits !== whole && count > 0) return false;
    // Where lanes access the same part of their elements, those of the first and the last lane are enough.
    const by = step === null || (8 * step) % whole !== 0 ? 1 : Math.max(1, count - 1);
    for (let i = 0; i < count; i += by) {
      const shift = 8 * (elementAt(access, i) - at);
      const element = Math.floor(shift / whole);
      if (element < 0 || element >= most || shift - element * whole + bits > whole) return false;
    }
  }
  return true;
}

function elementsOf(component: FileComponent): Holder | null {
  const bits = largest(component.accesses);
  const start = component.start - (component.start % (bits / 8));
  const holders = [component.start, start].map((at): Holder => ({ kind: "elements", component, at, bits }));
  return holders.find((holder) => fits(holder, maxElements)) ?? null;
}

/** The rows in which most lanes access the elements next to each other. */
function rowsOf(component: FileComponent, width: number): Holder | null {
  const anchors = component.accesses
    .filter((access) => access.rule.count > 1 && !isSingle(access) && !access.any)
    .sort((a, b) => b.rule.count - a.rule.count || Number(b.writes) - Number(a.writes));
  for (const anchor of anchors) {
    const { rule, start } = anchor;
    const bits = 8 * (elementAt(anchor, 1) - start);
    if (bits !== 8 && bits !== 16 && bits !== 32 && bits !== 64) continue;
    const row = (width * bits) / 8;
    const origin = start - (rule.first * bits) / 8;
    const at = origin - Math.max(0, Math.ceil((origin - component.start) / row)) * row;
    const holder: Holder = { kind: "rows", component, at, bits };
    if (fits(holder, maxRows * width)) return holder;
  }
  return null;
}

/**
 * The components that are written only as values for all lanes of the thread, and whose elements are read one by one,
 * or for others of that kind.
 */
function sharedComponents(components: readonly FileComponent[], instructions: readonly Instruction[]): Set<number> {
  const found = new Set(
    components.flatMap(({ accesses }, i) =>
      accesses.every(({ writes, rule, any }) => !any && (!writes || rule.noMask || rule.count === 1)) ? [i] : [],
    ),
  );
  const written = new Map<number, number[]>();
  /** By component, the instructions that access more than one element of it, or write one for several lanes. */
  const asRows: (readonly number[])[] = components.map(({ accesses }, of) => {
    const rows: number[] = [];
    for (const access of accesses) {
      const { index, rule, writes } = access;
      if (rule.count > 1 && (writes || !isSingle(access))) rows.push(index);
      if (!writes) continue;
      const others = written.get(index);
      if (others === undefined) written.set(index, [of]);
      else others.push(of);
    }
    return rows;
  });
  const isExpanded = (index: number): boolean => {
    const { op, lanes } = instructions[index]!;
    const to = written.get(index) ?? [];
    const expands = op.kind === "pure" || op.kind === "load";
    return expands && lanes?.noMask === true && to.length > 0 && to.every((c) => found.has(c));
  };
  for (let size = -1; size !== found.size; ) {
    size = found.size;
    for (const of of found) if (!asRows[of]!.every(isExpanded)) found.delete(of);
  }
  return found;
}
