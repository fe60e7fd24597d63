// What sanitizers remember: bytes of the process with all of them, less those without, for each byte that a kernel
// accesses; by the size of what a thread accesses at once, and by who its neighbours are.
//
//     node --expose-gc bench/shadow.mjs
import { load, source } from "./bundle.mjs";

const { Device } = await load(`export { Device } from ${source("index.ts")};`);

const elements = 1 << 18;
const block = 256;
const types = [
  ["u8", 1],
  ["u16", 2],
  ["u32", 4],
  ["u64", 8],
];

const kernel = (name, body) => `
.visible .entry ${name}(.param .u64 in, .param .u64 out)
{
    .reg .b64 %i, %o, %a, %b;
    .reg .b32 %t, %n, %g, %s;
    .reg .b64 %v, %w;
    ld.param.u64 %i, [in];
    ld.param.u64 %o, [out];
    mov.u32 %t, %tid.x;
    mov.u32 %n, %ntid.x;
    mov.u32 %g, %ctaid.x;
    mad.lo.u32 %g, %g, %n, %t;
${body}
    ret;
}`;

/** By how the threads and what they access belong together. */
const bodies = {
  copy: (type, bytes) => `
    mad.wide.u32 %a, %g, ${bytes}, %i;
    ld.global.${type} %v, [%a];
    mad.wide.u32 %b, %g, ${bytes}, %o;
    st.global.${type} [%b], %v;`,
  stencil: (type, bytes) => `
    mad.wide.u32 %a, %g, ${bytes}, %i;
    ld.global.${type} %v, [%a];
    ld.global.${type} %w, [%a+${bytes}];
    add.u64 %v, %v, %w;
    ld.global.${type} %w, [%a+${2 * bytes}];
    add.u64 %v, %v, %w;
    mad.wide.u32 %b, %g, ${bytes}, %o;
    st.global.${type} [%b], %v;`,
  // Neighbours are accessed by threads that are far apart: the multiplier is odd, so that each element has one thread.
  scatter: (type, bytes) => `
    mul.lo.u32 %g, %g, 40503;
    and.b32 %g, %g, ${elements - 1};
    mad.wide.u32 %a, %g, ${bytes}, %i;
    ld.global.${type} %v, [%a];
    mad.wide.u32 %b, %g, ${bytes}, %o;
    st.global.${type} [%b], %v;`,
  // Each thread writes to shared memory, the block meets, and the element of another thread goes out.
  shared: (type, bytes) => `
    mad.wide.u32 %a, %g, ${bytes}, %i;
    ld.global.${type} %v, [%a];
    mov.u32 %s, tile;
    mad.lo.u32 %s, %t, ${bytes}, %s;
    st.shared.${type} [%s], %v;
    bar.sync 0;
    sub.u32 %t, ${block - 1}, %t;
    mov.u32 %s, tile;
    mad.lo.u32 %s, %t, ${bytes}, %s;
    ld.shared.${type} %v, [%s];
    mad.wide.u32 %b, %g, ${bytes}, %o;
    st.global.${type} [%b], %v;`,
};

const header = `.version 8.0\n.target sm_75\n.address_size 64\n.shared .align 16 .b8 tile[${block * 8}];`;

/** Bytes that the process has more at the end of a launch than at its beginning, while its sanitizers remember all. */
function grown(name, text, bytes, sanitize) {
  const device = new Device({ engine: "interpreter" });
  const [input, output] = [0, 1].map(() => device.buffer("u8", (elements + 2) * bytes));
  const held = () => {
    for (let i = 0; i < 3; i++) globalThis.gc();
    const { arrayBuffers, heapUsed } = process.memoryUsage();
    return arrayBuffers + heapUsed;
  };
  let [before, after] = [0, 0];
  const observer = { launchBegin: () => void (before = held()), launchEnd: () => void (after = held()) };
  const { reports } = device
    .load({ path: "k.ptx", text })
    .kernel(name)
    .launch({ grid: elements / block, block, args: [input, output], sanitize, observers: [observer] });
  if (reports.length > 0) throw new Error(`${name}: ${reports[0].code}: ${reports[0].message}`);
  return after - before;
}

console.log(`${"".padEnd(10)}${types.map(([type]) => type.padStart(8)).join("")}`);
for (const [name, body] of Object.entries(bodies)) {
  const figures = types.map(([type, bytes]) => {
    const text = `${header}${kernel(name, body(type, bytes))}`;
    grown(name, text, bytes, "all");
    const more = grown(name, text, bytes, "all") - grown(name, text, bytes, []);
    return (more / (2 * elements * bytes)).toFixed(1).padStart(8);
  });
  console.log(`${name.padEnd(10)}${figures.join("")}`);
}
