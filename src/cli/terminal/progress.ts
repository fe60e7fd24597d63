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
  #last = 0;
  #shown = false;

  constructor(terminal: Terminal) {
    this.#terminal = terminal;
  }

  begin(label: string): void {
    this.#label = label;
    this.#started = performance.now();
    this.#last = this.#started + patience.before - patience.terminal;
    if (!this.#terminal.interactive) this.#last = this.#started + 2 * patience.before - patience.elsewhere;
  }

  readonly update: NonNullable<LaunchRequest["onProgress"]> = ({ blocksDone, blocks, steps }) => {
    this.#show((seconds) => {
      const speed = steps === null ? "" : ` ${metric(steps)} steps, ${metric(steps / seconds)}/s,`;
      return `${this.#label}: block ${blocksDone} of ${blocks},${speed} ${seconds.toFixed(1)} s`;
    });
  };

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
      this.#terminal.err(line);
      return;
    }
    this.#shown = true;
    process.stderr.write(`\r\x1b[K${line.slice(0, this.#terminal.width - 1)}`);
  }

  end(): void {
    if (this.#shown) process.stderr.write("\r\x1b[K");
    this.#shown = false;
  }
}
