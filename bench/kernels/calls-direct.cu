typedef unsigned int uint;
// Each work item calls one function again and again.
__device__ __noinline__ uint mix_bits(uint a, uint b) {
  a ^= b << 7;
  a *= 0x9e3779b1u;
  return a ^ (a >> 15);
}

extern "C" __global__ void calls_direct(uint rounds, uint *out) {
  uint id = blockIdx.x * blockDim.x + threadIdx.x;
  uint x = id;
  for (uint i = 0; i < rounds; i++) x = mix_bits(x, i + id);
  out[id] = x;
}
