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

/** The instructions of a function that use locals or direct control, in order, and where they stand. */
export interface CodeEvents {
  readonly count: number;
  readonly opcode: Uint8Array;
  /** The local, the relative depth of the label, the index in `tables`, or the type of a construct. */
  readonly operand: Int32Array;
  /** The position of its opcode. */
  readonly from: Int32Array;
  /** The relative depths of the labels of `br_table` instructions. */
  readonly tables: readonly (readonly number[])[];
}

/** The end of an instruction with one operand, which begins at a position. */
export function endOf(from: number, operand: number): number {
  let end = from + 2;
  for (let rest = operand >>> 7; rest > 0; rest >>>= 7) end++;
  return end;
}

/** Notes them while a function is written, which takes less than to find them in its bytes. */
export class EventLog implements CodeEvents {
  count = 0;
  opcode = new Uint8Array(64);
  operand = new Int32Array(64);
  from = new Int32Array(64);
  readonly tables: (readonly number[])[] = [];

  add(opcode: number, operand: number, from: number): void {
    if (this.count === this.opcode.length) this.#grow(2 * this.count);
    this.opcode[this.count] = opcode;
    this.operand[this.count] = operand;
    this.from[this.count++] = from;
  }

  #grow(length: number): void {
    const { opcode, operand, from } = this;
    this.opcode = new Uint8Array(length);
    this.operand = new Int32Array(length);
    this.from = new Int32Array(length);
    this.opcode.set(opcode);
    this.operand.set(operand);
    this.from.set(from);
  }

  /** Takes away those from a position in the code on; returns what adds them again, `moved` by some bytes. */
  cut(start: number): (moved: number) => void {
    const end = this.count;
    while (this.count > 0 && this.from[this.count - 1]! >= start) this.count--;
    const opcode = this.opcode.slice(this.count, end);
    const operand = this.operand.slice(this.count, end);
    const from = this.from.slice(this.count, end);
    return (moved) => {
      for (let i = 0; i < opcode.length; i++) this.add(opcode[i]!, operand[i]!, from[i]! + moved);
    };
  }
}
