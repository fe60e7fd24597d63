import { expect, test } from "vitest";
import { Stream, Streams } from "../../src/cuda/work/stream.ts";

// cudaStreamDestroy: the call returns at once, and the work that is left in the stream is done; cudaDeviceSynchronize
// waits for all that was asked for.
test.each(["blocking", "non-blocking"] as const)(
  "the device waits for work of a %s stream that was removed",
  async (kind) => {
    const streams = new Streams(0);
    const stream = streams.add(new Stream(kind, 0));
    let end = (): void => {};
    streams.enqueue(stream, () => new Promise<void>((resolve) => (end = resolve)));
    streams.remove(stream);
    const ended = streams.ended();
    expect(ended).not.toBe(null);
    end();
    await ended;
    expect(streams.ended()).toBe(null);
  },
);
