import { ByteReader } from "./byte-reader.ts";
import { hasLane } from "../wasm/memory-ops.ts";
import { immediateBytes } from "../wasm/value-ops.ts";
import { memoryOpOf, valueOpOf } from "./instructions.ts";

/** Skips an instruction's immediates. */
function skipImmediates(code: ByteReader, opcode: number): void {
  if (opcode >= 0xfc) {
    const second = code.unsigned();
    if (opcode === 0xfc) code.skip(second === 0x0a ? 2 : Number(second === 0x0b));
    else if (opcode === 0xfd && second === 0x0c) code.skip(16);
    else {
      const value = valueOpOf(opcode, second);
      if (value !== undefined) code.skip(immediateBytes(value));
      else skipAccess(code, memoryOpOf(opcode, second)!);
    }
    return;
  }
  const access = memoryOpOf(null, opcode);
  if (access !== undefined) skipAccess(code, access);
  else if (opcode === 0x0e) {
    code.list((from) => from.unsigned());
    code.unsigned();
  } else if (opcode === 0x11 || opcode === 0x1c) {
    code.unsigned();
    code.skip(1);
  } else if (opcode === 0x41 || opcode === 0x42) code.signed64();
  else if (opcode === 0x43) code.skip(4);
  else if (opcode === 0x44) code.skip(8);
  else if (opcode <= 0x04 && opcode >= 0x02) code.skip(1);
  else if (opcode === 0x0c || opcode === 0x0d || opcode === 0x10 || (opcode >= 0x20 && opcode <= 0x24)) code.unsigned();
}

function skipAccess(code: ByteReader, access: Parameters<typeof hasLane>[0]): void {
  code.unsigned();
  code.unsigned();
  if (hasLane(access)) code.skip(1);
}

/** Skips to the end of the innermost construct, or to its `else`, and over that. */
export function skipToEnd(code: ByteReader): "end" | "else" {
  for (let depth = 0; ; ) {
    const opcode = code.byte();
    if (opcode === 0x0b && depth-- === 0) return "end";
    if (opcode === 0x05 && depth === 0) return "else";
    if (opcode >= 0x02 && opcode <= 0x04) depth++;
    skipImmediates(code, opcode);
  }
}

/** The locals that each loop assigns, by the loop's offset in the code. */
export function assignedInLoops(bytes: Uint8Array): ReadonlyMap<number, ReadonlySet<number>> {
  const code = new ByteReader(bytes);
  const loops = new Map<number, Set<number>>();
  const open: (Set<number> | null)[] = [];
  while (!code.atEnd) {
    const offset = code.position;
    const opcode = code.byte();
    if (opcode === 0x21 || opcode === 0x22) {
      const local = code.unsigned();
      for (const loop of open) loop?.add(local);
      continue;
    }
    if (opcode === 0x03) {
      const locals = new Set<number>();
      loops.set(offset, locals);
      open.push(locals);
    } else if (opcode === 0x02 || opcode === 0x04) open.push(null);
    else if (opcode === 0x0b) open.pop();
    skipImmediates(code, opcode);
  }
  return loops;
}
