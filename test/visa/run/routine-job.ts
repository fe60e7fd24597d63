/** A program to run, whose kernel `k` has the inputs that `program.ts` names. */
interface Routine {
  readonly id: string;
  readonly platform: string;
  readonly width: number;
  /** The files of its functions, the kernel's first. */
  readonly modules: readonly string[];
  /** Work items of the launch and of a group. */
  readonly items: number;
  readonly group: number;
}

/** A job, as the text of its file, with one variant and 256 words to write to. */
export function routineJob({ id, platform, width, modules, items, group }: Routine): string {
  return JSON.stringify({
    id,
    isa: "visa",
    platform,
    simd: width,
    variants: { [`${platform.toLowerCase()}.simd${width}`]: { modules, simd: width } },
    inputs: [
      { name: "OUT", kind: "arg", type: "u64", buf: "out" },
      { name: "STK", kind: "stack", type: "u64", bytes_per_thread: 4096 },
      { name: "ID", kind: "lane-id", type: "u32", n: width },
    ],
    buffers: { out: { type: "u32", n: 256, init: { gen: "zero" } } },
    launches: [{ kernel: "k", global: [items, 1, 1], local: [group, 1, 1], args: [{ buf: "out" }] }],
    checks: [],
  });
}
