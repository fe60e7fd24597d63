import type { DataType } from "../../../src/visa/types.ts";
import { type Register, run } from "../memory/machine.ts";
import { bytesOf, type Vector, type VectorSource } from "./vectors.ts";

/**
 * The results of each vector's instruction, as bit patterns. All are instructions of one kernel, each with variables of
 * its own.
 */
export function runVectors(vectors: readonly Vector[], generate: boolean): readonly (readonly bigint[])[] {
  const registers: Record<string, Register> = {};
  const lines: string[] = ["    setp (M1_NM, 32) P1 0xffffffff:ud"];
  let control: number | null = null;
  vectors.forEach((vector, v) => {
    if (vector.control !== control) {
      control = vector.control;
      lines.push(`    mov (M1_NM, 1) %cr0(0,0)<1> ${control}:ud`);
    }
    const declare = (name: string, type: DataType, bits: bigint): string => {
      registers[name] = { type, bytes: bytesOf(bits, type) };
      return name;
    };
    const sources = vector.sources.map((s, i) => written(s, () => declare(`S${v}_${i}`, s.type, s.bits)));
    const results = vector.results.map(({ type }, i) => declare(`D${v}_${i}`, type === "bool" ? "ud" : type, 0n));
    const [first] = vector.results;
    const guard = vector.guard === null ? "" : vector.guard ? "(P1) " : "(!P1) ";
    const dst = first!.type === "bool" ? ["P2"] : results.map((name) => `${name}(0,0)<1>`);
    // The second result of add3.o is in the predicate.
    const overflow = vector.mnemonic === "add3.o";
    const words = overflow ? dst.slice(0, 1) : dst;
    lines.push(`    ${overflow ? "(P2) " : guard}${vector.mnemonic} (M1, 1) ${[...words, ...sources].join(" ")}`);
    if (first!.type === "bool") lines.push(`    (P2) sel (M1, 1) ${results[0]}(0,0)<1> 0x1:ud 0x0:ud`);
    if (overflow) lines.push(`    (P2) sel (M1, 1) ${results[1]}(0,0)<1> 0x1:ud 0x0:ud`);
  });
  const after = run({
    text: `    .decl P2 v_type=P num_elts=32\n${lines.join("\n")}`,
    registers: () => registers,
    generate,
    grfBytes: 32,
  });
  if (after.reports.length > 0) throw new Error(after.reports.join("\n"));
  return vectors.map(({ results }, v) => results.map((_, i) => littleEndian(after.registers[`D${v}_${i}`]!)));
}

const written = (s: VectorSource, declared: () => string): string =>
  s.immediate ? `0x${s.bits.toString(16)}:${s.type}` : `${s.modifier}${declared()}(0,0)<0;1,0>`;

const littleEndian = (bytes: Uint8Array): bigint =>
  bytes.reduceRight((value, byte) => (value << 8n) | BigInt(byte), 0n);
