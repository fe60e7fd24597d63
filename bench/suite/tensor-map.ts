import type { KernelArgument } from "../../src/runtime/data/argument.ts";
import type { Buffer } from "../../src/runtime/data/buffer.ts";
import type { PtxDevice } from "../../src/runtime/device/ptx-device.ts";
import type { BenchTensorMap } from "./kernel.ts";

/** The tensor map of a matrix in a buffer. */
export function tensorMapOf(device: PtxDevice, buffer: Buffer, { side, box }: BenchTensorMap): KernelArgument {
  return device.tensorMap({
    dataType: "f16",
    globalAddress: buffer,
    globalDim: [side, side],
    globalStrides: [2 * side],
    boxDim: [...box],
    swizzle: "128B",
  });
}
