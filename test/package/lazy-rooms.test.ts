import { execFileSync } from "node:child_process";
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { expect, test } from "vitest";

const dist = new URL("../../dist/", import.meta.url).pathname;
const allRooms = readdirSync(join(dist, "lazy/rooms"), "utf8").flatMap((file) => /^(.*)\.cjs$/.exec(file)?.[1] ?? []);
const entries = [
  "index",
  "debugger/index",
  "ide/index",
  "ir/index",
  "node/index",
  "ptx/index",
  "source/index",
  "visa/index",
];

/** The files that Node reads when it loads one, which is among them. */
function filesRead(first: string): ReadonlySet<string> {
  const files = new Set([first]);
  // A set may grow while it is iterated. Files that are loaded late have no constant of their own.
  for (const file of files) {
    for (const [, name] of readFileSync(file, "utf8").matchAll(/(?:\bfrom |= require\()"(\.[^"]+)"/g)) {
      files.add(join(dirname(file), name!));
    }
  }
  return files;
}

const bytesOf = (files: Iterable<string>): number =>
  Array.from(files, (file) => statSync(file).size).reduce((sum, size) => sum + size, 0);

test("in Node, importing the library reads no room that is loaded late", () => {
  const early = filesRead(join(dist, "lazy/index.js"));
  expect(early.size).toBeGreaterThan(4);
  const rooms = allRooms.map((room) => join(dist, `lazy/rooms/${room}.cjs`));
  for (const room of rooms) expect(early).not.toContain(room);
  const everything = new Set([...early, ...rooms.flatMap((room) => [...filesRead(room)])]);
  expect(bytesOf(early)).toBeLessThan(bytesOf(everything) / 3);
});

test.each(entries)("lanewise/%s exports the same in Node and in browsers", async (entry) => {
  const inNode = (await import(join(dist, `lazy/${entry.replace(/\/index$/, "")}.js`))) as object;
  const inBrowsers = (await import(join(dist, `${entry}.js`))) as object;
  expect(Object.keys(inNode)).toEqual(Object.keys(inBrowsers));
});

/** Launches a kernel whose threads add 1, with `options` of a launch, and prints which rooms Node has read. */
const launching = (store: string, options: string): string => `
  import { createRequire } from "node:module";
  import { basename } from "node:path";
  import { Device } from ${JSON.stringify(join(dist, "lazy/index.js"))};
  import { openKernelFolder } from ${JSON.stringify(join(dist, "lazy/node.js"))};
  const text = \`.version 8.0
    .target sm_80
    .address_size 64
    .visible .entry add(.param .u64 at)
    {
      .reg .b32 %r<3>; .reg .b64 %rd<4>;
      ld.param.u64 %rd1, [at]; mov.u32 %r1, %tid.x; mul.wide.u32 %rd2, %r1, 4; add.u64 %rd3, %rd1, %rd2;
      ld.global.u32 %r2, [%rd3]; add.u32 %r2, %r2, 1; st.global.u32 [%rd3], %r2;
      ret;
    }\`;
  const device = new Device({ kernelStore: openKernelFolder({ path: ${JSON.stringify(store)} }) });
  const numbers = device.buffer(new Uint32Array(64).fill(5));
  const result = device.load(text).kernel("add").launch({ grid: 1, block: 64, args: [numbers], ...${options} });
  if (!result.ok || numbers.read().some((n) => n !== 6)) throw new Error("a wrong result");
  const read = Object.keys(createRequire(import.meta.url).cache).filter((path) => path.includes("/lazy/rooms/"));
  console.log(read.map((path) => basename(path, ".cjs")).sort().join(" "));`;

test("in Node, a launch of a kernel that a store has kept reads neither the compiler nor the interpreter", () => {
  const store = mkdtempSync(join(tmpdir(), "lanewise-rooms-"));
  const roomsRead = (options = "{}"): string =>
    execFileSync(process.execPath, ["--input-type=module", "--eval", launching(store, options)], {
      encoding: "utf8",
    }).trim();
  try {
    expect(roomsRead()).toBe("compiler engines ptx");
    expect(roomsRead()).toBe("engines ptx");
    expect(roomsRead('{ engine: "interpreter" }')).toBe("engines interpreter ptx");
    expect(roomsRead('{ engine: "interpreter", sanitize: "all" }')).toBe("engines interpreter ptx sanitizers");
  } finally {
    rmSync(store, { recursive: true, force: true });
  }
});
