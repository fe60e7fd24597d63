/** The functions of CUDA's device runtime, by which kernels hand work to the device. */
export const deviceWorkNames = [
  "cudaGetParameterBuffer",
  "cudaLaunchDevice",
  "cudaGetParameterBufferV2",
  "cudaLaunchDeviceV2",
  "cudaGraphSetConditional",
  "cudaGraphLaunch",
  "cudaGraphKernelNodeSetParam",
  "cudaGraphKernelNodeSetEnabled",
  "cudaGraphKernelNodeSetGridDim",
  "cudaGraphKernelNodeUpdatesApply",
  "__cudaCDP2GetParameterBuffer",
  "__cudaCDP2LaunchDevice",
  "__cudaCDP2LaunchDevice_ptsz",
  "__cudaCDP2GetParameterBufferV2",
  "__cudaCDP2LaunchDeviceV2",
  "__cudaCDP2LaunchDeviceV2_ptsz",
  "__cudaCDP2MemcpyAsync",
  "__cudaCDP2MemcpyAsync_ptsz",
  "__cudaCDP2Memcpy2DAsync",
  "__cudaCDP2Memcpy2DAsync_ptsz",
  "__cudaCDP2Memcpy3DAsync",
  "__cudaCDP2Memcpy3DAsync_ptsz",
  "__cudaCDP2MemsetAsync",
  "__cudaCDP2MemsetAsync_ptsz",
  "__cudaCDP2Memset2DAsync",
  "__cudaCDP2Memset2DAsync_ptsz",
  "__cudaCDP2Memset3DAsync",
  "__cudaCDP2Memset3DAsync_ptsz",
  "__cudaCDP2Malloc",
  "__cudaCDP2Free",
  "__cudaCDP2StreamCreateWithFlags",
  "__cudaCDP2StreamDestroy",
  "__cudaCDP2StreamWaitEvent",
  "__cudaCDP2StreamWaitEvent_ptsz",
  "__cudaCDP2EventCreateWithFlags",
  "__cudaCDP2EventRecord",
  "__cudaCDP2EventRecord_ptsz",
  "__cudaCDP2EventRecordWithFlags",
  "__cudaCDP2EventRecordWithFlags_ptsz",
  "__cudaCDP2EventDestroy",
  "__cudaCDP2GetLastError",
  "__cudaCDP2PeekAtLastError",
  "__cudaCDP2GetErrorString",
  "__cudaCDP2GetErrorName",
  "__cudaCDP2GetDevice",
  "__cudaCDP2GetDeviceCount",
  "__cudaCDP2RuntimeGetVersion",
  "__cudaCDP2DeviceGetAttribute",
  "__cudaCDP2DeviceGetLimit",
  "__cudaCDP2DeviceGetCacheConfig",
  "__cudaCDP2DeviceGetSharedMemConfig",
  "__cudaCDP2FuncGetAttributes",
  "__cudaCDP2OccupancyMaxActiveBlocksPerMultiprocessor",
  "__cudaCDP2OccupancyMaxActiveBlocksPerMultiprocessorWithFlags",
] as const;

/** The CUDA runtime functions that device code may call without defining them; see `device-functions.ts`. */
export const providedNames = ["vprintf", "malloc", "free", "__assertfail", ...deviceWorkNames] as const;

const deviceWork: ReadonlySet<string> = new Set(deviceWorkNames);

/** Whether a function belongs to CUDA's device runtime. */
export const isDeviceWork = (name: string): boolean => deviceWork.has(name);

const provided: ReadonlySet<string> = new Set(providedNames);

export const isProvided = (name: string): boolean => provided.has(name);
