import { createHash } from "node:crypto";
import { expect, test } from "vitest";
import { sha256, sha256Here } from "../../src/runtime/data/sha256.ts";

test("agrees with OpenSSL at every length around the block size", () => {
  for (let length = 0; length < 200; length++) {
    const bytes = Uint8Array.from({ length }, (_, i) => (i * 151 + length) & 0xff);
    expect(sha256Here(bytes)).toBe(createHash("sha256").update(bytes).digest("hex"));
    expect(sha256(bytes)).toBe(sha256Here(bytes));
  }
  const large = new Uint8Array(3_000_001).fill(0xa5).subarray(1);
  expect(sha256Here(large)).toBe(createHash("sha256").update(large).digest("hex"));
  expect(sha256(large)).toBe(sha256Here(large));
});
