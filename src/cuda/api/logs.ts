import { errors, require } from "../base/errors.ts";
import { itemKind } from "../base/wire.ts";
import { lastText, wholeText } from "../state/logs.ts";
import type { Call, Handlers, Status } from "./call.ts";

/** Iterators are numbers of entries. Null stands for all that there are. */
function entriesFrom(call: Call) {
  const { logs } = call.process;
  return logs.from(call.address(0) === 0n ? 0 : call.host.u32(call.address(0)));
}

/** Lets the iterator go on after all that was read. */
function advance(call: Call): void {
  if (call.address(0) !== 0n) call.set32(call.address(0), call.process.logs.next);
}

/** function(data, level, message, length), what it is given as data, handle */
function register(call: Call): Status {
  const listener = { function: call.target(0), data: call.address(1) };
  const target = call.target(2);
  call.item(itemKind.callbacks, 0n);
  call.set64(target, call.process.logListeners.add(listener));
  return 0;
}

function unregister(call: Call): Status {
  const { logListeners } = call.process;
  logListeners.get(call.address(0), errors.invalidValue);
  logListeners.remove(call.address(0));
  return 0;
}

/** iterator, flags */
function current(call: Call): Status {
  require(call.uint(1) === 0);
  call.set32(call.target(0), call.process.logs.next);
  return 0;
}

/** iterator, path, flags */
function dumpToFile(call: Call): Status {
  require(call.uint(2) === 0);
  const text = wholeText(entriesFrom(call));
  try {
    call.process.writeFile(call.host.string(call.target(1)), text);
  } catch {
    return errors.invalidValue;
  }
  advance(call);
  return 0;
}

/** iterator, buffer, size: room for the text and its zero, and then the bytes of the text, flags */
function dumpToMemory(call: Call): Status {
  const [buffer, size] = [call.target(1), call.target(2)];
  require(call.uint(3) === 0);
  const room = Number(call.host.u64(size));
  const found = entriesFrom(call);
  const text = new TextEncoder().encode(lastText(found, room - 1));
  call.set64(size, text.length);
  if (text.length === 0 && found.lines.length > 0) return errors.invalidValue;
  if (room > 0) call.poke(buffer, Uint8Array.of(...text, 0));
  advance(call);
  return 0;
}

/** The log of errors, for the runtime (`cuda`) and for the driver (`cu`). */
export const logCalls = (prefix: string): Handlers => ({
  [`${prefix}LogsRegisterCallback`]: register,
  [`${prefix}LogsUnregisterCallback`]: unregister,
  [`${prefix}LogsCurrent`]: current,
  [`${prefix}LogsDumpToFile`]: dumpToFile,
  [`${prefix}LogsDumpToMemory`]: dumpToMemory,
});
