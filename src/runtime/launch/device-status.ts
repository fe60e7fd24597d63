/** Errors of CUDA's runtime that functions of its device runtime return, as numbers. */
export const status = {
  success: 0n,
  invalidValue: 1n,
  memoryAllocation: 2n,
  invalidConfiguration: 9n,
  invalidPitchValue: 12n,
  notSupported: 801n,
};
