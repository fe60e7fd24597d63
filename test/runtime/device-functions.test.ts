import { describe, expect, test } from "vitest";
import { Device } from "../../src/index.ts";

const header = `.version 8.0
.target sm_80
.address_size 64
.extern .func (.param .b32 r) vprintf(.param .b64 format, .param .b64 args);
.extern .func (.param .b64 r) malloc(.param .b64 size);
.extern .func free(.param .b64 pointer);
.extern .func __assertfail(.param .b64 m, .param .b64 f, .param .b32 l, .param .b64 n, .param .b64 s) .noreturn;
`;

const text = (name: string, value: string): string => {
  const bytes = [...new TextEncoder().encode(value), 0];
  return `.global .align 1 .b8 ${name}[${bytes.length}] = {${bytes.join(", ")}};\n`;
};

const kernel = (body: string): string => `.visible .entry k(.param .u64 out)
{
    .reg .b64 %o, %p, %q, %s, %z;
    .reg .b32 %t, %r;
    .reg .pred %c;
    ld.param.u64 %o, [out];
    mov.u32 %t, %tid.x;
${body}
    ret;
}
`;

const call = (
  result: string | null,
  name: string,
  args: readonly (readonly [type: string, register: string])[],
): string => {
  const declared = args.map(([type], i) => `.param ${type} a${i};`).join(" ");
  const stores = args.map(([type, register], i) => `st.param${type} [a${i}], ${register};`).join(" ");
  const list = args.map((_, i) => `a${i}`).join(", ");
  return result === null
    ? `{ ${declared} ${stores} call.uni ${name}, (${list}); }`
    : `{ ${declared} .param .${result.slice(1, 4)} r0; ${stores} call.uni (r0), ${name}, (${list}); ld.param.${result.slice(1, 4)} ${result.slice(4)}, [r0]; }`;
};

function run(source: string, block = 1, outputs = 4) {
  const device = new Device();
  const out = device.buffer("u64", outputs);
  const result = device
    .load(source)
    .kernel("k")
    .launch({ grid: 1, block, args: [out], maxSteps: 1e6, sanitize: "all" });
  return { ...result, out: [...out.read()] };
}

describe("vprintf", () => {
  const printing = (format: string, size: number, stores: string): string =>
    header +
    text("fmt", format) +
    text("str", "wörld") +
    kernel(`    .local .align 8 .b8 buffer[${size}];
    mov.u64 %p, buffer;
    ${stores}
    cvta.local.u64 %p, %p;
    mov.u64 %q, fmt;
    cvta.global.u64 %q, %q;
    ${call("=b32%r", "vprintf", [
      [".b64", "%q"],
      [".b64", "%p"],
    ])}
    cvt.u64.u32 %z, %r;
    st.global.u64 [%o], %z;`);

  test("arguments lie at multiples of their size; the result is their number", () => {
    const stores = `st.local.u32 [%p], 42;
    st.local.f64 [%p+8], 0d3FF8000000000000;
    mov.u64 %s, str;
    cvta.global.u64 %s, %s;
    st.local.u64 [%p+16], %s;
    st.local.u64 [%p+24], -5000000000;`;
    const result = run(printing("i=%d f=%.2f s=%s l=%lld\n", 32, stores));
    expect(result.reports).toEqual([]);
    expect(result.stdout).toBe("i=42 f=1.50 s=wörld l=-5000000000\n");
    expect(result.out[0]).toBe(4n);
  });

  test("every thread prints, in the order of the lanes", () => {
    expect(run(printing("%d ", 8, "st.local.u32 [%p], %t;"), 5).stdout).toBe("0 1 2 3 4 ");
  });

  test("a string at an invalid address is a fault, not a crash", () => {
    const result = run(printing("%s", 8, "st.local.u64 [%p], 8;"));
    expect(result.ok).toBe(false);
    expect(result.reports.map((r) => r.code)).toEqual(["null-dereference"]);
  });

  test("more conversions than arguments are a fault", () => {
    const result = run(printing("%d %d %d", 8, "st.local.u32 [%p], 1;"));
    expect(result.reports.map((r) => r.code)).toEqual(["local-out-of-bounds"]);
  });
});

describe("malloc and free", () => {
  const allocate = (size: string): string => `mov.u64 %s, ${size};
    ${call("=b64%p", "malloc", [[".b64", "%s"]])}
    st.global.u64 [%o], %p;`;
  const release = (register: string): string => call(null, "free", [[".b64", register]]);

  test("allocations are separate, aligned and usable", () => {
    const result = run(
      header +
        kernel(`${allocate("24")}
    ${call("=b64%q", "malloc", [[".b64", "%s"]])}
    st.global.u64 [%o+8], %q;
    st.u64 [%p+16], 7;
    st.u64 [%q+16], 9;
    ld.u64 %z, [%p+16];
    st.global.u64 [%o+16], %z;
    ${release("%p")} ${release("%q")}`),
    );
    expect(result.reports).toEqual([]);
    const [p = 0n, q = 0n, seven] = result.out;
    expect(p % 16n).toBe(0n);
    expect(q - p).toBeGreaterThanOrEqual(24n);
    expect(seven).toBe(7n);
  });

  test("malloc of too much returns null, and null may be freed", () => {
    const result = run(header + kernel(`${allocate("0x7000000000")}\n${release("%p")}`));
    expect(result).toMatchObject({ ok: true, reports: [] });
    expect(result.out[0]).toBe(0n);
  });

  test.each([
    ["twice", `${allocate("8")}\n${release("%p")}\n${release("%p")}`],
    ["what the host allocated", release("%o")],
    ["the middle", `${allocate("512")}\nadd.u64 %p, %p, 256;\n${release("%p")}`],
  ])("free of %s", (_name, body) => {
    expect(run(header + kernel(body)).reports.map((r) => r.code)).toEqual(["invalid-free"]);
  });

  test("use after free is a fault", () => {
    const result = run(header + kernel(`${allocate("8")}\n${release("%p")}\nld.u64 %z, [%p];`));
    expect(result.reports).toHaveLength(1);
    expect(result.reports[0]!.message).toMatch(/freed/);
  });
});

test("a failed assertion ends the launch and shows condition and place", () => {
  const argument = (register: string, name: string) =>
    `mov.u64 ${register}, ${name}; cvta.global.u64 ${register}, ${register};`;
  const result = run(
    header +
      text("m", "i < n") +
      text("f", "a.cu") +
      text("n", "void k(int)") +
      kernel(`setp.ne.u32 %c, %t, 3;
    @%c bra DONE;
    ${argument("%p", "m")} ${argument("%q", "f")} ${argument("%s", "n")} mov.u64 %z, 1; mov.u32 %r, 12;
    ${call(null, "__assertfail", [
      [".b64", "%p"],
      [".b64", "%q"],
      [".b32", "%r"],
      [".b64", "%s"],
      [".b64", "%z"],
    ])}
DONE:`),
    8,
  );
  expect(result.reports).toMatchObject([
    {
      code: "assertion-failed",
      message: "assertion `i < n` failed in void k(int) (a.cu:12)",
      threads: [{ thread: [3, 0, 0] }],
    },
  ]);
});
