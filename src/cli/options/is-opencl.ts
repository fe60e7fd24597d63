import { isOpenClFile } from "../../runtime/visa/is-opencl.ts";
import { beginningOf, isFolder } from "../terminal/files.ts";

/** Whether a path is that of an OpenCL program: a folder of dumps, a ZIP archive, or what ocloc writes. */
export const isOpenCl = (path: string): boolean => isFolder(path) || isOpenClFile(beginningOf(path, 20));
