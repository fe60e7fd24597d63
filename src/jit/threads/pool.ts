import { type HostWorker, hostCores, startWorker } from "./host-workers.ts";
import { type Invitation, workerSource } from "./worker-source.ts";

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
}

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
  invite(launch: Launch, count: number, invitation: (member: number) => Invitation): number {
    const idle = this.#workers.filter((w) => w.launches.size === 0).length;
    const most = Math.max(count, hostCores());
    for (let missing = Math.min(count - idle, most - this.size); missing > 0 && !this.#refused; missing--)
      this.#start();
    const chosen = [...this.#workers].sort((a, b) => a.launches.size - b.launches.size).slice(0, count);
    chosen.forEach(({ host, launches }, member) => {
      const message = invitation(member);
      launches.add(launch);
      if (message.tells) host.hold(true);
      host.post(message);
    });
    return chosen.length;
  }

  /** The launch has ended. */
  dismiss(launch: Launch): void {
    for (const { host, launches } of this.#workers) {
      if (launches.delete(launch) && launches.size === 0) host.hold(false);
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
      this.#workers.push({ host: startWorker(workerSource, { onMessage: look, onEnd: lost }), launches });
    } catch {
      this.#refused = true;
    }
  }
}

/** The pool of this process. */
export const workerPool = new WorkerPool();
