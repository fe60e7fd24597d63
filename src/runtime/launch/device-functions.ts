import { plainAccess } from "../../ir/index.ts";
import { accessFault } from "../../machine/faults/access-fault.ts";
import { Fault } from "../../machine/faults/fault.ts";
import { locate } from "../../machine/faults/locate.ts";
import { stackOf, threadOf } from "../../machine/faults/report-sink.ts";
import { parts } from "../../machine/memory/address-space.ts";
import type { ExternalCall, ExternalFunction } from "../../machine/state/externals.ts";
import { viewOf } from "../data/element.ts";
import { formatPrintf, type PrintfArguments } from "./printf.ts";
import type { providedNames } from "./provided-names.ts";

/** Strings without a terminating zero are cut off here. */
const maxString = 1 << 20;

/** Returns a copy of `size` bytes at a generic address, as the calling lane sees it. Faults like a load from there. */
function readBytes({ x, lane, site }: ExternalCall, address: bigint, size: number): Uint8Array {
  const at = parts(address);
  const place = locate(x, lane, at);
  const access = plainAccess("generic", 8, size);
  const fault = accessFault({ x, lane, site, effect: "load", access, address: at, place });
  if (fault) throw fault;
  const start = place!.at + at.low - place!.start;
  return place!.views.u8.slice(start, start + size);
}

/** The string at a generic address, one character per byte, up to its zero or the end of the memory around it. */
function readString(call: ExternalCall, address: bigint): string {
  const first = readBytes(call, address, 1);
  const at = parts(address);
  const place = locate(call.x, call.lane, at)!;
  const longest = Math.min(place.end - at.low, maxString);
  const start = place.at + at.low - place.start;
  const bytes = first[0] === 0 ? new Uint8Array() : place.views.u8.subarray(start, start + longest);
  const end = bytes.indexOf(0);
  return latin1(end < 0 ? bytes : bytes.subarray(0, end));
}

function latin1(bytes: Uint8Array): string {
  let text = "";
  for (let at = 0; at < bytes.length; at += 4096) text += String.fromCharCode(...bytes.subarray(at, at + 4096));
  return text;
}

const utf8 = new TextDecoder();

/** The arguments of vprintf, each aligned to its own size. */
class ArgumentBuffer implements PrintfArguments {
  readonly #call: ExternalCall;
  readonly #address: bigint;
  #offset = 0;
  count = 0;

  constructor(call: ExternalCall, address: bigint) {
    this.#call = call;
    this.#address = address;
  }

  #next(size: number): DataView {
    const at = Math.ceil(this.#offset / size) * size;
    this.#offset = at + size;
    this.count++;
    return viewOf(readBytes(this.#call, this.#address + BigInt(at), size));
  }

  int(): number {
    return this.#next(4).getInt32(0, true);
  }
  long(): bigint {
    return this.#next(8).getBigInt64(0, true);
  }
  double(): number {
    return this.#next(8).getFloat64(0, true);
  }
  string(): string {
    return readString(this.#call, BigInt.asUintN(64, this.long()));
  }
}

/** `int vprintf(const char *format, void *args)`: returns the number of arguments, or -1 without a format. */
const vprintf: ExternalFunction = (call) => {
  const [format = 0n, args = 0n] = call.args;
  if (format === 0n) return -1n;
  const buffer = new ArgumentBuffer(call, args);
  const text = formatPrintf(readString(call, format), buffer);
  call.x.warp.cta.grid.print(utf8.decode(Uint8Array.from(text, (c) => c.charCodeAt(0))));
  return BigInt(buffer.count);
};

/** `void *malloc(size_t size)` returns null if the memory is exhausted. */
const malloc: ExternalFunction = ({ x, lane, site, args: [size = 0n] }) => {
  const { memory, addresses, id: launch, kernel } = x.warp.cta.grid;
  if (size > 0xffff_ffffn) return 0n;
  try {
    // The origin is needed only by the sanitizer that keeps freed memory.
    const stack = memory.quarantine ? stackOf(site, x) : [];
    const { code, instruction } = site;
    const origin = { launch, kernel, function: code.ir, instruction, thread: threadOf(x, lane), stack };
    const offset = memory.alloc(Number(size), `the ${size} bytes that malloc gave`, { origin });
    memory.heap.add(offset);
    return addresses.global(offset);
  } catch (error) {
    if (error instanceof RangeError) return 0n;
    throw error;
  }
};

/** `void free(void *ptr)` accepts null. */
const free: ExternalFunction = ({ x, lane, site, args: [pointer = 0n] }) => {
  if (pointer === 0n) return 0n;
  const { memory, addresses } = x.warp.cta.grid;
  const offset = Number(BigInt.asIntN(64, pointer - addresses.global(0)));
  if (memory.heap.delete(offset) && memory.free(offset)) return 0n;
  throw new Fault(
    "invalid-free",
    `free is given 0x${pointer.toString(16)}, which malloc did not give, or which has been freed`,
    { site, activation: x, lanes: 1 << lane },
    { help: "device code may free only what device code has allocated, and that once" },
  );
};

/** `void __assertfail(const char *message, const char *file, unsigned line, const char *function, size_t charSize)` */
const assertFail: ExternalFunction = (call) => {
  const [message = 0n, file = 0n, line = 0n, name = 0n] = call.args;
  const text = (address: bigint): string => (address === 0n ? "?" : readString(call, address));
  throw new Fault(
    "assertion-failed",
    `assertion \`${text(message)}\` failed in ${text(name)} (${text(file)}:${line})`,
    {
      site: call.site,
      activation: call.x,
      lanes: 1 << call.lane,
    },
  );
};

const bodies: Readonly<Record<(typeof providedNames)[number], ExternalFunction>> = {
  vprintf,
  malloc,
  free,
  __assertfail: assertFail,
};

/** The functions that the machine provides to device code, by name. */
export const deviceFunctions: ReadonlyMap<string, ExternalFunction> = new Map(Object.entries(bodies));
