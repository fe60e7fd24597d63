typedef unsigned int uint;
// Each work item calls, in every round, one of four functions by its address.

__device__ __noinline__ uint twist(uint a, uint b) { return (a ^ b << 7) * 0x9e3779b1u; }
__device__ __noinline__ uint shear(uint a, uint b) { return (a >> 3) + (b ^ 0x55u) * 5; }
__device__ __noinline__ uint blend(uint a, uint b) { return (a & b) + (a | 3u); }
__device__ __noinline__ uint turn(uint a, uint b) { return (a << 5 | a >> 27) - b; }

extern "C" __global__ void calls_table(uint rounds, uint *out) {
  uint id = blockIdx.x * blockDim.x + threadIdx.x;
  uint x = id * 2654435761u;
  for (uint i = 0; i < rounds; i++) {
    uint k = (x >> 9) & 3;
    uint (*f)(uint, uint) = k == 0 ? twist : k == 1 ? shear : k == 2 ? blend : turn;
    x = f(x, i + id);
  }
  out[id] = x;
}
