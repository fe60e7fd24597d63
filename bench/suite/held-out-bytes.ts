import * as model from "./held-out-models.ts";
import { inPlace, input, int, integers, output, type UntunedRow } from "./kernel.ts";

/** Of the kernels that are held out, those that work on bytes: pictures and texts. */
export const byteRows: readonly UntunedRow[] = [
  {
    name: "life",
    title: "4 generations of the game of life on 1024 by 1024 bytes whose edges meet",
    size: 1024,
    quickSize: 32,
    results: ["a", "b"],
    tolerance: 0,
    plan: (n) => {
      const generations = 4;
      const launches = Array.from({ length: generations }, (_, step) => ({
        kernel: "life",
        grid: [n / 32, n / 8] as const,
        block: [32, 8] as const,
        args: [int(n), ...(step % 2 === 0 ? ["a", "b"] : ["b", "a"])],
      }));
      return {
        buffers: { a: inPlace("u8", n * n, integers(1, 2)), b: output("u8", n * n) },
        launches,
        sizes: [n, generations],
      };
    },
    model: model.life,
  },
  {
    name: "median",
    title: "medians of 3 by 3 bytes, 2048 by 2048, clamped at the borders",
    size: 2048,
    quickSize: 32,
    results: ["out"],
    tolerance: 0,
    plan: (n) => ({
      buffers: { in: input("u8", n * n, integers(1, 256)), out: output("u8", n * n) },
      launches: [{ kernel: "median", grid: [n / 32, n / 8], block: [32, 8], args: [int(n), "in", "out"] }],
      sizes: [n],
    }),
    model: model.median,
  },
  {
    name: "substring",
    title: "where a pattern of 6 letters begins in a text of 4M",
    size: 1 << 22,
    quickSize: 20_000,
    results: ["found"],
    tolerance: 0,
    plan: (n) => ({
      buffers: { text: input("u8", n, integers(1, 4)), found: output("u8", n) },
      launches: [{ kernel: "substring", grid: [Math.ceil(n / 256)], block: [256], args: [int(n), "text", "found"] }],
      sizes: [n],
    }),
    model: model.substring,
  },
  {
    name: "local-alignment",
    title: "best local alignments of 256 pairs of 64 letters, one pair a block",
    size: 256,
    quickSize: 3,
    results: ["best"],
    tolerance: 0,
    plan: (n) => ({
      buffers: {
        a: input("u8", 64 * n, integers(1, 4)),
        b: input("u8", 64 * n, integers(2, 4)),
        best: output("s32", n),
      },
      launches: [{ kernel: "local_alignment", grid: [n], block: [64], args: ["a", "b", "best"] }],
      sizes: [n],
    }),
    model: model.localAlignment,
  },
  {
    name: "edit-distance",
    title: "edit distances of 4K pairs of words of 32 letters, with a row of bytes in each thread",
    size: 4096,
    quickSize: 64,
    results: ["distances"],
    tolerance: 0,
    plan: (n) => ({
      buffers: {
        a: input("u8", 32 * n, integers(1, 4)),
        b: input("u8", 32 * n, integers(2, 4)),
        distances: output("s32", n),
      },
      launches: [
        { kernel: "edit_distance", grid: [Math.ceil(n / 64)], block: [64], args: [int(n), "a", "b", "distances"] },
      ],
      sizes: [n],
    }),
    model: model.editDistance,
  },
];
