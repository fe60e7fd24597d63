import type { Message, Reply } from "../../cuda/session.ts";
import { headerWord, type Item, itemKind, message, wire } from "../../cuda/base/wire.ts";
import type { PublishedState } from "../../cuda/state/process-state.ts";
import type { Underlay } from "../../machine/memory/underlay.ts";
import type { HostAccess } from "../../cuda/base/host-memory.ts";
import type { NativeAddon } from "./native.ts";

const slotHeaderBytes = 16;
const messageHeaderBytes = 16;

/** The first word of a slot: the answer is there; or its thread has gone to sleep, and has to be woken. */
const slotState = { done: 1, asleep: 2 } as const;

/** Where what kernels have printed comes from. */
export interface TextSource {
  readonly isEmpty: boolean;
  take(most: number): Uint8Array;
}

/** The connection to one process: the memory that it shares with the server, and the messages in it. */
export class Channel {
  readonly fd: number;
  readonly pid: number;
  /** The descriptor of the device's memory. */
  readonly arena: number;
  readonly #addon: NativeAddon;
  readonly #words: Int32Array;
  readonly #bytes: Uint8Array;
  readonly #view: DataView;

  /** `stacks`: whether calls are to come with the stack of the program. */
  constructor(addon: NativeAddon, fd: number, pid: number, stacks: boolean) {
    this.#addon = addon;
    this.fd = fd;
    this.pid = pid;
    const control = addon.memory(wire.controlBytes);
    this.arena = addon.memory(wire.arenaBytes);
    const buffer = addon.map(control, wire.controlBytes);
    if (buffer === undefined || this.arena < 0) throw new Error("the system gives no shared memory");
    this.#words = new Int32Array(buffer);
    this.#bytes = new Uint8Array(buffer);
    this.#view = new DataView(buffer);
    this.#words[headerWord.version] = wire.version;
    this.#words[headerWord.stacks] = stacks ? 1 : 0;
    addon.sendDescriptors(fd, control, this.arena);
    addon.close(control);
  }

  /** The memory of the process. */
  get host(): HostAccess {
    const { pid } = this;
    const addon = this.#addon;
    return {
      read: (address, into) => addon.read(pid, address, into, 0, into.length) === into.length,
      write: (address, bytes) => addon.write(pid, address, bytes, 0, bytes.length) === bytes.length,
    };
  }

  /** Whether there are messages. */
  get hasMessages(): boolean {
    return Atomics.load(this.#words, headerWord.head) !== Atomics.load(this.#words, headerWord.tail);
  }

  /** Passes on the next message, whose data is valid during the call. Returns whether there was one. */
  take(text: TextSource, use: (message: Message) => void): boolean {
    while (this.hasMessages) {
      const tail = Atomics.load(this.#words, headerWord.tail) >>> 0;
      const at = wire.ringAt + (tail % wire.ringBytes);
      const size = this.#view.getUint32(at, true);
      if (this.#view.getUint32(at + 4, true) === message.pad) {
        this.#advance(size);
        continue;
      }
      const slot = this.#view.getUint32(at + 12, true);
      use({
        index: this.#view.getUint32(at + 4, true),
        thread: this.#view.getUint32(at + 8, true),
        data: this.#bytes.subarray(at + messageHeaderBytes, at + size),
        reply: slot === 0 ? null : this.#replyTo(slot - 1, text),
      });
      this.#advance(size);
      return true;
    }
    return false;
  }

  #advance(bytes: number): void {
    const tail = Atomics.load(this.#words, headerWord.tail);
    Atomics.store(this.#words, headerWord.tail, (tail + bytes) | 0);
    // Who waits for room waits for the half of the ring: it is woken once, and then there is much to do at a time.
    const used = (Atomics.load(this.#words, headerWord.head) - tail) >>> 0;
    const isCrossed = used > wire.ringBytes / 2 && used - bytes <= wire.ringBytes / 2;
    if (isCrossed) this.#addon.wake(this.#words, headerWord.tail);
  }

  #replyTo(slot: number, text: TextSource): Reply {
    return (answer) => {
      const start = wire.slotsAt + slot * wire.slotBytes;
      const items = answer.showsOutput ? [...answer.items, ...this.#texts(text)] : answer.items;
      let at = start + slotHeaderBytes;
      for (const item of items) at = this.#putItem(at, item);
      this.#view.setUint32(start + 4, at - start - slotHeaderBytes, true);
      this.#view.setBigUint64(start + 8, BigInt(answer.result), true);
      const was = Atomics.exchange(this.#words, start >> 2, slotState.done);
      if (was === slotState.asleep) this.#addon.wake(this.#words, start >> 2);
    };
  }

  #putItem(at: number, { kind, address, data }: Item): number {
    if (at % wire.slotBytes > wire.slotBytes - 16 - data.length) throw new Error("an answer does not fit its slot");
    this.#view.setUint32(at, kind, true);
    this.#view.setUint32(at + 4, data.length, true);
    this.#view.setBigUint64(at + 8, address, true);
    this.#bytes.set(data, at + 16);
    return at + 16 + Math.ceil(data.length / 8) * 8;
  }

  /** What has been printed goes to the text area, if the client has written out what was there. */
  #texts(text: TextSource): readonly Item[] {
    if (text.isEmpty || Atomics.load(this.#words, headerWord.textBusy) !== 0) return [];
    const bytes = text.take(wire.textBytes);
    this.#bytes.set(bytes, wire.textAt);
    Atomics.store(this.#words, headerWord.textBusy, 1);
    return [{ kind: itemKind.print, address: BigInt(bytes.length), data: new Uint8Array() }];
  }

  /** Says that the server is about to wait. False if there is something to do first. */
  sleep(): boolean {
    Atomics.store(this.#words, headerWord.sleeping, 1);
    if (!this.hasMessages) return true;
    Atomics.store(this.#words, headerWord.sleeping, 0);
    return false;
  }

  awake(): void {
    Atomics.store(this.#words, headerWord.sleeping, 0);
  }

  /** Publishes what the client has to know at all times. */
  publish({ oneWay, error, removedStreams }: PublishedState): void {
    Atomics.store(this.#words, headerWord.removedStreams, removedStreams);
    Atomics.store(this.#words, headerWord.oneWay, oneWay ? 1 : 0);
    Atomics.store(this.#words, headerWord.sticky, error);
    Atomics.store(this.#words, headerWord.stickyDriver, error);
  }

  /** The memory that the process maps too, for that of a device to lie over it. */
  get underlay(): Underlay {
    return {
      put: (memory, from) => {
        const bytes = new Uint8Array(memory.buffer);
        if (this.#addon.mapOver(bytes, from, bytes.length, this.arena) !== 0) {
          throw new Error("the system does not put shared memory under WebAssembly's");
        }
      },
      release: (from, bytes) => this.#addon.release(this.arena, from, bytes) === 0,
    };
  }

  close(): void {
    this.#addon.close(this.fd);
    this.#addon.close(this.arena);
  }
}
