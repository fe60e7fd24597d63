import { existsSync, readFileSync, rmdirSync, unlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { entryPoints, Session } from "../../cuda/session.ts";
import type { HostFrame } from "../../cuda/base/host-frame.ts";
import { HostMemory } from "../../cuda/base/host-memory.ts";
import type { Recorder } from "../../cuda/record/recorder.ts";
import { CudaProcess } from "../../cuda/state/process.ts";
import type { EndedLaunch, ExecOptions } from "../../cuda/state/process-state.ts";
import type { Report } from "../../machine/reports/report.ts";
import { PtxDevice } from "../../runtime/device/ptx-device.ts";
import type { DeviceOptions } from "../../runtime/index.ts";
import { temporaryFolder } from "../temporary-folder.ts";
import { Channel } from "./channel.ts";
import { HostStacks } from "./host-stack.ts";
import type { Native } from "./native.ts";

/** What the server tells. */
export interface ServerEvents {
  readonly warn: (text: string) => void;
  /** `launchedAt`: the stack of the program at the launch, if calls are checked. */
  readonly onReports: (reports: readonly Report[], launchedAt: readonly HostFrame[]) => void;
  readonly onLaunch: (launch: EndedLaunch) => void;
  /** Called with each wrong access of the program's own code. */
  readonly onMisuse: (text: string) => void;
  /** Makes what writes down the launches of another process; null if nobody wants them. */
  readonly recorder: () => Recorder | null;
}

interface Client {
  readonly channel: Channel;
  readonly session: Session;
}

/** Milliseconds for which the thread waits outside of Node's own loop, at most. */
const waitMs = 20;

/**
 * Milliseconds for which it looks for the next message before it goes to sleep. Waking it takes some 50 microseconds,
 * and a program that copies a megabyte itself is back after as many.
 */
const lookMs = 0.1;

/** The server of a program and of the processes that it starts: each that uses CUDA has a device of its own. */
export class ExecServer {
  /** Where processes find it: the value of LANEWISE_EXEC. */
  readonly path: string;
  readonly #native: Native;
  readonly #options: ExecOptions;
  readonly #device: DeviceOptions;
  readonly #events: ServerEvents;
  readonly #entries: ReturnType<typeof entryPoints>;
  readonly #folder: string;
  readonly #listener: number;
  /** Is ready when workers or timers want Node's own loop to have its turn. */
  readonly #loop: number;
  readonly #clients: Client[] = [];
  readonly #greeting: number[] = [];
  #program = -1;
  #isClosed = false;

  constructor(native: Native, options: ExecOptions, device: DeviceOptions, events: ServerEvents) {
    this.#native = native;
    this.#options = options;
    this.#device = device;
    this.#events = events;
    this.#entries = entryPoints(native.names);
    this.#folder = temporaryFolder("lanewise-");
    this.path = join(this.#folder, "exec");
    this.#listener = native.addon.listen(this.path);
    this.#loop = native.addon.loopDescriptor();
    if (this.#listener < 0) throw new Error(`no socket can be made at ${this.path}`);
  }

  /** Serves until it is closed. `pid`: the program, whose end is noticed at once. */
  start(pid: number): void {
    this.#program = this.#native.addon.processDescriptor(pid);
    this.#native.addon.guard(pid, this.path);
    this.#turn();
  }

  /** Takes what processes have still said, and ends. */
  close(): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.#native.addon.unguard();
    for (const client of [...this.#clients]) this.#end(client);
    this.#native.addon.close(this.#listener);
    unlinkSync(this.path);
    rmdirSync(this.#folder);
  }

  /** Does what there is to do, waits a little for more, and lets Node do the same. */
  #turn = (): void => {
    if (this.#isClosed) return;
    const isBusy = this.#serve();
    if (isBusy && !this.#hasWorkers) while (this.#isAskedSoon() && this.#serve());
    else if (!isBusy) this.#wait();
    setImmediate(this.#turn);
  };

  /** Takes messages in turn. Returns whether there may be more. */
  #serve(): boolean {
    let isBusy = false;
    for (const { channel, session } of this.#clients) {
      for (let i = 0; i < 256; i++) {
        if (!channel.take(session.process.output, (message) => session.take(message))) break;
        isBusy = true;
      }
    }
    return isBusy;
  }

  /** Workers report to Node's loop: while they run, it has to have its turn soon. */
  get #hasWorkers(): boolean {
    return this.#clients.some(({ session: { process } }) => process.isActive && process.machine.memory.pending.areOpen);
  }

  /** Launches in slices go on as soon as Node's loop has its turn. */
  get #hasSlices(): boolean {
    return this.#clients.some(
      ({ session: { process } }) => process.isActive && process.machine.memory.pending.areInSlices,
    );
  }

  /** Whether a message comes within a moment: programs often call again at once, and going to sleep takes longer. */
  #isAskedSoon(): boolean {
    const end = performance.now() + lookMs;
    do {
      for (let i = 0; i < 64; i++) {
        for (const { channel } of this.#clients) if (channel.hasMessages) return true;
      }
      // Where others keep the processors busy, the program may be waiting for this one.
      this.#native.addon.yield();
    } while (performance.now() < end);
    return false;
  }

  #wait(): void {
    const { addon } = this.#native;
    const awake = this.#clients.every(({ channel }) => channel.sleep());
    const greeting = [...this.#greeting];
    const clients = [...this.#clients];
    const own = [this.#listener, this.#loop, ...(this.#program < 0 ? [] : [this.#program])];
    const fds = Int32Array.from([...own, ...greeting, ...clients.map(({ channel }) => channel.fd)]);
    const ready = new Int32Array(fds.length);
    const isPolling = clients.some(({ session }) => session.process.isPolling);
    addon.poll(fds, ready, !awake || this.#hasSlices ? 0 : isPolling ? 1 : waitMs);
    for (const { channel } of clients) channel.awake();
    if (ready[0] !== 0) this.#accept();
    greeting.forEach((fd, i) => {
      if (ready[own.length + i] !== 0) this.#greet(fd);
    });
    clients.forEach((client, i) => {
      if (ready[own.length + greeting.length + i] !== 0 && this.#hasEnded(client.channel.fd)) this.#end(client);
    });
  }

  #accept(): void {
    const fd = this.#native.addon.accept(this.#listener);
    if (fd >= 0) this.#greeting.push(fd);
  }

  /** Reads what a new process says of itself, and gives it its memory. */
  #greet(fd: number): void {
    const { addon } = this.#native;
    const into = new Uint8Array(1024);
    const got = addon.receive(fd, into);
    this.#greeting.splice(this.#greeting.indexOf(fd), 1);
    if (got <= 0) {
      addon.close(fd);
      return;
    }
    const text = new TextDecoder().decode(into.subarray(0, got));
    const [numbers = "", visible = ""] = text.split("\n");
    const [, , isSet] = numbers.split(" ").map(Number);
    const pid = addon.peer(fd);
    const recorder = this.#events.recorder();
    const channel = new Channel(addon, fd, pid, this.#options.checksCalls === true || recorder !== null);
    const stacks = new HostStacks(pid);
    const process = new CudaProcess(this.#options, {
      host: new HostMemory(channel.host),
      makeDevice: () => new PtxDevice({ ...this.#device, underlay: channel.underlay }),
      readFile: (path) => (existsSync(path) ? readFileSync(path) : null),
      writeFile: (path, text) => writeFileSync(path, text),
      visibleDevices: isSet === 1 ? visible : null,
      warn: this.#events.warn,
      onReports: this.#events.onReports,
      noteStack: (addresses) => stacks.note(addresses),
      describeStack: (addresses) => stacks.describe(addresses),
      onLaunch: this.#events.onLaunch,
      onMisuse: this.#events.onMisuse,
      recorder,
      onState: (state) => channel.publish(state),
    });
    this.#clients.push({ channel, session: new Session(process, this.#entries) });
  }

  /** Takes the bytes by which a process has woken the server. Returns whether it has closed. */
  #hasEnded(fd: number): boolean {
    const into = new Uint8Array(256);
    for (;;) {
      const got = this.#native.addon.receive(fd, into);
      if (got === 0) return true;
      if (got < 0) return got !== eagain;
    }
  }

  /** A process has ended: what it has still asked for is done. */
  #end(client: Client): void {
    const { channel, session } = client;
    while (channel.take(session.process.output, (message) => session.take({ ...message, reply: null })));
    for (const leak of session.process.leaks) this.#events.warn(leak);
    this.#clients.splice(this.#clients.indexOf(client), 1);
    channel.close();
  }
}

const eagain = -11;
