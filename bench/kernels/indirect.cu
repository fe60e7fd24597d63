// Each element goes through one of four functions, as its selector says, by way of a table of pointers
typedef unsigned (*Step)(unsigned, unsigned);
__device__ unsigned mix(unsigned x, unsigned y) { return (x ^ x >> 15) * 0x2c1b3c6du + y; }
__device__ unsigned weigh(unsigned x, unsigned y) { return x * 3u + (y ^ x >> 7); }
__device__ unsigned larger(unsigned x, unsigned y) { return x > y ? x - y : y - x; }
__device__ unsigned turn(unsigned x, unsigned y) { return (x << 5 | x >> 27) ^ y; }
__device__ Step steps[4] = {mix, weigh, larger, turn};
extern "C" __global__ void indirect(int n, const unsigned *__restrict__ selector, const unsigned *__restrict__ x,
                                    const unsigned *__restrict__ y, unsigned *__restrict__ out) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = steps[selector[i]](x[i], y[i]);
}
