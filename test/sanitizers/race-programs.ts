import { readdirSync, readFileSync } from "node:fs";

/** `s`: shared, `g`: global memory of zeros; %t and %b: the thread and the block; %sa and %ga: where its words are. */
const frame = (body: string): string => `.version 9.0
.target sm_90
.address_size 64
.global .align 16 .b32 g[4096];
.global .align 8 .b32 data, flag, turn, count;
.shared .align 16 .b32 s[1024];
.shared .align 8 .b32 sflag, sdata;
.visible .entry k(.param .u64 out)
{
    .reg .b32 %t, %b, %n, %i, %r<8>, %sa;
    .reg .b64 %o, %ga, %d<4>;
    .reg .b16 %h<4>;
    .reg .pred p, q;
    ld.param.u64 %o, [out];
    mov.u32 %t, %tid.x;
    mov.u32 %b, %ctaid.x;
    mov.u32 %n, %ntid.x;
    mad.lo.u32 %i, %b, %n, %t;
    mad.wide.u32 %o, %i, 4, %o;
    mov.u32 %sa, s;
    mad.lo.u32 %sa, %t, 4, %sa;
    mov.u64 %ga, g;
    mad.wide.u32 %ga, %i, 4, %ga;
${body}
    ret;
}
`;

/** The text of a case. */
export const inFrame = (body: string): string => (body.includes(".entry") ? body : frame(body));

/** The files of a folder, each with its cases: a name and a text. */
export function casesIn(name: string) {
  const folder = new URL(`${name}/`, import.meta.url);
  return readdirSync(folder)
    .filter((file) => file.endsWith(".txt"))
    .map((file) => {
      const [, ...parts] = readFileSync(new URL(file, folder), "utf8").split(/^==== /m);
      return { file, parts: parts.map((c) => [c.slice(0, c.indexOf("\n")), c.slice(c.indexOf("\n") + 1)] as const) };
    });
}

/** The launches that a case asks for. */
export function launchesOf(body: string) {
  const launches = [...body.matchAll(/^\/\/ launch: (\w+) (\d+) (\d+)$/gm)].map(([, kernel, grid, block]) => ({
    kernel: kernel!,
    size: { grid: Number(grid), block: Number(block) },
  }));
  return launches.length === 0 ? [{ kernel: "k", size: { grid: 1, block: 64 } }] : launches;
}
