import { type HostWorker, hostCores, later, startWorker } from "./host-workers.ts";
import { type Invitation, type WorkerCode, workerSource } from "./worker-source.ts";

/** A launch that workers take part in. */
export interface Launch {
  /** A worker has sent a message: something has happened. */
  look(): void;
  /** One of the workers has ended. */
  lost(reason: unknown): void;
}

interface PoolWorker {
  readonly host: HostWorker;
  /** Launches that it takes part in. */
  readonly launches: Set<Launch>;
  /** What it has been given last, and keeps. */
  code: WorkerCode | null;
  /** Takes back that it is to forget that soon; null while it is not. */
  keep: (() => void) | null;
}

/**
 * Milliseconds without a launch after which a worker forgets what it has run, and in Node collects its garbage: the
 * memories of devices that are no longer used elsewhere. V8 does not count shared memory, and might keep it for long.
 */
const idleMs = 50;

const isSame = (a: WorkerCode, b: WorkerCode): boolean =>
  a.module === b.module &&
  a.memory === b.memory &&
  a.tiles === b.tiles &&
  a.native?.entry === b.native?.entry &&
  a.clock === b.clock;

/** The workers of a process: started when they are needed, and kept. They alone do not keep the process alive. */
class WorkerPool {
  #workers: PoolWorker[] = [];
  /** Whether the host has refused to start a worker; it is not asked again. */
  #refused = false;

  /** Workers that have been started. */
  get size(): number {
    return this.#workers.length;
  }

  /** Invites up to `count` workers, the least busy first. Returns how many there were. */
  invite(
    launch: Launch,
    count: number,
    code: WorkerCode,
    invitation: (member: number) => Omit<Invitation, "code">,
  ): number {
    const idle = this.#workers.filter((w) => w.launches.size === 0).length;
    const most = Math.max(count, hostCores());
    for (let missing = Math.min(count - idle, most - this.size); missing > 0 && !this.#refused; missing--)
      this.#start();
    const chosen = [...this.#workers].sort((a, b) => a.launches.size - b.launches.size).slice(0, count);
    chosen.forEach((worker, member) => {
      const { host, launches } = worker;
      const message = invitation(member);
      launches.add(launch);
      worker.keep?.();
      worker.keep = null;
      if (message.tells) host.hold(true);
      const isKnown = worker.code !== null && isSame(worker.code, code);
      worker.code = code;
      host.post({ ...message, code: isKnown ? null : code } satisfies Invitation);
    });
    return chosen.length;
  }

  /** The launch has ended. */
  dismiss(launch: Launch): void {
    for (const worker of this.#workers) {
      const { host, launches } = worker;
      if (!launches.delete(launch) || launches.size > 0) continue;
      host.hold(false);
      worker.keep = later(idleMs, () => {
        worker.code = worker.keep = null;
        host.post(null);
      });
    }
  }

  #start(): void {
    const launches = new Set<Launch>();
    const lost = (reason: unknown): void => {
      if (reason === null) this.#refused = true;
      this.#workers = this.#workers.filter((w) => w.launches !== launches);
      const concerned = [...launches];
      launches.clear();
      for (const launch of concerned) launch.lost(reason);
    };
    const look = (): void => {
      for (const launch of [...launches]) launch.look();
    };
    try {
      const host = startWorker(workerSource, { onMessage: look, onEnd: lost });
      this.#workers.push({ host, launches, code: null, keep: null });
    } catch {
      this.#refused = true;
    }
  }
}

/** The pool of this process. */
export const workerPool = new WorkerPool();
