import { memoryOps } from "../../../src/wasm/memory-ops.ts";
import { valueOps } from "../../../src/wasm/value-ops.ts";

/** An instruction of WebAssembly, as it stands in the file. */
export interface WasmInstruction {
  readonly name: string;
  /** Of values from the stack and of results, how many there are; of calls these follow from the callee. */
  readonly takes: number;
  readonly gives: number;
  readonly immediates: readonly (number | bigint | string)[];
  /** Where it is in what `FunctionWriter` has written, which leaves out the numbers of called functions. */
  readonly at: number;
  /** What the condition of a branch is expected to be; null: nothing. */
  readonly expected: boolean | null;
}

export interface WasmFunction {
  readonly params: number;
  readonly results: number;
  readonly instructions: readonly WasmInstruction[];
}

interface Signature {
  readonly params: number;
  readonly results: number;
}

interface Row {
  readonly name: string;
  readonly takes: number;
  readonly gives: number;
  readonly isMemory: boolean;
}

const rows = new Map<string, Row>();
for (const [ops, isMemory] of [
  [valueOps, false],
  [memoryOps, true],
] as const) {
  for (const [name, { prefix, code, params, result }] of Object.entries(ops)) {
    rows.set(`${prefix} ${code}`, { name, takes: params.length, gives: result === null ? 0 : 1, isMemory });
  }
}

class Reader {
  at = 0;
  readonly #bytes: Uint8Array;
  readonly #view: DataView;

  constructor(bytes: Uint8Array) {
    this.#bytes = bytes;
    this.#view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
  }

  get isAtEnd(): boolean {
    return this.at >= this.#bytes.length;
  }

  byte(): number {
    return this.#bytes[this.at++]!;
  }

  take(count: number): Uint8Array {
    return this.#bytes.subarray(this.at, (this.at += count));
  }

  unsigned(): number {
    return Number(this.#leb(0));
  }

  signed(bits: 32 | 64): bigint {
    return this.#leb(bits);
  }

  text(): string {
    return new TextDecoder().decode(this.take(this.unsigned()));
  }

  float(bits: 32 | 64): number {
    this.at += bits / 8;
    return bits === 32 ? this.#view.getFloat32(this.at - 4, true) : this.#view.getFloat64(this.at - 8, true);
  }

  #leb(signedBits: 0 | 32 | 64): bigint {
    let [value, shift, byte] = [0n, 0n, 0x80];
    while (byte & 0x80) {
      byte = this.byte();
      value |= BigInt(byte & 0x7f) << shift;
      shift += 7n;
    }
    return signedBits !== 0 && byte & 0x40 ? value - (1n << shift) : value;
  }
}

/** The functions of a module that `ModuleWriter` has made: imported ones come first, and have no instructions. */
export function decodeModule(bytes: Uint8Array): readonly WasmFunction[] {
  const signatures: Signature[] = [];
  const functions: Signature[] = [];
  const hints = new Map<number, Map<number, boolean>>();
  const bodies: Uint8Array[] = [];
  const each = (section: Reader, read: () => void): void => {
    for (let left = section.unsigned(); left > 0; left--) read();
  };
  const file = new Reader(bytes);
  for (file.take(8); !file.isAtEnd; ) {
    const id = file.byte();
    const section = new Reader(file.take(file.unsigned()));
    if (id === 1) {
      each(section, () => {
        section.byte();
        const params = section.take(section.unsigned()).length;
        signatures.push({ params, results: section.take(section.unsigned()).length });
      });
    } else if (id === 2) {
      each(section, () => {
        section.text();
        section.text();
        if (section.byte() === 0) functions.push(signatures[section.unsigned()]!);
        else for (let limits = section.byte() === 0 ? 1 : 2; limits > 0; limits--) section.unsigned();
      });
    } else if (id === 3) each(section, () => functions.push(signatures[section.unsigned()]!));
    else if (id === 0 && section.text() === "metadata.code.branch_hint") {
      each(section, () => {
        const ofFunction = new Map<number, boolean>();
        hints.set(section.unsigned(), ofFunction);
        each(section, () => {
          const at = section.unsigned();
          section.unsigned();
          ofFunction.set(at, section.byte() === 1);
        });
      });
    } else if (id === 10) each(section, () => bodies.push(section.take(section.unsigned())));
  }
  const imported = functions.length - bodies.length;
  return functions.map(({ params, results }, i) => {
    const body = bodies[i - imported];
    const instructions = body === undefined ? [] : decodeBody(body, { functions, signatures }, hints.get(i));
    return { params, results, instructions };
  });
}

interface Callees {
  readonly functions: readonly Signature[];
  readonly signatures: readonly Signature[];
}

function decodeBody(bytes: Uint8Array, callees: Callees, hints?: ReadonlyMap<number, boolean>): WasmInstruction[] {
  const code = new Reader(bytes);
  for (let runs = code.unsigned(); runs > 0; runs--) {
    code.unsigned();
    code.byte();
  }
  const head = code.at;
  let numbers = 0;
  const found: WasmInstruction[] = [];
  while (!code.isAtEnd) {
    const start = code.at;
    const at = start - head - numbers;
    const decoded = decodeOne(code, callees);
    if (decoded.name === "call") numbers += code.at - start - 1;
    found.push({ ...decoded, at, expected: hints?.get(start) ?? null });
  }
  return found;
}

type Decoded = Omit<WasmInstruction, "at" | "expected">;

const plain = (name: string, takes: number, gives: number, ...immediates: Decoded["immediates"]): Decoded => ({
  name,
  takes,
  gives,
  immediates,
});

/** How many values a block of this type leaves. */
const blockResults = (type: number): number => (type === 0x40 ? 0 : 1);

function decodeOne(code: Reader, { functions, signatures }: Callees): Decoded {
  const op = code.byte();
  switch (op) {
    case 0x00:
      return plain("unreachable", 0, 0);
    case 0x02:
    case 0x03:
      return plain(op === 0x02 ? "block" : "loop", 0, 0, blockResults(code.byte()));
    case 0x04:
      return plain("if", 1, 0, blockResults(code.byte()));
    case 0x05:
      return plain("else", 0, 0);
    case 0x0b:
      return plain("end", 0, 0);
    case 0x0c:
      return plain("br", 0, 0, code.unsigned());
    case 0x0d:
      return plain("br_if", 1, 0, code.unsigned());
    case 0x0e: {
      const labels = Array.from({ length: code.unsigned() + 1 }, () => code.unsigned());
      return plain("br_table", 1, 0, ...labels);
    }
    case 0x0f:
      return plain("return", 0, 0);
    case 0x10: {
      const callee = code.unsigned();
      const { params, results } = functions[callee]!;
      return plain("call", params, results, callee);
    }
    case 0x11: {
      const { params, results } = signatures[code.unsigned()]!;
      code.unsigned();
      return plain("call_indirect", params + 1, results);
    }
    case 0x1a:
      return plain("drop", 1, 0);
    case 0x1c:
      code.take(code.unsigned());
      return plain("select", 3, 1);
    case 0x20:
      return plain("get", 0, 1, code.unsigned());
    case 0x21:
      return plain("set", 1, 0, code.unsigned());
    case 0x22:
      return plain("tee", 1, 1, code.unsigned());
    case 0x23:
      return plain("global.get", 0, 1, code.unsigned());
    case 0x24:
      return plain("global.set", 1, 0, code.unsigned());
    case 0x41:
      return plain("const", 0, 1, Number(code.signed(32)));
    case 0x42:
      return plain("const", 0, 1, code.signed(64));
    case 0x43:
    case 0x44:
      return plain("const", 0, 1, `${code.float(op === 0x43 ? 32 : 64)}f`);
    case 0xfc:
      return decodeBulk(code);
    default:
      return decodeValue(code, op);
  }
}

function decodeBulk(code: Reader): Decoded {
  const isCopy = code.unsigned() === 0x0a;
  code.take(isCopy ? 2 : 1);
  return plain(isCopy ? "memory.copy" : "memory.fill", 3, 0);
}

function decodeValue(code: Reader, op: number): Decoded {
  const prefix = op >= 0xfd ? op : null;
  const number = prefix === null ? op : code.unsigned();
  if (prefix === 0xfd && number === 0x0c) return plain("const", 0, 1, vectorText(code.take(16)));
  const row = rows.get(`${prefix} ${number}`);
  if (row === undefined) throw new Error(`no operation ${prefix} ${number}`);
  const { name, takes, gives, isMemory } = row;
  if (isMemory) {
    code.unsigned();
    const offset = code.unsigned();
    return plain(name, takes, gives, offset, ...(name.endsWith("_lane") ? [code.byte()] : []));
  }
  if (name === "i8x16.shuffle") return plain(name, takes, gives, ...code.take(16));
  return plain(name, takes, gives, ...(/(extract|replace)_lane/.test(name) ? [code.byte()] : []));
}

/** The words of a vector; one word, if all are the same. */
function vectorText(bytes: Uint8Array): string {
  const view = new DataView(bytes.buffer, bytes.byteOffset, 16);
  const words = [0, 4, 8, 12].map((at) => view.getInt32(at, true));
  return words.every((word) => word === words[0]) ? `<${words[0]}>` : `<${words.join(" ")}>`;
}
