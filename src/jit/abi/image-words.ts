/**
 * What the launcher tells compiled code about a texture, in words of 32 bits: the image lies in device memory as a whole.
 * `normalized` and `linear`: 0 or 1. `border`: the texel outside, four channels.
 */
export const imageWords = {
  ...{ base: 0, rowPitch: 1, width: 2, height: 3, modeX: 4, modeY: 5, normalized: 6, linear: 7, border: 8 },
} as const;

/** The registers of `fragments` that come before these words, and those that both take together. */
const resultRegisters = 8;
export const imageRegisters = 12;

/** The byte of `fragments` at which the words are, after results of the chunk's lanes. */
export const imageWordsAt = (lanes: number): number => resultRegisters * 4 * lanes;

/** The ways of treating texels outside, as these words have them: those from `wrap` on repeat the image. */
export const imageModes = { clamp: 0, border: 1, wrap: 2, mirror: 3 } as const;
