import { expect, test } from "vitest";
import { type Kernel, run } from "./machine.ts";

/**
 * Registers and memory as bytes, for the pages' pseudo-code, which is written out on them independently of the engine.
 */
export class Model {
  readonly base: bigint;
  readonly grfBytes: number;
  readonly #buffer: DataView;
  readonly #registers: ReadonlyMap<string, DataView>;
  readonly #surfaces: NonNullable<Kernel["surfaces"]>;

  constructor(kernel: Kernel, base: bigint) {
    this.base = base;
    this.grfBytes = kernel.grfBytes ?? 32;
    this.#buffer = viewOf(kernel.buffer ?? new Uint8Array(0));
    this.#surfaces = kernel.surfaces ?? {};
    const registers = Object.entries(kernel.registers(base));
    this.#registers = new Map(registers.map(([name, { bytes }]) => [name, viewOf(bytes)]));
  }

  get buffer(): Uint8Array {
    return new Uint8Array(this.#buffer.buffer);
  }

  get registers(): Readonly<Record<string, Uint8Array>> {
    return Object.fromEntries([...this.#registers].map(([name, view]) => [name, new Uint8Array(view.buffer)]));
  }

  /** `size` bytes of a register from a byte on, as an unsigned number. */
  get(name: string, at: number, size: number): bigint {
    return read(this.#registers.get(name)!, at, size);
  }

  put(name: string, at: number, size: number, value: bigint): void {
    write(this.#registers.get(name)!, at, size, value);
  }

  load(address: bigint, size: number): bigint {
    return read(this.#buffer, Number(address - this.base), size);
  }

  store(address: bigint, size: number, value: bigint): void {
    write(this.#buffer, Number(address - this.base), size, value);
  }

  /** 0 beyond the end. */
  surfaceLoad(index: number, offset: bigint, size: number): bigint {
    const place = this.#within(index, offset, size);
    return place === null ? 0n : read(this.#buffer, place, size);
  }

  /** Dropped beyond the end. */
  surfaceStore(index: number, offset: bigint, size: number, value: bigint): void {
    const place = this.#within(index, offset, size);
    if (place !== null) write(this.#buffer, place, size, value);
  }

  #within(index: number, offset: bigint, size: number): number | null {
    const [at, bytes] = this.#surfaces[index]!;
    const from = BigInt.asUintN(32, offset);
    return from + BigInt(size) <= BigInt(bytes) ? at + Number(from) : null;
  }
}

const viewOf = (bytes: Uint8Array): DataView => new DataView(bytes.slice().buffer);

function read(view: DataView, at: number, size: number): bigint {
  let value = 0n;
  for (let i = size - 1; i >= 0; i--) value = (value << 8n) | BigInt(view.getUint8(at + i));
  return value;
}

function write(view: DataView, at: number, size: number, value: bigint): void {
  for (let i = 0; i < size; i++) view.setUint8(at + i, Number((value >> BigInt(8 * i)) & 0xffn));
}

export interface Case {
  readonly title: string;
  readonly kernel: Kernel;
  /** Computes the registers and the buffer afterwards; `active` says which lanes have a work item. */
  readonly expected: (model: Model, active: (lane: number) => boolean) => void;
}

/** Lets vitest compare only if they differ, because it visits elements as slowly as properties of an object. */
function expectBytes(got: Uint8Array, want: Uint8Array, what: string): void {
  if (Buffer.compare(got, want) !== 0) expect([...got], what).toEqual([...want]);
}

/** One test per case and way to run it: every byte of memory and of the registers must be the model's. */
export function testCases(cases: readonly Case[]): void {
  for (const { title, kernel, expected } of cases) {
    test.each([true, false])(`${title} (generated code: %s)`, (generate) => {
      const outcome = run({ ...kernel, generate });
      const model = new Model(kernel, outcome.base);
      expected(model, (lane) => lane < (kernel.items ?? kernel.width ?? 16));
      expect(outcome.reports).toEqual([]);
      for (const [name, bytes] of Object.entries(model.registers)) expectBytes(outcome.registers[name]!, bytes, name);
      expectBytes(outcome.buffer, model.buffer, "the buffer");
    });
  }
}
