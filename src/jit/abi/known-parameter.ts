/** An integer that a kernel loads from the block of its parameters. */
export interface KnownParameter {
  readonly offset: number;
  readonly bits: 8 | 16 | 32;
  readonly isSigned: boolean;
}

/** A parameter of which code knows the value. */
export interface GivenParameter extends KnownParameter {
  readonly value: number;
}

/** Parameters with the values that a launch gives to them: those that it has. */
export const givenIn = (params: Uint8Array, parameters: readonly KnownParameter[]): readonly GivenParameter[] =>
  parameters.flatMap((parameter) => {
    const value = valueIn(params, parameter);
    return value === null ? [] : [{ ...parameter, value }];
  });

/** The value of a parameter; null where a launch has none. */
function valueIn(params: Uint8Array, { offset, bits, isSigned }: KnownParameter): number | null {
  if (offset < 0 || offset + bits / 8 > params.length) return null;
  const view = new DataView(params.buffer, params.byteOffset, params.byteLength);
  switch (bits) {
    case 8:
      return isSigned ? view.getInt8(offset) : view.getUint8(offset);
    case 16:
      return isSigned ? view.getInt16(offset, true) : view.getUint16(offset, true);
    default:
      return view.getInt32(offset, true);
  }
}

/** Tells the values that launches give to some parameters apart. */
export const valuesIn = (params: Uint8Array, parameters: readonly KnownParameter[]): string =>
  parameters.map((parameter) => valueIn(params, parameter)).join();

/** Whether two launches give the same values to some parameters: it is asked at each launch. */
export function haveSameValues(a: Uint8Array, b: Uint8Array, parameters: readonly KnownParameter[]): boolean {
  for (const { offset, bits } of parameters) {
    for (let i = offset; i < offset + bits / 8; i++) if (a[i] !== b[i]) return false;
  }
  return true;
}
