import { expect, test } from "vitest";
import { foundIn } from "./diagnose.ts";

/**
 * The diagnostics of a kernel for a platform. `V` is 16 dwords, `L` 32, `A` 16 addresses, `S` one dword, `M` and `H`
 * 128 numbers.
 */
const found = (target: string, statement: string): string[] =>
  foundIn(
    target,
    `.decl V v_type=G type=ud num_elts=16 align=GRF
.decl L v_type=G type=ud num_elts=32 align=GRF
.decl A v_type=G type=uq num_elts=16 align=GRF
.decl S v_type=G type=ud num_elts=1 align=GRF
.decl M v_type=G type=d num_elts=128 align=GRF
.decl H v_type=G type=hf num_elts=128 align=GRF`,
    statement,
  );

// LSC_UNTYPED: each element of a vector begins in a register of its own; transposed, they are consecutive.
test.each([
  ["pvc", "lsc_load.ugm (M1, 16) V:d32 flat[A]:a64"],
  ["pvc", "lsc_load.ugm (M1, 16) L:d32x2 flat[A]:a64"],
  ["dg2", "lsc_load.ugm (M1, 8) V:d32x2 flat[A]:a64"],
  ["pvc", "lsc_load.ugm (M1, 16) L:d64 flat[A]:a64"],
  ["pvc", "lsc_load.ugm (M1_NM, 1) L:d32x32t flat[A]:a64"],
  ["pvc", "lsc_load.ugm (M1_NM, 1) S:d32x16t flat[A]:a64"],
  ["pvc", "lsc_load_quad.ugm (M1, 16) L:d32.xw flat[A]:a64"],
  ["pvc", "lsc_store.slm (M1, 16) flat[V]:a32 V:d32"],
  ["pvc", "lsc_atomic_iadd.ugm (M1, 16) V:d32 flat[A]:a64 V %null"],
  // DPAS: rows of one element per channel, and a doubleword per channel and step.
  ["pvc", "dpas.s8.s8.8.8 (M1, 16) M.0 M.0 M.0 M(0,0)"],
  ["pvc", "dpas.hf.hf.8.8 (M1, 16) H.0 H.0 M.0 M(0,0)"],
])("the registers of a message are there: %s, %s", (target, statement) => {
  expect(found(target, statement)).toEqual([]);
});

test.each([
  ["pvc", "lsc_load.ugm (M1, 16) V:d32x2 flat[A]:a64"],
  ["pvc", "lsc_load.ugm (M1, 16) S:d64 flat[A]:a64"],
  ["dg2", "lsc_load.ugm (M1, 16) S:d32 flat[A]:a64"],
  ["pvc", "lsc_load.ugm (M1, 16) V:d32 flat[V]:a64"],
  ["pvc", "lsc_load.ugm (M1_NM, 1) L:d32x64t flat[A]:a64"],
  ["pvc", "lsc_load_quad.ugm (M1, 16) L:d32.xyw flat[A]:a64"],
  ["pvc", "lsc_store.slm (M1, 16) flat[V]:a32 V:d32x2"],
  ["pvc", "lsc_atomic_iadd.ugm (M1, 16) V:d64 flat[A]:a64 A %null"],
  ["pvc", "lsc_atomic_iadd.ugm (M1, 16) A:d64 flat[A]:a64 V %null"],
  ["dg2", "dpas.s8.s8.8.8 (M1, 8) L.0 M.0 M.0 M(0,0)"],
  ["pvc", "dpas.s8.s8.8.8 (M1, 16) M.0 L.0 M.0 M(0,0)"],
  ["pvc", "dpas.s8.s8.8.2 (M1, 16) M.0 M.0 L.0 M(0,0)"],
])("a message goes beyond the registers of its variable: %s, %s", (target, statement) => {
  expect(found(target, statement)).toEqual(["error visa-out-of-bounds"]);
});
