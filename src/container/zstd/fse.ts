import type { ByteView } from "../byte-view.ts";
import type { BackwardBits } from "./backward-bits.ts";

/**
 * A decoder of finite state entropy: each state gives a symbol, and bits are added to a base to make the next state.
 */
export interface FseTable {
  /** The logarithm of the number of states: as many bits are the first state. */
  readonly log: number;
  readonly symbols: Uint8Array;
  readonly bits: Uint8Array;
  readonly bases: Uint16Array;
}

/** What a description of a table may say. */
interface FseLimits {
  readonly maxLog: number;
  readonly maxSymbol: number;
}

interface Described {
  readonly table: FseTable;
  /** Where the description ends. */
  readonly next: number;
}

/** The one symbol of all states. */
export const fseOf = (symbol: number): FseTable => ({
  log: 0,
  symbols: Uint8Array.of(symbol),
  bits: new Uint8Array(1),
  bases: new Uint16Array(1),
});

/** Reads the description of a table (RFC 8878, section 4.1.1). */
export function readFse(view: ByteView, from: number, { maxLog, maxSymbol }: FseLimits): Described {
  const log = (view.u8(from) & 15) + 5;
  if (log > maxLog) view.fail(`a table has 2^${log} states, where 2^${maxLog} are the most`, from);
  let position = 4;
  // What comes after the end is zeros; whether any of it was used is known at the end.
  const peek = (count: number): number => {
    const at = from + (position >> 3);
    const byte = (i: number): number => (at + i < view.length ? view.bytes[at + i]! : 0);
    return ((byte(0) | (byte(1) << 8) | (byte(2) << 16)) >>> (position & 7)) & ((1 << count) - 1);
  };
  const counts: number[] = [];
  for (let rest = 1 << log; rest > 0; ) {
    if (counts.length > maxSymbol) view.fail(`a table has more than ${maxSymbol + 1} symbols`, from);
    const bits = 32 - Math.clz32(rest + 1);
    const low = (1 << (bits - 1)) - 1;
    // Small values need a bit less, as not all of the larger ones exist.
    const saved = (1 << bits) - 1 - (rest + 1);
    const value = peek(bits);
    const isShort = (value & low) < saved;
    position += isShort ? bits - 1 : bits;
    const count = (isShort ? value & low : value > low ? value - saved : value) - 1;
    counts.push(count);
    rest -= Math.abs(count);
    for (let zeros = count === 0 ? 3 : 0; zeros === 3; ) {
      zeros = peek(2);
      position += 2;
      for (let i = 0; i < zeros; i++) counts.push(0);
      if (counts.length > maxSymbol) view.fail(`a table has more than ${maxSymbol + 1} symbols`, from);
    }
  }
  const next = from + ((position + 7) >> 3);
  if (next > view.length) view.fail("a table is cut off", from);
  return { table: buildFse(log, counts), next };
}

/**
 * Spreads symbols over the states of a table. The counts add up to the number of states; -1 stands for a symbol that is
 * less likely than one state.
 */
export function buildFse(log: number, counts: readonly number[]): FseTable {
  const size = 1 << log;
  const symbols = new Uint8Array(size);
  const nextStates = new Uint16Array(counts.length);
  let high = size;
  counts.forEach((count, symbol) => {
    nextStates[symbol] = Math.abs(count);
    if (count < 0) symbols[--high] = symbol;
  });
  const step = (size >> 1) + (size >> 3) + 3;
  let at = 0;
  counts.forEach((count, symbol) => {
    for (let i = 0; i < count; i++) {
      symbols[at] = symbol;
      do at = (at + step) & (size - 1);
      while (at >= high);
    }
  });
  const bits = new Uint8Array(size);
  const bases = new Uint16Array(size);
  for (let state = 0; state < size; state++) {
    const number = nextStates[symbols[state]!]!++;
    bits[state] = log - (31 - Math.clz32(number));
    bases[state] = (number << bits[state]!) - size;
  }
  return { log, symbols, bits, bases };
}

/** The state that follows. */
export const nextState = ({ bits, bases }: FseTable, state: number, from: BackwardBits): number =>
  bases[state]! + from.take(bits[state]!);
