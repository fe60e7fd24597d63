import type { LscAddress, LscData, Operand, RawOperand, VectorOperand } from "../tree.ts";
import { addressSizes, type Codes, dataSizes, models, orders, vectorLengths } from "./lsc-codes.ts";

/** The content of a field: a number or an operand. Null stands for %null, or for no surface. */
type Field = number | RawOperand | VectorOperand | null;

/** The value of a part of an LSC operand; undefined if it has no such part, or there is no code for it. */
export function lscPart(operand: Operand, part: string): Field | undefined {
  if (operand.kind === "lsc-address") return addressPart(operand, part);
  return operand.kind === "lsc-data" ? dataPart(operand, part) : undefined;
}

function addressPart(address: LscAddress, part: string): Field | undefined {
  const base = /^(base|offset)(\d)$/.exec(part);
  if (base) {
    const found = address.base[Number(base[2])];
    return base[1] === "base" ? (found?.operand ?? null) : (found?.offset ?? 0);
  }
  switch (part) {
    case "model":
      return models.codeOf.get(address.model);
    case "scale":
      return address.scale;
    case "offset":
      return address.base[0]?.offset ?? 0;
    case "size":
      return addressSizes.codeOf.get(address.size);
    case "surface":
      return address.surface;
    case "index":
      return address.surfaceOffset ?? 0;
    case "pitch":
      return address.base[1]?.operand ?? null;
    default:
      return undefined;
  }
}

function dataPart(data: LscData, part: string): Field | undefined {
  switch (part) {
    case "register":
      return data.register;
    case "size":
      return dataSizes.codeOf.get(data.size);
    case "order":
      return code(orders, data.block?.transposed ?? data.transposed);
    case "elements":
      return data.channels === null ? code(vectorLengths, data.vector) : 0;
    case "channels":
      return data.channels ?? 0;
    case "blocks":
      return data.block?.blocks;
    case "width":
      return data.block?.width;
    case "height":
      return data.block?.height;
    case "vnni":
      return Number(data.block?.vnni ?? false);
    default:
      return undefined;
  }
}

const code = <Name>({ codeOf }: Codes<Name>, name: Name): number | undefined => codeOf.get(name);

/** Names of the parts of an address that are set but have no field in the file. */
export function unheldParts(address: LscAddress, held: ReadonlySet<string>): readonly string[] {
  const bases = address.base.flatMap(({ offset }, i) => {
    const there = held.has(`base${i}`) || (i === 1 && held.has("pitch"));
    const offsetField = held.has(`offset${i}`) || (i === 0 && held.has("offset"));
    return [...(there ? [] : [`address ${i}`]), ...(offset === 0 || offsetField ? [] : [`the offset of address ${i}`])];
  });
  const index = address.surfaceOffset !== null && !held.has("index") ? ["the index beside the surface"] : [];
  return [...bases, ...index];
}
