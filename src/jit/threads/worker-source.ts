import { numberOfReason } from "../abi/give-up-reasons.ts";
import type { NativeCode } from "../abi/native-code.ts";
import { maxMessage, mail, mailState, messageAt, maxValues, noBlock, valuesAt, word } from "./control.ts";

/**
 * Milliseconds that a batch of blocks should run: long compared to taking it, short compared to waiting for the last
 * one.
 */
export const batchMs = 1;

/** What a worker makes an instance of. It keeps that for launches of the same kernel, until it is told to forget it. */
export interface WorkerCode {
  /** Null where machine code runs instead. */
  readonly module: WebAssembly.Module | null;
  /** A module whose functions that one imports, or null. */
  readonly tiles: WebAssembly.Module | null;
  readonly memory: WebAssembly.Memory;
  /** Null where the module runs. */
  readonly native: NativeCode | null;
  /** The functions that the module imports; in mailboxes they are numbers, by their order here. */
  readonly functions: readonly string[];
  /** The function that reads the host's clock, which workers do by themselves; null if there is none. */
  readonly clock: string | null;
}

/** The message that makes a worker run blocks of a launch, as long as there are any. */
export interface Invitation {
  /** Whether to send a message when something has happened, since the launching thread does not wait for it. */
  readonly tells: boolean;
  /** Null: what the worker has been given last, and still has. */
  readonly code: WorkerCode | null;
  /** The context in which the worker runs blocks. */
  readonly context: number;
  readonly control: SharedArrayBuffer;
  /** Where the worker's mailbox begins. */
  readonly mailbox: number;
  /** How many threads share the blocks. */
  readonly threads: number;
  /** Whether blocks may wait for others. */
  readonly waits: boolean;
}

/**
 * The program of a worker. It is a text, so that it needs no file of its own wherever the library is installed, and
 * bundlers leave it alone. It knows nothing of kernels: all that is not WebAssembly happens in the launching thread.
 */
export const workerSource = `
const isNode = globalThis.process?.getBuiltinModule !== undefined;
const { parentPort = globalThis } = isNode ? process.getBuiltinModule("node:worker_threads") : {};
const stopped = Symbol();
// Not "gc": with --expose-gc there is one already, in workers too.
let collectAll;
const collect = () => {
  if (collectAll === undefined) {
    const { setFlagsFromString } = process.getBuiltinModule("node:v8");
    setFlagsFromString("--expose-gc");
    collectAll = process.getBuiltinModule("node:vm").runInNewContext("globalThis.gc");
    setFlagsFromString("--no-expose-gc");
    // Flags belong to the process: another worker, idle since the same moment, may have taken this one back.
    if (collectAll === undefined) setTimeout(collect, Math.random() * 20);
  }
  // What the message has brought that has woken the worker is garbage only afterwards.
  if (collectAll !== undefined) setTimeout(collectAll, 0);
};
const origin = BigInt(Math.floor(performance.timeOrigin)) * 1000000n;
const hostClock = () => origin + BigInt(Math.floor(performance.now() * 1e6));
let code = null;
let instance;
// Of the launch that runs.
let call;
const openNative = ({ addon, entry, imports }, memory, env) => {
  const { bindCode } = process.getBuiltinModule("node:module").createRequire(addon)(addon);
  const table = [() => env.giveUp(${numberOfReason("deepCalls")}), () => {}, ...imports.map((name) => env[name])];
  return { exports: { run: bindCode(entry, new Uint8Array(memory.buffer), table) } };
};
const open = () => {
  const { module, tiles, memory, native, functions, clock } = code;
  const env = { memory };
  functions.forEach((name, f) => (env[name] = (...values) => call(f, values)));
  if (clock !== null) env[clock] = hostClock;
  if (native !== null) return openNative(native, memory, env);
  if (tiles !== null) Object.assign(env, new WebAssembly.Instance(tiles, { env: { memory } }).exports);
  return new WebAssembly.Instance(module, { env });
};
parentPort.onmessage = ({ data }) => {
  if (data === null || data.code !== null) {
    code = data === null ? null : data.code;
    instance = undefined;
  }
  if (data === null) {
    call = undefined;
    if (isNode) collect();
    return;
  }
  const { tells, control, mailbox, threads, waits } = data;
  const words = new Int32Array(control);
  const mail = new Int32Array(control, mailbox);
  const numbers = new Float64Array(control, mailbox + ${valuesAt}, ${maxValues});
  const integers = new BigInt64Array(control, mailbox + ${valuesAt}, ${maxValues});
  const message = new Uint16Array(control, mailbox + ${messageAt}, ${maxMessage});
  const tell = () => {
    Atomics.add(words, ${word.events}, 1);
    Atomics.notify(words, ${word.events});
    if (tells) parentPort.postMessage(null);
  };
  const ask = (state) => {
    Atomics.store(mail, ${mail.state}, state);
    tell();
    while (Atomics.load(mail, ${mail.state}) === state) Atomics.wait(mail, ${mail.state}, state);
    if (Atomics.exchange(mail, ${mail.state}, ${mailState.empty}) === ${mailState.stop}) throw stopped;
  };
  call = (f, values) => {
    let wide = 0;
    values.forEach((value, i) => {
      if (typeof value === "bigint") {
        integers[i] = value;
        wide |= 1 << i;
      } else numbers[i] = value;
    });
    mail[${mail.function}] = f;
    mail[${mail.count}] = values.length;
    mail[${mail.wide}] = wide;
    ask(${mailState.call});
    return mail[${mail.wide}] === 0 ? numbers[0] : integers[0];
  };
  const fail = (error) => {
    const text = String(error).slice(0, ${maxMessage});
    message.fill(0);
    for (let i = 0; i < text.length; i++) message[i] = text.charCodeAt(i);
    try {
      ask(${mailState.failure});
    } catch {}
  };
  let { context } = data;
  const run = (from, to) => {
    let end = to;
    try {
      instance ??= open();
      end = instance.exports.run(context, from, to) >>> 0;
    } catch (error) {
      if (error !== stopped) fail(error);
    }
    if (end === to) {
      mail[${mail.done}] += to - from;
      Atomics.store(mail, ${mail.block}, ${noBlock});
      Atomics.add(words, ${word.done}, to - from);
      // After the last blocks the worker tells, too, that it takes part no more: one message says both.
      if (Atomics.load(words, ${word.next}) >>> 0 < Atomics.load(words, ${word.end}) >>> 0) tell();
    } else {
      ask(${mailState.stopped});
      context = mail[${mail.context}];
    }
  };
  let most = 1;
  const begin = () => {
    const from = Atomics.load(words, ${word.next}) >>> 0;
    const left = (Atomics.load(words, ${word.end}) >>> 0) - from;
    if (left <= 0 || context === 0) return false;
    const count = Math.min(most, Math.ceil(left / (2 * threads)));
    Atomics.store(mail, ${mail.block}, from);
    if (Atomics.compareExchange(words, ${word.next}, from | 0, (from + count) | 0) >>> 0 !== from) return true;
    const begun = performance.now();
    run(from, from + count);
    if (waits) most = 1;
    else if (performance.now() - begun < ${batchMs}) most *= 2;
    else most = Math.ceil(most / 2);
    return true;
  };
  const resume = () => {
    if (Atomics.load(words, ${word.waiting}) === 0) return false;
    ask(${mailState.free});
    context = mail[${mail.context}];
    if (mail[${mail.resumes}] === 0) return false;
    const block = mail[${mail.block}] >>> 0;
    run(block, block + 1);
    return true;
  };
  Atomics.store(mail, ${mail.present}, 1);
  for (;;) {
    const begun = begin();
    const resumed = resume();
    if (!begun && !resumed) break;
  }
  Atomics.store(mail, ${mail.block}, ${noBlock});
  Atomics.store(mail, ${mail.present}, 0);
  tell();
};
`;
