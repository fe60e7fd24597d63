import { readFileSync } from "node:fs";
import { basename } from "node:path";
import { HostObject } from "../../container/index.ts";
import { type DebugSection, DwarfError, LineTable } from "../../dwarf/index.ts";
import { signatureOf } from "../../names/index.ts";
import type { HostFrame } from "../../cuda/base/host-frame.ts";

/** A file that lies in the memory of a process. */
interface Mapped {
  readonly start: bigint;
  readonly end: bigint;
  /** Where the file begins, or would begin, in memory. */
  readonly base: bigint;
  readonly path: string;
}

/** What is known of the addresses of a file. */
interface Known {
  readonly object: HostObject;
  readonly lines: LineTable;
}

/** Our own libraries, and the functions by which nvcc's code launches kernels: nobody looks for those. */
const ownFiles = /^(liblanewise\.so|libcudart\.so|libcuda\.so)/;
const ownFunctions = /^(_start$|__libc_start|__libc_start_call_main$|__device_stub__|cuda\w+<|cudaLaunchKernel|__cuda)/;

/** The stacks of a process, with the names and lines that its files have. */
export class HostStacks {
  readonly #pid: number;
  #mapped: readonly Mapped[] = [];
  readonly #known = new Map<string, Known | null>();

  constructor(pid: number) {
    this.#pid = pid;
  }

  /** Notes where files lie, while the process lives. */
  note(addresses: readonly bigint[]): void {
    if (addresses.every((address) => this.#around(address) !== null)) return;
    try {
      this.#mapped = mappedIn(readFileSync(`/proc/${this.#pid}/maps`, "utf8"));
    } catch {
      // It has ended: what is known has to do.
    }
  }

  /** The frames of the program's own functions, the innermost first. */
  describe(addresses: readonly bigint[]): readonly HostFrame[] {
    return addresses.flatMap((address) => this.#frame(address) ?? []);
  }

  #around(address: bigint): Mapped | null {
    return this.#mapped.find(({ start, end }) => address >= start && address < end) ?? null;
  }

  #frame(address: bigint): HostFrame | null {
    const mapped = this.#around(address);
    if (mapped === null || ownFiles.test(basename(mapped.path))) return null;
    const known = this.#open(mapped.path);
    if (known === null) return null;
    // A return address is that of the instruction after the call.
    const at = Number(known.object.isMovable ? address - mapped.base : address) - 1;
    const name = known.object.functionAt(at);
    if (name !== null && ownFunctions.test(signatureOf(name))) return null;
    const line = known.lines.find(at);
    // Libraries of the system tell nothing that the program's author could change.
    if (line === null && (name === null || /\.so(\.|$)/.test(mapped.path))) return null;
    return { function: name === null ? "?" : signatureOf(name), file: line?.file ?? null, line: line?.line ?? null };
  }

  #open(path: string): Known | null {
    let known = this.#known.get(path);
    if (known === undefined) this.#known.set(path, (known = open(path)));
    return known;
  }
}

function open(path: string): Known | null {
  try {
    const object = HostObject.read(readFileSync(path), path);
    if (object === null) return null;
    const section = (name: string): DebugSection | null => {
      const bytes = object.section(`.${name}`);
      return bytes === null ? null : { bytes, references: new Map() };
    };
    return { object, lines: linesOf(section) };
  } catch {
    // A file that cannot be read has no names; the addresses are of no use to anybody.
    return null;
  }
}

function linesOf(section: (name: string) => DebugSection | null): LineTable {
  try {
    return new LineTable({ section });
  } catch (error) {
    if (error instanceof DwarfError || error instanceof RangeError) return new LineTable({ section: () => null });
    throw error;
  }
}

/** The files in a process, of the text of /proc/PID/maps. */
function mappedIn(maps: string): readonly Mapped[] {
  const bases = new Map<string, bigint>();
  return maps.split("\n").flatMap((line) => {
    const found = /^([0-9a-f]+)-([0-9a-f]+) \S+ ([0-9a-f]+) \S+ \d+ +(\/.*)$/.exec(line);
    if (found === null) return [];
    const [start, end, offset] = [1, 2, 3].map((i) => BigInt(`0x${found[i]!}`)) as [bigint, bigint, bigint];
    const path = found[4]!;
    if (!bases.has(path)) bases.set(path, start - offset);
    return { start, end, base: bases.get(path)!, path };
  });
}
