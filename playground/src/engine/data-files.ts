import { type Picture, readNumpy } from "lanewise";
import type { DataShape, LooseFile, ProgramFile } from "./protocol.ts";

/** Reads PNG files as the command line does; loaded only where there is one. */
const pngReader = async (): Promise<(bytes: Uint8Array) => Picture> =>
  (await import("../../../src/cli/terminal/png.ts")).readPng;

const isPng = ({ path, bytes }: ProgramFile): boolean => bytes !== null && /\.png$/i.test(path);

/** The reader of the pictures of a program; loaded only for programs that have one. */
export const pictureReader = async (
  files: readonly ProgramFile[],
): Promise<{ picture?: (bytes: Uint8Array) => Picture }> => (files.some(isPng) ? { picture: await pngReader() } : {});

/** Files of data, with what a buffer must be like to take them. Pictures of other formats become PNG files. */
export async function dataFiles(files: readonly ProgramFile[]): Promise<LooseFile[]> {
  const found: LooseFile[] = [];
  for (const file of files) {
    const plain = await asPng(file);
    found.push({ ...plain, shape: await shapeOf(plain) });
  }
  return found;
}

/** Throws what the file is wrong with. */
async function shapeOf(file: ProgramFile): Promise<DataShape | null> {
  if (file.bytes === null) return null;
  if (/\.npy$/i.test(file.path)) {
    const { type, shape, bytes } = readNumpy(file.bytes);
    const n = shape.reduce((product, length) => product * length, 1);
    return n > 0 && bytes.length > 0 ? { type, n, picture: null } : null;
  }
  if (!isPng(file)) return { type: "u8", n: file.bytes.length, picture: null };
  const { width, height, channels, bits } = (await pngReader())(file.bytes);
  return { type: bits === 16 ? "u16" : "u8", n: width * height * channels, picture: { width, height } };
}

async function asPng(file: ProgramFile): Promise<ProgramFile> {
  if (file.bytes === null || !/\.(jpe?g|webp|gif|avif|bmp)$/i.test(file.path)) return file;
  const options = { premultiplyAlpha: "none", colorSpaceConversion: "none" } as const;
  const bitmap = await createImageBitmap(new Blob([file.bytes as BlobPart]), options).catch(() => {
    throw new Error(`${file.path} is no picture that this browser can read`);
  });
  const canvas = new OffscreenCanvas(bitmap.width, bitmap.height);
  canvas.getContext("2d")!.drawImage(bitmap, 0, 0);
  const blob = await canvas.convertToBlob({ type: "image/png" });
  const path = file.path.replace(/\.\w+$/, ".png");
  return { path, text: null, bytes: new Uint8Array(await blob.arrayBuffer()) };
}
