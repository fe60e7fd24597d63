import { Fault } from "../../machine/faults/fault.ts";
import { locate } from "../../machine/faults/locate.ts";
import { parts } from "../../machine/memory/address-space.ts";
import type { ExternalCall, ExternalFunction } from "../../machine/state/externals.ts";
import { viewOf } from "../data/element.ts";
import { deviceWorkFunctions } from "./device-work-functions.ts";
import { free, malloc } from "./device-heap.ts";
import { readBytes } from "./lane-memory.ts";
import { formatPrintf, type PrintfArguments } from "./printf.ts";
import type { providedNames } from "./provided-names.ts";

/** Strings without a terminating zero are cut off here. */
const maxString = 1 << 20;

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
  ...deviceWorkFunctions,
};

/** The functions that the machine provides to device code, by name. */
export const deviceFunctions: ReadonlyMap<string, ExternalFunction> = new Map(Object.entries(bodies));
