import { hasLane, type MemoryOp, memoryOps } from "./memory-ops.ts";
import { immediateBytes, type ValueOp, valueOps } from "./value-ops.ts";

/** The opcodes that matter for control flow and locals. */
export const opcodes = {
  unreachable: 0x00,
  block: 0x02,
  loop: 0x03,
  if: 0x04,
  else: 0x05,
  end: 0x0b,
  br: 0x0c,
  brIf: 0x0d,
  brTable: 0x0e,
  return: 0x0f,
  call: 0x10,
  get: 0x20,
  set: 0x21,
  tee: 0x22,
} as const;

/** Those of the instructions of a function that use locals or direct control, in order, and where they stand. */
export interface CodeEvents {
  readonly count: number;
  readonly opcode: Uint8Array;
  /** The local, or the relative depth of the label, or the index in `tables`. */
  readonly operand: Int32Array;
  /** The bytes of the instruction: from its opcode to the end of its immediates. */
  readonly from: Int32Array;
  readonly to: Int32Array;
  /** The relative depths of the labels of `br_table` instructions. */
  readonly tables: readonly (readonly number[])[];
}

/** Codes after a prefix are below this. */
const codesOfPrefix = 0x200;

/** Where an instruction is in the table below: those with prefixes, 0xfc to 0xfe, come after the others. */
const key = (prefix: number | null, code: number): number =>
  prefix === null ? code : 0x100 + codesOfPrefix * (prefix - 0xfc) + code;

/** The immediates of instructions as `FunctionWriter` writes them: the bytes, and 32 for each number in LEB128. */
const immediates = ((): Uint8Array => {
  const table = new Uint8Array(key(0xff, 0));
  const number = 32;
  for (const code of [0x0c, 0x0d, 0x20, 0x21, 0x22, 0x23, 0x24, 0x41, 0x42]) table[code] = number;
  for (const code of [0x02, 0x03, 0x04]) table[code] = 1;
  for (const code of [0x11, 0x1c]) table[code] = number + 1;
  table[0x43] = 4;
  table[0x44] = 8;
  table[key(0xfc, 0x0a)] = 2;
  table[key(0xfc, 0x0b)] = 1;
  // A constant vector.
  table[key(0xfd, 0x0c)] = 16;
  for (const [name, { prefix, code }] of Object.entries(valueOps)) {
    table[key(prefix, code)] = immediateBytes(name as ValueOp);
  }
  for (const [name, { prefix, code }] of Object.entries(memoryOps))
    table[key(prefix, code)] = 2 * number + Number(hasLane(name as MemoryOp));
  return table;
})();

const isEvent = new Uint8Array(0x100);
for (const code of Object.values(opcodes)) if (code !== opcodes.call) isEvent[code] = 1;

/** A place in a function's code. */
class Place {
  readonly #bytes: Uint8Array;
  at = 0;

  constructor(bytes: Uint8Array) {
    this.#bytes = bytes;
  }

  byte(): number {
    return this.#bytes[this.at++]!;
  }

  /** A number in LEB128, of which the lowest 32 bits count. */
  number(): number {
    let byte = this.byte();
    let value = byte & 0x7f;
    for (let shift = 7; byte >= 0x80; shift += 7) {
      byte = this.byte();
      value |= (byte & 0x7f) << shift;
    }
    return value;
  }
}

/** Reads the body of a function that is not finished: its calls have no index yet. */
export function codeEvents(bytes: Uint8Array): CodeEvents {
  let [opcodeAt, operandAt, fromAt, toAt] = [
    new Uint8Array(1024),
    new Int32Array(1024),
    new Int32Array(1024),
    new Int32Array(1024),
  ];
  const tables: number[][] = [];
  const place = new Place(bytes);
  let count = 0;
  while (place.at < bytes.length) {
    const from = place.at;
    const opcode = place.byte();
    let value = 0;
    if (opcode === opcodes.brTable) {
      const labels = place.number() + 1;
      value = tables.push(Array.from({ length: labels }, () => place.number())) - 1;
    } else {
      const has = immediates[opcode >= 0xfc ? key(opcode, place.number()) : opcode]!;
      for (let left = has >>> 5; left > 0; left--) value = place.number();
      place.at += has & 31;
    }
    if (isEvent[opcode] === 0) continue;
    if (count === opcodeAt.length) {
      opcodeAt = grown(opcodeAt, new Uint8Array(2 * count));
      operandAt = grown(operandAt, new Int32Array(2 * count));
      fromAt = grown(fromAt, new Int32Array(2 * count));
      toAt = grown(toAt, new Int32Array(2 * count));
    }
    opcodeAt[count] = opcode;
    operandAt[count] = value;
    fromAt[count] = from;
    toAt[count++] = place.at;
  }
  return { count, opcode: opcodeAt, operand: operandAt, from: fromAt, to: toAt, tables };
}

function grown<T extends Uint8Array | Int32Array>(from: T, into: T): T {
  into.set(from);
  return into;
}
