const bytesOf: Readonly<Record<string, number>> = {
  byte: 1,
  word: 2,
  dword: 4,
  qword: 8,
  oword: 16,
  hword: 32,
  wordx32: 64,
  "32word": 64,
  wordx64: 128,
  "64word": 128,
};

/**
 * Bytes that a word after `align=` stands for (4_visa_header.md): a name, or a number that is a power of two up to 128.
 * Null if it is neither.
 */
export function alignmentBytes(word: string, grfBytes: number): number | null {
  if (/^grf$/i.test(word)) return grfBytes;
  if (/^(?:grfx2|2grf)$/i.test(word)) return 2 * grfBytes;
  const named = bytesOf[word.toLowerCase()];
  if (named !== undefined) return named;
  const value = Number(word);
  return Number.isInteger(Math.log2(value)) && value >= 1 && value <= 128 ? value : null;
}
