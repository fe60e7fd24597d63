// Kernels of one kind and of any size, for what is measured of compiling.
const head = ".version 8.0\n.target sm_80\n.address_size 64\n";
const entry = (registers, body, before = "") => `${head}${before}
.visible .entry k(.param .u64 out, .param .u32 n)
{
  .reg .b32 %r<${registers + 8}>; .reg .pred %p<4>; .reg .b64 %o;
  ld.param.u64 %o, [out]; ld.param.u32 %r1, [n];
  mov.u32 %r0, %tid.x; mad.wide.u32 %o, %r0, 4, %o; mov.u32 %r2, %r0;
${body.join("\n")}
  st.global.u32 [%o], %r2;
  ret;
}`;
const range = (count, make) => Array.from({ length: Math.max(1, Math.round(count)) }, (_, i) => make(i));

const chainLink = (i, last) => `.func (.param .b32 y) f${i}(.param .b32 x) {
  .reg .b32 %x; ld.param.b32 %x, [x]; mad.lo.u32 %x, %x, %x, ${i};
  ${i === last ? "" : `{ .param .b32 a, b; st.param.b32 [a], %x; call (b), f${i + 1}, (a); ld.param.b32 %x, [b]; }`}
  st.param.b32 [y], %x; ret;
}`;

/** A kernel of about n instructions, by kind. */
export const kinds = {
  straight: (n) =>
    entry(
      0,
      range(n / 2, (i) => `  mad.lo.u32 %r2, %r2, %r1, ${i}; xor.b32 %r2, %r2, %r0;`),
    ),
  // Each lane may go its own way, and all meet again.
  branches: (n) =>
    entry(
      0,
      range(
        n / 4,
        (i) => `  setp.gt.u32 %p1, %r2, ${i}; @%p1 bra L${i}; add.u32 %r2, %r2, %r1;\nL${i}: xor.b32 %r2, %r2, ${i};`,
      ),
    ),
  // Everywhere lanes may wait for those that have gone on.
  exits: (n) =>
    entry(0, [
      ...range(n / 3, (i) => `  setp.eq.u32 %p1, %r2, ${i}; @%p1 bra OUT; add.u32 %r2, %r2, %r1;`),
      "OUT: add.u32 %r2, %r2, 1;",
    ]),
  loops: (n) =>
    entry(
      0,
      range(
        n / 5,
        (i) =>
          `  mov.u32 %r3, 0;\nL${i}: add.u32 %r3, %r3, 1; xor.b32 %r2, %r2, %r3; setp.lt.u32 %p1, %r3, %r1; @%p1 bra L${i};`,
      ),
    ),
  // Loops whose lanes leave one by one.
  "own-loops": (n) =>
    entry(
      0,
      range(
        n / 5,
        (i) =>
          `  mov.u32 %r3, 0;\nL${i}: add.u32 %r3, %r3, 1; xor.b32 %r2, %r2, %r3; setp.lt.u32 %p1, %r3, %r0; @%p1 bra L${i};`,
      ),
    ),
  // One in the other, as deep as text may be: a hundred at a time.
  nests: (n) =>
    entry(
      100,
      range(n / 400, (i) => [
        ...range(100, (d) => `  mov.u32 %r${d + 8}, 0;\nL${i}_${d}: add.u32 %r2, %r2, %r${d + 8};`),
        ...range(100, (d) => `  setp.lt.u32 %p1, %r${107 - d}, %r1; @%p1 bra L${i}_${99 - d};`),
      ]).flat(),
    ),
  // The same whose lanes leave one by one.
  "own-nests": (n) =>
    entry(
      100,
      range(n / 400, (i) => [
        ...range(100, (d) => `  mov.u32 %r${d + 8}, %r0;\nL${i}_${d}: add.u32 %r2, %r2, %r${d + 8};`),
        ...range(100, (d) => `  setp.lt.u32 %p1, %r${107 - d}, %r0; @%p1 bra L${i}_${99 - d};`),
      ]).flat(),
    ),
  // A state machine: a loop around a branch to one of many places.
  states: (n) =>
    entry(0, [
      `  mov.u32 %r3, 0;\nNEXT: TARGETS: .branchtargets ${range(n / 3, (i) => `S${i}`).join(", ")};`,
      `  rem.u32 %r4, %r2, ${Math.max(1, Math.round(n / 3))}; brx.idx %r4, TARGETS;`,
      ...range(n / 3, (i) => `S${i}: add.u32 %r2, %r2, ${7 * i + 1}; xor.b32 %r2, %r2, %r3; bra JOIN;`),
      "JOIN: add.u32 %r3, %r3, 1; setp.lt.u32 %p1, %r3, %r1; @%p1 bra NEXT;",
    ]),
  // All live from the beginning to the end.
  registers: (n) =>
    entry(n / 2, [
      ...range(n / 2, (i) => `  add.u32 %r${i + 8}, %r0, ${i};`),
      ...range(n / 2, (i) => `  xor.b32 %r2, %r2, %r${i + 8};`),
    ]),
  // Live across blocks.
  crossing: (n) =>
    entry(n / 4, [
      ...range(n / 4, (i) => `  xor.b32 %r${i + 8}, %r0, ${i};`),
      ...range(
        n / 8,
        (i) =>
          `  setp.gt.u32 %p1, %r2, ${i}; @%p1 bra L${i}; add.u32 %r2, %r2, %r${2 * i + 8};\nL${i}: xor.b32 %r2, %r2, %r${2 * i + 9};`,
      ),
    ]),
  memory: (n) =>
    entry(
      0,
      range(n / 3, (i) => `  ld.global.u32 %r3, [%o+${4 * (i % 64)}]; add.u32 %r2, %r2, %r3; st.global.u32 [%o], %r2;`),
    ),
  barriers: (n) =>
    entry(
      0,
      range(n / 3, (i) => `  add.u32 %r2, %r2, ${i}; bar.sync 0; xor.b32 %r2, %r2, %r1;`),
    ),
  // Of as many functions.
  calls: (n) =>
    entry(
      0,
      range(
        n / 10,
        (i) => `  { .param .b32 a, b; st.param.b32 [a], %r2; call (b), f${i}, (a); ld.param.b32 %r2, [b]; }`,
      ),
      range(
        n / 10,
        (i) =>
          `.func (.param .b32 y) f${i}(.param .b32 x) { .reg .b32 %x; ld.param.b32 %x, [x]; mad.lo.u32 %x, %x, %x, ${i}; st.param.b32 [y], %x; ret; }`,
      ).join("\n"),
    ),
  // As deep as there are functions.
  "call-chain": (n) =>
    entry(
      0,
      ["  { .param .b32 a, b; st.param.b32 [a], %r2; call (b), f0, (a); ld.param.b32 %r2, [b]; }"],
      range(n / 8, (i) => chainLink(i, Math.max(1, Math.round(n / 8)) - 1))
        .reverse()
        .join("\n"),
    ),
  // Of one function.
  "call-sites": (n) =>
    entry(
      0,
      range(n / 4, () => "  { .param .b32 a, b; st.param.b32 [a], %r2; call (b), f, (a); ld.param.b32 %r2, [b]; }"),
      ".func (.param .b32 y) f(.param .b32 x) { .reg .b32 %x; ld.param.b32 %x, [x]; mad.lo.u32 %x, %x, %x, 3; st.param.b32 [y], %x; ret; }",
    ),
};
