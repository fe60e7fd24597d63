import { describe, expect, test } from "vitest";
import { Device, type EngineName, UsageError } from "../../src/index.ts";

const engines = ["interpreter", "jit"] as const satisfies readonly EngineName[];
type Dim = readonly [number, number, number];

/** A kernel of blocks of 32 threads. `%r`: its rank; `%n`: blocks of the cluster; `%a`: an own address in `cell`. */
const kernel = (body: string, directives = "", name = "k"): string => `.visible .entry ${name}(.param .u64 out)
${directives}
{
    .reg .b64 %o, %g, %h;
    .reg .b32 %t, %c, %r, %n, %a, %m, %v, %w, %b, %q;
    .reg .pred p, done;
    ld.param.u64 %o, [out];
    mov.u32 %t, %tid.x;
    mov.u32 %c, %ctaid.x;
    mov.u32 %r, %cluster_ctarank;
    mov.u32 %n, %cluster_nctarank;
    mov.u32 %a, cell;
    shl.b32 %v, %t, 2;
    add.u32 %a, %a, %v;
    mov.u32 %b, bar;
    mad.lo.u32 %v, %c, 32, %t;
    mad.wide.u32 %o, %v, 4, %o;
${body}
    ret;
}
`;

const module = (...kernels: string[]): string => `.version 8.6
.target sm_90
.address_size 64
.shared .align 4 .b8 cell[128];
.shared .align 8 .b64 bar;
${kernels.join("")}`;

const sync = "barrier.cluster.arrive.aligned; barrier.cluster.wait.aligned;";
/** The rank of the next block, and the address of the same byte there. */
const next = "add.u32 %q, %r, 1; rem.u32 %q, %q, %n; mapa.shared::cluster.u32 %m, %a, %q;";

interface Options {
  readonly grid?: Dim | number;
  readonly block?: Dim | number;
  readonly cluster?: Dim | number;
  readonly engine?: EngineName;
  readonly seed?: number;
  readonly sanitize?: "all";
  readonly blocks?: readonly (readonly [number, number])[];
}

function launch(text: string, options: Options, words = 1024) {
  const device = new Device();
  const out = device.buffer("u32", words);
  const { grid = 4, block = 32 } = options;
  const result = device
    .load(text)
    .kernel("k")
    .launch({ ...options, grid, block, args: [out] });
  const reports = result.reports.map(({ code, source, span }) => ({ code, line: source.position(span.start).line }));
  return { ...result, reports, out: [...out.read()] };
}

describe("the place of a block in its cluster", () => {
  const d = ["x", "y", "z"] as const;
  const registers = [
    ...["clusterid", "nclusterid", "cluster_ctaid", "cluster_nctaid"].flatMap((name) => d.map((i) => `${name}.${i}`)),
    "cluster_ctarank",
    "cluster_nctarank",
  ];
  const stores = registers.map((name, i) => `mov.u32 %v, %${name}; st.global.u32 [%o+${4 * i}], %v;`);
  const text = module(`.visible .entry k(.param .u64 out)
{
    .reg .b64 %o;
    .reg .b32 %v, %x, %y, %z, %gx, %gy;
    .reg .pred p;
    ld.param.u64 %o, [out];
    mov.u32 %x, %ctaid.x; mov.u32 %y, %ctaid.y; mov.u32 %z, %ctaid.z;
    mov.u32 %gx, %nctaid.x; mov.u32 %gy, %nctaid.y;
    mad.lo.u32 %y, %z, %gy, %y;
    mad.lo.u32 %x, %y, %gx, %x;
    mad.wide.u32 %o, %x, 64, %o;
    ${stores.join("\n    ")}
    mov.pred p, %is_explicit_cluster;
    selp.u32 %v, 1, 0, p;
    st.global.u32 [%o+56], %v;
    barrier.cluster.arrive; barrier.cluster.wait;
    ret;
}
`);
  const cases: readonly (readonly [Dim, Dim | undefined])[] = [
    [
      [4, 4, 2],
      [2, 2, 1],
    ],
    [
      [4, 2, 4],
      [4, 1, 2],
    ],
    [
      [6, 3, 1],
      [3, 3, 1],
    ],
    [
      [3, 2, 2],
      [1, 2, 2],
    ],
    [
      [8, 2, 1],
      [8, 1, 1],
    ],
    [
      [3, 2, 1],
      [1, 1, 1],
    ],
    [[3, 2, 1], undefined],
  ];
  // Sections 10.11 to 10.17 of the manual.
  function placeOf(grid: Dim, cluster: Dim, id: Dim): number[] {
    const inner = id.map((n, i) => n % cluster[i]!);
    return [
      ...id.map((n, i) => Math.floor(n / cluster[i]!)),
      ...grid.map((n, i) => n / cluster[i]!),
      ...inner,
      ...cluster,
      inner[0]! + cluster[0] * (inner[1]! + cluster[1] * inner[2]!),
      cluster[0] * cluster[1] * cluster[2],
    ];
  }
  test.each(engines.flatMap((engine) => cases.map(([grid, cluster]) => ({ engine, grid, cluster }))))(
    "$engine, grid $grid, cluster $cluster",
    ({ engine, grid, cluster }) => {
      const { out, ...result } = launch(text, { engine, grid, block: 1, ...(cluster && { cluster }) });
      expect(result).toMatchObject({ ok: true, engine });
      const [gx, gy, gz] = grid;
      for (let z = 0; z < gz; z++)
        for (let y = 0; y < gy; y++)
          for (let x = 0; x < gx; x++) {
            const at = 16 * (x + gx * (y + gy * z));
            const wanted = [...placeOf(grid, cluster ?? [1, 1, 1], [x, y, z]), cluster === undefined ? 0 : 1];
            expect([x, y, z, ...out.slice(at, at + 15)]).toEqual([x, y, z, ...wanted]);
          }
    },
  );
});

/**
 * Programs, and what each thread stores: a function of the block, its rank, the blocks of a cluster, and the thread.
 */
const exchanges: Readonly<Record<string, readonly [string, (c: number, r: number, n: number, t: number) => number]>> = {
  "loads what the next block has stored": [
    `st.shared.u32 [%a], %v; ${sync} ${next} ld.shared::cluster.u32 %w, [%m]; ${sync} st.global.u32 [%o], %w;`,
    (c, r, n, t) => (c - r + ((r + 1) % n)) * 32 + t,
  ],
  "stores into the next block": [
    `${sync} ${next} st.shared::cluster.u32 [%m], %v; ${sync} ld.shared.u32 %w, [%a]; st.global.u32 [%o], %w;`,
    (c, r, n, t) => (c - r + ((r + n - 1) % n)) * 32 + t,
  ],
  "by generic addresses": [
    `st.shared.u32 [%a], %v; ${sync}
     add.u32 %q, %r, 1; rem.u32 %q, %q, %n;
     cvt.u64.u32 %g, %a; cvta.shared.u64 %g, %g; mapa.u64 %h, %g, %q;
     ld.u32 %w, [%h]; ${sync} st.global.u32 [%o], %w;`,
    (c, r, n, t) => (c - r + ((r + 1) % n)) * 32 + t,
  ],
  "adds to a counter of rank 0": [
    `st.shared.u32 [%a], 0; ${sync}
     mov.u32 %a, cell; mapa.shared::cluster.u32 %m, %a, 0;
     red.relaxed.cluster.shared::cluster.add.u32 [%m], %v; ${sync}
     ld.shared::cluster.u32 %w, [%m]; ${sync} st.global.u32 [%o], %w;`,
    (c, r, n) => Array.from({ length: 32 * n }, (_, i) => (c - r) * 32 + i).reduce((a, b) => a + b),
  ],
  "an own address is one of the cluster": [
    `st.shared::cluster.u32 [%a], %v; mapa.shared::cluster.u32 %m, %a, %r;
     ld.shared.u32 %w, [%m]; getctarank.shared::cluster.u32 %q, %a; mad.lo.u32 %w, %q, 1000, %w;
     cvt.u64.u32 %g, %m; cvta.shared.u64 %g, %g; isspacep.shared::cta p, %g; @p add.u32 %w, %w, 100000;
     add.u32 %q, %r, 1; rem.u32 %q, %q, %n; mapa.u64 %g, %g, %q;
     isspacep.shared::cta p, %g; @p add.u32 %w, %w, 200000;
     isspacep.shared::cluster p, %g; @p add.u32 %w, %w, 400000;
     mapa.u64 %g, %g, %n;
     isspacep.shared::cluster p, %g; @p add.u32 %w, %w, 800000;
     ${sync} st.global.u32 [%o], %w;`,
    (c, r, n, t) => c * 32 + t + 1000 * r + 100000 + (n === 1 ? 200000 : 0) + 400000,
  ],
  "an address without bit 24 is that of the even block of a pair": [
    `st.shared.u32 [%a], %v; ${sync} and.b32 %m, %a, 0xfeffffff;
     ld.shared::cluster.u32 %w, [%m]; ${sync} st.global.u32 [%o], %w;`,
    (c, r, _n, t) => (c - (r & 1)) * 32 + t,
  ],
  "half of the threads exit before the barrier": [
    `st.shared.u32 [%a], %v; setp.ge.u32 p, %t, 16; @p exit;
     barrier.cluster.arrive; barrier.cluster.wait; ${next} ld.shared::cluster.u32 %w, [%m];
     barrier.cluster.arrive; barrier.cluster.wait; st.global.u32 [%o], %w;`,
    (c, r, n, t) => (t < 16 ? (c - r + ((r + 1) % n)) * 32 + t : 0),
  ],
  "a relaxed arrival after a fence": [
    `st.shared.u32 [%a], %v; fence.acq_rel.cluster; barrier.cluster.arrive.relaxed.aligned;
     barrier.cluster.wait.aligned; ${next} ld.shared::cluster.u32 %w, [%m]; ${sync} st.global.u32 [%o], %w;`,
    (c, r, n, t) => (c - r + ((r + 1) % n)) * 32 + t,
  ],
  "each block waits for arrivals of the one before at its mbarrier": [
    `setp.eq.u32 p, %t, 0;
     @p mbarrier.init.shared.b64 [%b], 32;
     @p fence.mbarrier_init.release.cluster;
     ${sync} ${next}
     st.shared::cluster.u32 [%m], %v;
     mapa.shared::cluster.u32 %q, %b, %q;
     mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%q];
wait:
     mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 done, [%b], 0;
     @!done bra wait;
     ld.shared.u32 %w, [%a]; ${sync} st.global.u32 [%o], %w;`,
    (c, r, n, t) => (c - r + ((r + n - 1) % n)) * 32 + t,
  ],
  "asynchronous stores and their bytes": [
    `setp.eq.u32 p, %t, 0;
     @p mbarrier.init.shared.b64 [%b], 1;
     @p mbarrier.arrive.expect_tx.shared.b64 %g, [%b], 128;
     ${sync} ${next} mapa.shared::cluster.u32 %q, %b, %q;
     st.async.shared::cluster.mbarrier::complete_tx::bytes.u32 [%m], %v, [%q];
wait:
     mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 done, [%b], 0;
     @!done bra wait;
     ld.shared.u32 %w, [%a]; ${sync} st.global.u32 [%o], %w;`,
    (c, r, n, t) => (c - r + ((r + n - 1) % n)) * 32 + t,
  ],
};

const runs: readonly Options[] = [
  { engine: "jit" },
  { engine: "interpreter" },
  { engine: "interpreter", sanitize: "all" },
  ...[1, 2, 3].map((seed): Options => ({ engine: "interpreter", seed, sanitize: "all" })),
];

describe.each(Object.entries(exchanges))("%s", (_, [body, expected]) => {
  test.each(runs.flatMap((run) => [1, 2, 4].map((cluster) => ({ run, cluster }))))(
    "$run, clusters of $cluster",
    ({ run, cluster }) => {
      const { out, ...result } = launch(module(kernel(body)), { ...run, grid: 8, cluster });
      expect(result).toMatchObject({ ok: true, engine: run.engine, reports: [] });
      const wanted = Array.from({ length: 256 }, (_, i) => {
        const block = Math.floor(i / 32);
        return expected(block, block % cluster, cluster, i % 32);
      });
      expect(out.slice(0, 256)).toEqual(wanted);
    },
  );
});

/** Block 1 of the cluster exits, and block 0 goes on only after that. */
const afterExit = `setp.eq.u32 p, %r, 1;
    barrier.cluster.arrive.aligned;
    @p exit;
    barrier.cluster.wait.aligned;
    mov.u32 %q, 0;
wait:
    add.u32 %q, %q, 1;
    setp.lt.u32 p, %q, 5000;
    @p bra wait;`;

/** Wrong programs for clusters of two. `// report: code` at the end of a line expects that report there. */
const wrong: Readonly<Record<string, string>> = {
  "a rank that there is not": `st.shared.u32 [%a], %v;
    mapa.shared::cluster.u32 %m, %a, %n;
    ld.shared::cluster.u32 %w, [%m]; // report: cluster-bad-rank`,
  "a rank beyond all clusters": `mapa.shared::cluster.u32 %m, %a, -1;
    st.shared::cluster.u32 [%m], %v; // report: cluster-bad-rank`,
  "a block that has exited": `st.shared.u32 [%a], %v;
    ${afterExit}
    mapa.shared::cluster.u32 %m, %a, 1;
    ld.shared::cluster.u32 %w, [%m]; // report: dsmem-after-exit`,
  "a remote arrival at a block that has exited": `${afterExit}
    mapa.shared::cluster.u32 %m, %b, 1;
    mbarrier.arrive.shared::cluster.b64 _, [%m]; // report: dsmem-after-exit`,
  "another block's memory as shared::cta": `${sync} ${next}
    ld.shared::cta.u32 %w, [%m]; // report: wrong-state-space`,
  "beyond the variables of another block": `${sync} ${next}
    ld.shared::cluster.u32 %w, [%m+256]; // report: shared-out-of-bounds`,
  "two arrivals": `barrier.cluster.arrive;
    barrier.cluster.arrive; // report: cluster-barrier-misuse`,
  "a wait without an arrival": `${sync}
    barrier.cluster.wait; // report: cluster-barrier-misuse`,
  "one block never arrives": `setp.eq.u32 p, %r, 1;
    @p bra other;
    ${sync}
    ret;
other:
    bar.sync 1, 64; // report: deadlock`,
  "an mbarrier at which nobody arrives": `setp.eq.u32 p, %t, 0;
    @p mbarrier.init.shared.b64 [%b], 1;
    bar.sync 0;
    setp.eq.u32 p, %r, 1;
    @p bra other;
    ${sync}
    ret;
other:
    mbarrier.try_wait.parity.shared.b64 done, [%b], 0; // report: deadlock
    @!done bra other;`,
  "nothing orders a store into another block": `${sync} ${next}
    st.shared::cluster.u32 [%m], %v; // report: data-race
    ld.shared.u32 %w, [%a];
    ${sync}`,
  "a relaxed arrival orders nothing": `st.shared.u32 [%a], %v;
    barrier.cluster.arrive.relaxed.aligned;
    barrier.cluster.wait.aligned;
    ${next}
    ld.shared::cluster.u32 %w, [%m]; // report: data-race
    ${sync}`,
  "nobody has written another block's memory": `${sync} ${next}
    ld.shared::cluster.u32 %w, [%m]; // report: uninitialized-read
    st.global.u32 [%o], %w;
    ${sync}`,
};

describe.each(Object.entries(wrong))("is reported: %s", (_, body) => {
  const text = module(kernel(body));
  const lines = text.split("\n");
  const line = lines.findIndex((one) => one.includes("// report:"));
  const code = lines[line]!.split("// report: ")[1]!;
  test("with all sanitizers", () => {
    const { reports } = launch(text, { grid: 2, cluster: 2, sanitize: "all" });
    expect(reports).toContainEqual({ code, line: line + 1 });
    expect(new Set(reports.map((report) => report.code))).toEqual(new Set([code]));
  });
  const isFault = !["data-race", "uninitialized-read"].includes(code);
  // In compiled code a loop that waits for an mbarrier for ever goes on for ever.
  test.runIf(isFault && !body.includes("nobody") && !body.includes("try_wait"))("by compiled code, too", () => {
    const { reports } = launch(text, { grid: 2, cluster: 2, engine: "jit" });
    expect(reports).toEqual([{ code, line: line + 1 }]);
  });
});

describe("launches", () => {
  const idle = (directives: string): string => module(kernel("", directives));
  const refused: readonly (readonly [string, Options, RegExp])[] = [
    [".reqnctapercluster 2, 1, 1", { cluster: 4 }, /\.reqnctapercluster wants \(2, 1, 1\)/],
    [".reqnctapercluster 3", { grid: 4 }, /cannot be divided into clusters of \(3, 1, 1\)/],
    ["", { cluster: 3 }, /cannot be divided/],
    [".explicitcluster", {}, /\.explicitcluster demands/],
    [".maxclusterrank 2", { cluster: 4 }, /\.maxclusterrank allows 2/],
    ["", { grid: 32, cluster: 32 }, /at most 16/],
    ["", { cluster: [2, 0, 1] }, /a cluster of \(2, 0, 1\) blocks/],
  ];
  test.each(refused)("%s, %o", (directives, options, message) => {
    expect(() => launch(idle(directives), options)).toThrow(UsageError);
    expect(() => launch(idle(directives), options)).toThrow(message);
  });

  test(".blocksareclusters counts clusters", () => {
    const text = module(
      kernel("mov.u32 %w, %nctaid.x; st.global.u32 [%o], %w;", ".reqntid 32 .reqnctapercluster 2 .blocksareclusters"),
    ).replace(".version 8.6", ".version 9.0");
    const { out, threads } = launch(text, { grid: 3 });
    expect([threads, out[0], out[191], out[192]]).toEqual([192, 6, 6, 0]);
  });

  test("parts of a grid consist of whole clusters", () => {
    const text = module(kernel(`${sync} add.u32 %w, %c, 1; st.global.u32 [%o], %w;`));
    const { out, ok } = launch(text, { grid: 8, cluster: 2, blocks: [[2, 5]] });
    expect(ok).toBe(true);
    const blocks = Array.from({ length: 8 }, (_, block) => out[32 * block]);
    expect(blocks).toEqual([0, 0, 3, 4, 5, 6, 0, 0]);
    expect(() => launch(text, { grid: 8, cluster: 2, blocks: [[1, 2]] })).toThrow(/run together or not at all/);
  });

  test("more blocks than are resident at once", () => {
    const text = module(
      kernel(`st.shared.u32 [%a], %c; ${sync} ${next} ld.shared::cluster.u32 %w, [%m]; ${sync}
      st.global.u32 [%o], %w;`),
    );
    for (const engine of engines) {
      const { out, ok } = launch(text, { grid: [40, 40, 1], cluster: [4, 4, 1], engine }, 40 * 32);
      expect([engine, ok]).toEqual([engine, true]);
      // All rows of the grid store the same. The next rank is one block to the right, or where the cluster begins.
      const wanted = Array.from({ length: 40 * 32 }, (_, i) => {
        const x = Math.floor(i / 32);
        return x % 4 === 3 ? x - 3 : x + 1;
      });
      expect(out).toEqual(wanted);
    }
  });
});
