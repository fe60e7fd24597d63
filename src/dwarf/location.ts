import type { Block } from "./entries.ts";
import { DwarfError, Reader } from "./reader.ts";
import type { SymbolReference } from "./sections.ts";

/** The part of the machine that an expression is evaluated in. Null: there is no such thing here. */
export interface LocationContext {
  /** Bytes of an address. */
  readonly addressSize: number;
  /** Returns the value of a register by its name in the program. */
  register(name: string): bigint | null;
  /** Returns the address of a variable, a parameter of the kernel, or a function. */
  symbol(reference: SymbolReference): bigint | null;
  /** Returns the address that variables in the frame are counted from. */
  frameBase(): bigint | null;
  /** Reads an unsigned number. */
  memory(address: bigint, size: number): bigint | null;
}

/** Where a value is. */
export type Place =
  | { readonly kind: "register"; readonly name: string }
  | { readonly kind: "memory"; readonly address: bigint }
  /** The value itself, which is nowhere. */
  | { readonly kind: "value"; readonly bytes: Uint8Array }
  /** The value consists of parts, the first one lowest. */
  | { readonly kind: "pieces"; readonly pieces: readonly { readonly place: Place; readonly bytes: number }[] }
  | { readonly kind: "nowhere"; readonly why: string };

/** The name of a register, which compilers for PTX write as a number: its characters, the first one highest. */
function registerName(number: bigint): string {
  let name = "";
  for (let rest = BigInt.asUintN(64, number); rest !== 0n; rest >>= 8n) {
    name = String.fromCharCode(Number(rest & 0xffn)) + name;
  }
  return name;
}

const isName = (name: string): boolean => /^[%$_A-Za-z][\w$]*$/.test(name);

const Op = {
  addr: 0x03,
  deref: 0x06,
  const1u: 0x08,
  const8s: 0x0f,
  constu: 0x10,
  consts: 0x11,
  dup: 0x12,
  drop: 0x13,
  over: 0x14,
  pick: 0x15,
  swap: 0x16,
  xderef: 0x18,
  abs: 0x19,
  and: 0x1a,
  minus: 0x1c,
  mul: 0x1e,
  neg: 0x1f,
  not: 0x20,
  or: 0x21,
  plus: 0x22,
  plusUconst: 0x23,
  shl: 0x24,
  shr: 0x25,
  shra: 0x26,
  xor: 0x27,
  lit0: 0x30,
  reg0: 0x50,
  breg0: 0x70,
  regx: 0x90,
  fbreg: 0x91,
  bregx: 0x92,
  piece: 0x93,
  derefSize: 0x94,
  nop: 0x96,
  callFrameCfa: 0x9c,
  implicitValue: 0x9e,
  stackValue: 0x9f,
} as const;

const word = (value: bigint): bigint => BigInt.asUintN(64, value);
const shift = (value: bigint): bigint => (value > 64n ? 64n : value);

const binary: Readonly<Record<number, (a: bigint, b: bigint) => bigint>> = {
  [Op.and]: (a, b) => a & b,
  [Op.minus]: (a, b) => a - b,
  [Op.mul]: (a, b) => a * b,
  [Op.or]: (a, b) => a | b,
  [Op.plus]: (a, b) => a + b,
  [Op.shl]: (a, b) => a << shift(b),
  [Op.shr]: (a, b) => a >> shift(b),
  [Op.shra]: (a, b) => BigInt.asIntN(64, a) >> shift(b),
  [Op.xor]: (a, b) => a ^ b,
};

/** A value that is not available, which ends an evaluation. */
class Unavailable extends Error {}

const maxOperations = 10_000;

/** Evaluates a location expression. Never throws: what cannot be evaluated is nowhere, with the reason. */
export function evaluateLocation(block: Block, context: LocationContext): Place {
  try {
    return new Machine(context).run(block);
  } catch (error) {
    if (error instanceof Unavailable || error instanceof DwarfError) return { kind: "nowhere", why: error.message };
    throw error;
  }
}

class Machine {
  readonly #context: LocationContext;
  readonly #stack: bigint[] = [];
  /** What a `piece` or the end takes; null: the top of the stack as an address. */
  #place: Place | null = null;
  #operations = 0;

  constructor(context: LocationContext) {
    this.#context = context;
  }

  run({ section, start, end }: Block): Place {
    const reader = new Reader(section, start, end);
    const pieces: { place: Place; bytes: number }[] = [];
    while (!reader.atEnd) {
      if (++this.#operations > maxOperations) throw new Unavailable("its location takes too many operations");
      const op = reader.u8();
      if (op === Op.piece) pieces.push({ place: this.#taken(), bytes: reader.small() });
      else this.#step(op, reader);
    }
    return pieces.length > 0 ? { kind: "pieces", pieces } : this.#taken();
  }

  #taken(): Place {
    const place = this.#place;
    this.#place = null;
    if (place !== null) return place;
    const address = this.#stack.pop();
    return address === undefined ? { kind: "nowhere", why: "it is optimized out" } : { kind: "memory", address };
  }

  #pop(): bigint {
    const value = this.#stack.pop();
    if (value === undefined) throw new Unavailable("its location is malformed");
    return value;
  }

  #push(value: bigint | null, what: () => string): void {
    if (value === null) throw new Unavailable(`${what()} has no value here`);
    if (this.#stack.length > 1000) throw new Unavailable("its location is malformed");
    this.#stack.push(word(value));
  }

  #step(op: number, reader: Reader): void {
    const { addressSize } = this.#context;
    const push = (value: bigint): void => this.#push(value, () => "");
    if (op >= Op.lit0 && op < Op.lit0 + 32) push(BigInt(op - Op.lit0));
    else if (op >= Op.reg0 && op < Op.reg0 + 32) this.#register(BigInt(op - Op.reg0));
    else if (op >= Op.breg0 && op < Op.breg0 + 32) this.#based(BigInt(op - Op.breg0), reader.sleb());
    else if (op >= Op.const1u && op <= Op.const8s) {
      const size = 1 << ((op - Op.const1u) >> 1);
      push(((op - Op.const1u) & 1) === 0 ? reader.unsigned(size) : reader.signed(size));
    } else if (binary[op] !== undefined) {
      const [b, a] = [this.#pop(), this.#pop()];
      push(binary[op](a, b));
    } else this.#special(op, reader, addressSize);
  }

  #special(op: number, reader: Reader, addressSize: number): void {
    const push = (value: bigint): void => this.#push(value, () => "");
    switch (op) {
      case Op.addr: {
        const address = reader.address(addressSize);
        if (typeof address === "number") push(BigInt(address));
        else this.#push(this.#context.symbol(address), () => address.symbol);
        break;
      }
      case Op.constu:
        push(reader.uleb());
        break;
      case Op.consts:
        push(reader.sleb());
        break;
      case Op.plusUconst:
        push(this.#pop() + reader.uleb());
        break;
      case Op.deref:
        this.#load(addressSize);
        break;
      case Op.derefSize:
        this.#load(reader.u8());
        break;
      case Op.xderef: {
        // The number of a state space is below the address. Addresses here say which space they are in.
        const address = this.#pop();
        this.#pop();
        push(address);
        this.#load(addressSize);
        break;
      }
      case Op.regx:
        this.#register(reader.uleb());
        break;
      case Op.bregx:
        this.#based(reader.uleb(), reader.sleb());
        break;
      case Op.fbreg: {
        const base = this.#context.frameBase();
        const offset = reader.sleb();
        this.#push(base === null ? null : base + offset, () => "the frame");
        break;
      }
      case Op.callFrameCfa:
        this.#push(this.#context.frameBase(), () => "the frame");
        break;
      case Op.stackValue: {
        const bytes = new Uint8Array(8);
        new DataView(bytes.buffer).setBigUint64(0, this.#pop(), true);
        this.#place = { kind: "value", bytes };
        break;
      }
      case Op.implicitValue: {
        const start = reader.skip(reader.small());
        this.#place = { kind: "value", bytes: reader.section.bytes.slice(start, reader.at) };
        break;
      }
      default:
        this.#arrange(op, reader);
    }
  }

  /** Executes an operation that works on the stack of values alone. */
  #arrange(op: number, reader: Reader): void {
    const stack = this.#stack;
    const push = (value: bigint): void => this.#push(value, () => "");
    switch (op) {
      case Op.nop:
        break;
      case Op.neg:
        push(-this.#pop());
        break;
      case Op.not:
        push(~this.#pop());
        break;
      case Op.abs: {
        const value = BigInt.asIntN(64, this.#pop());
        push(value < 0n ? -value : value);
        break;
      }
      case Op.dup:
      case Op.over:
      case Op.pick: {
        const from = op === Op.dup ? 0 : op === Op.over ? 1 : reader.u8();
        this.#push(stack.at(-1 - from) ?? null, () => "its location");
        break;
      }
      case Op.drop:
        this.#pop();
        break;
      case Op.swap: {
        const [b, a] = [this.#pop(), this.#pop()];
        push(b);
        push(a);
        break;
      }
      default:
        throw new Unavailable(`its location has the operation 0x${op.toString(16)}, which is not supported`);
    }
  }

  #load(size: number): void {
    const address = this.#pop();
    this.#push(this.#context.memory(address, size), () => `memory at 0x${address.toString(16)}`);
  }

  #register(number: bigint): void {
    const name = registerName(number);
    if (!isName(name)) throw new Unavailable(`it is in register ${number} of DWARF, which PTX does not have`);
    this.#place = { kind: "register", name };
  }

  #based(number: bigint, offset: bigint): void {
    const name = registerName(number);
    const value = isName(name) ? this.#context.register(name) : null;
    this.#push(value === null ? null : value + offset, () => `register ${isName(name) ? name : number}`);
  }
}
