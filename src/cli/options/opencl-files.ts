import { join } from "node:path";
import {
  isOpenClPart,
  noContents,
  openClContents,
  type OpenClProgram,
  openOpenCl as openContents,
} from "../../runtime/visa/opencl-program.ts";
import { filesIn, isFolder, readBytes } from "../terminal/files.ts";

/**
 * Opens an OpenCL program: a folder of IGC's dumps, a ZIP archive of one, or a binary of ocloc. Of an archive with the
 * binaries for several devices, `device` names one.
 *
 * @throws UsageError if it has no vISA, which says how to compile so that it has
 */
export function openOpenCl(path: string, device: string | null): OpenClProgram {
  if (!isFolder(path)) return openContents(openClContents(path, readBytes(path)), device);
  const files = filesIn(path)
    .filter(isOpenClPart)
    .map((name) => join(path, name))
    .map((file) => ({ path: file, compression: "none", bytes: 0, read: () => readBytes(file) }) as const);
  return openContents({ ...noContents(path), format: "folder", isFolder: true, files }, device);
}
