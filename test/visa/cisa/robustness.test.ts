import { expect, test } from "vitest";
import { hasErrors, renderDiagnostic } from "../../../src/source/index.ts";
import { bindVisa } from "../../../src/visa/check/index.ts";
import { cisaCodes, readCisa, writeCisa } from "../../../src/visa/cisa/index.ts";
import { parseVisa } from "../../../src/visa/parser/index.ts";
import { printVisa } from "../../../src/visa/printer/index.ts";
import { SourceText } from "../../../src/source/index.ts";
import { fixture } from "./fixtures.ts";
import { referenceFiles } from "./reference-files.ts";
import { processorMilliseconds } from "../../processor-time.ts";

const fixtures = ["kernel-and-function", "version-3-0", "version-4-2", "written"].map(fixture);
const files = [...fixtures, ...referenceFiles.map(({ bytes }) => bytes)];

/** A linear congruential generator: the same bytes on every machine. */
function generator(seed: number): (below: number) => number {
  let state = seed;
  return (below) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((state / 2 ** 32) * below);
  };
}

/**
 * Reads bytes, and passes the result on to printer, checker and writer: nothing throws, and a file without errors
 * survives a round trip.
 */
function survive(bytes: Uint8Array): boolean {
  const { tree, diagnostics } = readCisa(bytes, "damaged.isa");
  for (const diagnostic of diagnostics.slice(0, 2)) {
    expect(Object.keys(cisaCodes)).toContain(diagnostic.code);
    expect(diagnostic.span.start).toBeLessThanOrEqual(bytes.length);
    renderDiagnostic(diagnostic);
  }
  if (tree === null) {
    expect(hasErrors(diagnostics)).toBe(true);
    return false;
  }
  const written = writeCisa(bindVisa(tree));
  const text = printVisa(tree);
  if (hasErrors(diagnostics)) return false;
  const complaints = parseVisa(new SourceText("damaged.visaasm", text)).diagnostics;
  expect(complaints.map((d) => renderDiagnostic(d))).toEqual([]);
  if (written.bytes === null) return false;
  const again = readCisa(written.bytes, "again.isa").diagnostics;
  expect(again.map((d) => renderDiagnostic(d))).toEqual([]);
  return true;
}

test("every prefix of a file ends in an error", () => {
  for (const bytes of fixtures) {
    for (let length = 0; length < bytes.length; length++) {
      const { diagnostics } = readCisa(bytes.subarray(0, length), "prefix.isa");
      expect(hasErrors(diagnostics), `${length} of ${bytes.length} bytes`).toBe(true);
    }
  }
});

test("any byte set to 0 or 255, or changed slightly", () => {
  for (const bytes of fixtures) {
    for (let at = 0; at < bytes.length; at++) {
      const damaged = bytes.slice();
      damaged[at] = [0, bytes[at]! ^ 1, 0xff][at % 3]!;
      survive(damaged);
    }
  }
});

test("prefixes and mutations of all files", () => {
  const random = generator(7);
  let whole = 0;
  for (let i = 0; i < 600; i++) {
    const original = files[random(files.length)]!;
    const bytes = original.slice(0, random(4) === 0 ? random(original.length) : original.length);
    for (let n = random(4); n >= 0 && bytes.length > 0; n--) {
      const at = random(bytes.length);
      if (random(3) === 0) bytes.copyWithin(at, random(bytes.length), random(bytes.length));
      else bytes[at] = random(256);
    }
    if (survive(bytes)) whole++;
  }
  // Some changes make a different program without errors.
  expect(whole).toBeGreaterThan(20);
});

test("random bytes after a header", () => {
  const random = generator(3);
  for (let i = 0; i < 300; i++) {
    const bytes = fixtures[i % fixtures.length]!.slice();
    for (let at = 8 + random(60); at < bytes.length; at++) bytes[at] = random(256);
    survive(bytes);
  }
});

const header = (kernels: number, size: number): Uint8Array => {
  const bytes = new Uint8Array(8 + 19 * kernels + 4 + size);
  const view = new DataView(bytes.buffer);
  bytes.set([0x43, 0x49, 0x53, 0x41, 3, 6]);
  view.setUint16(6, kernels, true);
  for (let i = 0; i < kernels; i++) {
    const at = 8 + 19 * i;
    bytes.set([1, 0x6b], at);
    view.setUint32(at + 2, 8 + 19 * kernels + 4, true);
    view.setUint32(at + 6, size, true);
  }
  return bytes;
};

test("many kernels in the same bytes are not all read", () => {
  const bytes = header(60_000, 500_000);
  const milliseconds = processorMilliseconds(() => {
    const { diagnostics } = readCisa(bytes, "overlap.isa");
    expect(diagnostics.map((d) => d.code)).toContain("visa-cisa-overlap");
  });
  expect(milliseconds).toBeLessThan(60_000);
});

test("counts that cannot fit are refused before anything is allocated for them", () => {
  const bytes = header(1, 40);
  new DataView(bytes.buffer).setUint32(bytes.length - 40, 0xffff_ffff, true);
  const { diagnostics } = readCisa(bytes, "counts.isa");
  expect(diagnostics.map((d) => d.message)).toEqual(["no room for 4294967295 strings (at 0x23)"]);
});
