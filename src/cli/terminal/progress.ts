import { writeSync } from "node:fs";
import type { LaunchRequest } from "../../machine/launch.ts";
import type { Terminal } from "./terminal.ts";

/**
 * In milliseconds: how long a run may take before progress is shown, and the time between two updates on a terminal or
 * two lines elsewhere.
 */
const patience = { before: 1000, terminal: 200, elsewhere: 10_000 };

const metric = (n: number): string =>
  n < 1000
    ? n.toFixed(0)
    : n < 1e6
      ? `${(n / 1e3).toFixed(1)} k`
      : n < 1e9
        ? `${(n / 1e6).toFixed(1)} M`
        : `${(n / 1e9).toFixed(1)} G`;

/**
 * Shows the progress of long runs on stderr: on a terminal as one line that is erased at the end, elsewhere as a line
 * from time to time.
 */
export class Progress {
  readonly #terminal: Terminal;
  #label = "";
  #started = 0;
  /** Of the launch that runs: when it began, its blocks, and those done. */
  #launched = 0;
  #blocks = 0;
  #blocksDone = 0;
  #last = 0;
  #shown = false;
  /** Notes of a run that may still end before anybody would wait for them. */
  #notes: string[] = [];

  constructor(terminal: Terminal) {
    this.#terminal = terminal;
  }

  begin(label: string): void {
    this.#label = label;
    this.#notes = [];
    this.#started = performance.now();
    this.#launched = this.#started;
    this.#blocks = this.#blocksDone = 0;
    this.#last = this.#started + patience.before - patience.terminal;
    if (!this.#terminal.interactive) this.#last = this.#started + 2 * patience.before - patience.elsewhere;
  }

  readonly update: NonNullable<LaunchRequest["onProgress"]> = ({ blocksDone, blocks, steps }) => {
    this.#flush();
    const now = performance.now();
    // Another launch has begun.
    if (blocksDone < this.#blocksDone || (this.#blocks !== 0 && blocks !== this.#blocks)) this.#launched = now;
    this.#blocks = blocks;
    this.#blocksDone = blocksDone;
    const left = remaining(now - this.#launched, blocksDone, blocks);
    this.#show((seconds) => {
      const speed = steps === null ? "" : ` ${metric(steps)} steps, ${metric(steps / seconds)}/s,`;
      return `${this.#label}: block ${blocksDone} of ${blocks},${speed} ${seconds.toFixed(1)} s${left}`;
    });
  };

  /** Prints a line about a run that takes long, as soon as it does. What a run ends with is printed elsewhere. */
  note(text: string): void {
    this.#notes.push(text);
    this.#flush();
  }

  #flush(): void {
    if (this.#notes.length === 0 || performance.now() - this.#started < patience.before) return;
    this.#erase();
    for (const note of this.#notes.splice(0)) write(`${note}\n`);
  }

  /** Reports that one of several steps is done. */
  step(done: string): void {
    this.#show((seconds) => `${this.#label}: ${done}, ${seconds.toFixed(1)} s`);
  }

  #show(describe: (seconds: number) => string): void {
    const now = performance.now();
    if (now - this.#last < (this.#terminal.interactive ? patience.terminal : patience.elsewhere)) return;
    this.#last = now;
    const line = describe((now - this.#started) / 1000);
    if (!this.#terminal.interactive) {
      write(`${line}\n`);
      return;
    }
    this.#shown = true;
    write(`\r\x1b[K${line.slice(0, this.#terminal.width - 1)}`);
  }

  end(): void {
    this.#notes = [];
    this.#erase();
  }

  #erase(): void {
    if (this.#shown) write("\r\x1b[K");
    this.#shown = false;
  }
}

/**
 * Writes to stderr. Ctrl-C may end a run while it does, and would leave the stream `process.stderr` between two states.
 */
function write(text: string): void {
  try {
    writeSync(2, text);
  } catch {
    // A pipe is full or closed: progress may be missed.
  }
}

/** An estimate of the time that is left, as the end of a line: empty before there is reason for one. */
export function remaining(elapsedMs: number, done: number, all: number): string {
  if (done === 0 || done >= all || elapsedMs < patience.before) return "";
  const seconds = (elapsedMs / 1000 / done) * (all - done);
  const shown =
    seconds < 100
      ? `${Math.max(1, Math.round(seconds))} s`
      : seconds < 6000
        ? `${Math.round(seconds / 60)} min`
        : `${(seconds / 3600).toFixed(1)} h`;
  return `, about ${shown} left`;
}
