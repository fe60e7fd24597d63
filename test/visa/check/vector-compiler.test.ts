import { describe, expect, test } from "vitest";
import { Device } from "../../../src/index.ts";
import { checkVisaFile } from "../../../src/runtime/visa/check.ts";
import { openOpenCl } from "../../../src/runtime/visa/opencl-program.ts";

/*
 * What IGC's vector compiler (1.0.12504, -vc-codegen) writes, and the IGC of the same release assembles, although pages
 * of the manual say otherwise.
 */

const kernel = (body: string, declarations = "", attributes = ""): string => `.version 4.1
.kernel "k"
.decl OUT v_type=G type=uq num_elts=1 align=qword
.decl A v_type=G type=d num_elts=16 align=GRF
.decl P1 v_type=P num_elts=16
${declarations}
.input OUT offset=128 size=8
.kernel_attr Target="cm"
${attributes}
.function "k_main"
k_main:
${body}
`;

const found = (text: string): string[] =>
  checkVisaFile({ path: "k.visaasm", text }).diagnostics.map(({ severity, code }) => `${severity} ${code}`);

/** The first 16 dwords that a kernel of one thread stores, in both engines. */
function stored(text: string): number[][] {
  return (["interpreter", "jit"] as const).map((engine) => {
    const device = new Device();
    const out = device.buffer("u32", 16);
    const zeinfo = {
      kernels: [
        {
          name: "k",
          execution_env: { simd_size: 1 },
          payload_arguments: [{ arg_type: "arg_bypointer", offset: 64, size: 8, arg_index: 0, addrmode: "stateless" }],
          per_thread_payload_arguments: [],
        },
      ],
    };
    const loaded = device.load([{ path: "k.visaasm", text }], { isa: "visa", zeinfo });
    const { ok, reports } = loaded.kernel("k").launch({ global: 1, local: 1, args: [out], engine });
    expect(reports).toEqual([]);
    expect(ok).toBe(true);
    return [...out.read()];
  });
}

const store = "    svm_block_st (4) OUT(0,0)<0;1,0> A.0\n    ret (M1, 1)";

describe("what its text tells about registers", () => {
  // A register of 32 bytes has columns 0 to 7 of doublewords.
  const upper = `    mov (M1, 8) A(0,8)<1> 1:d\n${store}`;

  test("bytes of the payload that a thread has to itself", () => {
    expect(found(kernel(upper, "", ".kernel_attr PerThreadInputSize=64"))).toEqual([]);
    expect(found(kernel(upper, "", ".kernel_attr PerThreadInputSize=32"))).toEqual(["error visa-out-of-bounds"]);
  });

  test("columns of registers of 64 bytes, as in functions, which have no payload", () => {
    expect(found(kernel(upper))).toEqual([]);
    const other = kernel(upper).replace('.kernel_attr Target="cm"\n', "");
    expect(found(other)).toEqual(["error visa-out-of-bounds"]);
  });
});

test("a setp under a mask takes the bits of a number, for all channels", () => {
  // Channel 0 alone is active where it is done; the page's formula has no mask where src0 is scalar.
  const text = kernel(`    setp (M1, 16) P1 0x5555:uw
    mov (M1_NM, 16) A(0,0)<1> 1:d
    (P1) mov (M1_NM, 16) A(0,0)<1> 2:d
${store}`);
  expect(found(text)).toEqual(["warning visa-setp-mask"]);
  const want = Array.from({ length: 16 }, (_, lane) => (lane % 2 === 0 ? 2 : 1));
  expect(stored(text)).toEqual([want, want]);
});

test("a setp that takes a number's bits elsewhere than from channel 0 or 16 is an error", () => {
  expect(found(kernel(`    setp (M3_NM, 8) P1 0xff:uw\n${store}`))).toEqual(["error visa-setp-mask"]);
});

test("movs of a number to a variable", () => {
  const text = kernel(
    `    mov (M1_NM, 16) A(0,0)<1> 0:d
    movs (M1, 1) U(0,0)<1> 0x7:ud
    mov (M1, 1) A(0,0)<1> U(0,0)<0;1,0>
${store}`,
    ".decl U v_type=G type=ud num_elts=1 align=dword",
  );
  expect(found(text)).toEqual(["warning visa-movs"]);
  const want = [7, ...new Array<number>(15).fill(0)];
  expect(stored(text)).toEqual([want, want]);
});

test("a scalar ret of a subroutine with a mask", () => {
  const text = kernel(`    call (M1_NM, 1) sub
${store}
.function "sub"
sub:
    mov (M1_NM, 16) A(0,0)<1> 3:d
    ret (M1, 1)`);
  expect(found(text)).toEqual(["warning visa-scalar-mask"]);
  const want = new Array<number>(16).fill(3);
  expect(stored(text)).toEqual([want, want]);
});

test("quarters of a predicate, in a thread of one work item", () => {
  // cmp.lt of V38 and V37 and then cmp.gt: all channels of P1 come from operands of four elements.
  const text = kernel(
    `    mov (M1, 4) X(0,0)<1> 0x76543210:v
    mov (M1, 4) Y(0,0)<1> 9:d
    mov (M1, 16) A(0,0)<1> 5:d
    cmp.lt (M1, 4) P1 X(0,0)<1;1,0> 2:d
    cmp.lt (M2, 4) P1 Y(0,0)<1;1,0> 2:d
    cmp.gt (M3, 4) P1 X(0,0)<1;1,0> 0:d
    cmp.gt (M4, 4) P1 Y(0,0)<1;1,0> 0:d
    (P1) mov (M1, 16) A(0,0)<1> 6:d
${store}`,
    ".decl X v_type=G type=d num_elts=4 align=dword\n.decl Y v_type=G type=d num_elts=4 align=dword",
    ".kernel_attr PerThreadInputSize=64",
  );
  const want = [6, 6, 5, 5, 5, 5, 5, 5, 5, 6, 6, 6, 6, 6, 6, 6];
  expect(stored(text)).toEqual([want, want]);
});

// GenXCisaBuilder (updateSIMDSize): 8, 16 or 32, as many as the channels of the widest instruction; .ze_info says 1.
describe("SimdSize is the width of an instruction, not of the thread", () => {
  test.each([8, 16, 32])("%i, in a thread of one work item with all channels", (simd) => {
    const channels = Math.min(simd, 16);
    const text = kernel(`    mov (M1, ${channels}) A(0,0)<1> 4:d\n${store}`, "", `.kernel_attr SimdSize=${simd}`);
    const want = Array.from({ length: 16 }, (_, channel) => (channel < channels ? 4 : 0));
    expect(stored(text)).toEqual([want, want]);
  });

  test("a kernel and a subprogram of different widths are no mismatch", () => {
    const kernelText = kernel(`    fcall (M1_NM, 1) f 0 0\n${store}`, "", ".kernel_attr SimdSize=8");
    const functionText = `.version 4.1
.global_function "f"
.kernel_attr Extern=1
.kernel_attr Target="cm"
.kernel_attr ArgSize=0
.kernel_attr RetValSize=0
.kernel_attr SimdSize=32
.function "f_main"
f_main:
    fret (M1_NM, 1)
`;
    const loaded = new Device().load(
      [
        { path: "k.visaasm", text: kernelText },
        { path: "f.visaasm", text: functionText },
      ],
      { isa: "visa" },
    );
    expect(loaded.diagnostics.map(({ code }) => code)).toEqual([]);
  });

  test("all kernels of a dump are taken, whatever their widths", () => {
    const widths = { narrow: 8, wide: 32 };
    const texts = Object.entries(widths).map(([name, simd]) => ({
      path: `VC_asm0_${name}.visaasm`,
      text: kernel(store, "", `.kernel_attr SimdSize=${simd}`).replace('"k"', `"${name}"`),
    }));
    const infos = Object.keys(widths).map((name) => `  - name: ${name}\n    execution_env:\n      simd_size: 1\n`);
    const files = [...texts, { path: "VC_asm0.zeinfo", text: `kernels:\n${infos.join("")}` }].map(({ path, text }) => {
      const bytes = new TextEncoder().encode(text);
      return { path, compression: "none" as const, bytes: bytes.length, read: () => bytes };
    });
    const folder = {
      path: "dump",
      format: "folder",
      isFolder: true,
      files,
      symbols: [],
      relocations: [],
      problems: [],
    };
    expect(openOpenCl(folder, null).texts.map(({ path }) => path)).toEqual(texts.map(({ path }) => path));
  });
});

// DPAS: a step takes 4 elements of a row if one side has bytes, otherwise 8; a row has eight steps.
describe("activations of dpas are as many bytes as its rows have", () => {
  const dpas = (kind: string, elements: number): string[] =>
    found(
      kernel(
        `    dpas.${kind} (M1, 16) A.0 A.0 W.0 X(0,0)\n    ret (M1, 1)`,
        `.decl W v_type=G type=d num_elts=128 align=GRF
.decl X v_type=G type=d num_elts=${elements} align=GRF`,
        ".kernel_attr PerThreadInputSize=64",
      ),
    );

  test.each([
    ["s8.s8.8.1", 8],
    ["u8.u2.8.1", 2],
    ["u2.u2.8.1", 4],
    ["hf.hf.8.1", 8],
  ])("%s: %i dwords", (kind, dwords) => {
    const isFloat = kind.startsWith("hf");
    const of = (elements: number) => dpas(kind, elements).filter((text) => text.endsWith("visa-out-of-bounds"));
    expect(of(dwords)).toEqual([]);
    expect(of(dwords - 1)).toEqual(["error visa-out-of-bounds"]);
    if (!isFloat) expect(dpas(kind, dwords)).toEqual([]);
  });
});
