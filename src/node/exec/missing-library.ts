import { readFileSync } from "node:fs";
import { ContainerError, HostObject } from "../../container/index.ts";

/** NVIDIA's libraries with code for GPUs of their own, by the beginnings of their names. */
const toolkit =
  /^lib(cublas|cublasLt|cufft|cufftw|curand|cusolver|cusolverMg|cusparse|cudnn\w*|cutensor\w*|nccl|npp\w*|nvblas|nvgraph|nvjpeg|nvrtc|nvJitLink|nvshmem\w*|cufile|nvidia-ml)\.so/;

/** The runtimes of other versions of CUDA. */
const otherRuntime = /^libcudart\.so\.(?!13$)(\d+)/;

/** Why a program that the loader has given up may lack a library that we do not bring; null if that is not why. */
export function missingLibrary(program: string): string | null {
  const needed = neededBy(program);
  const runtime = needed.map((name) => otherRuntime.exec(name)).find((match) => match !== null);
  if (runtime) return `it was built with CUDA ${runtime[1]} (${runtime[0]}), and exec runs programs of CUDA 13`;
  const libraries = needed.filter((name) => toolkit.test(name));
  if (libraries.length === 0) return null;
  return `it needs ${libraries.join(", ")}: exec stands for the CUDA runtime and driver alone, not for CUDA's libraries`;
}

function neededBy(program: string): readonly string[] {
  try {
    return HostObject.read(readFileSync(program), program)?.needed ?? [];
  } catch (error) {
    // What cannot be read is no program whose libraries could be missing.
    if (error instanceof ContainerError || (error as NodeJS.ErrnoException).code !== undefined) return [];
    throw error;
  }
}
