// How often each byte occurs: blocks count in shared memory, four bytes a load, and add their counts at the end
#define BINS 256
extern "C" __global__ void histogram(int words, const unsigned *__restrict__ in, unsigned *__restrict__ counts) {
  __shared__ unsigned local[BINS];
  for (int i = threadIdx.x; i < BINS; i += blockDim.x) local[i] = 0;
  __syncthreads();
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < words; i += gridDim.x * blockDim.x) {
    unsigned word = in[i];
    atomicAdd(&local[word & 255], 1);
    atomicAdd(&local[word >> 8 & 255], 1);
    atomicAdd(&local[word >> 16 & 255], 1);
    atomicAdd(&local[word >> 24], 1);
  }
  __syncthreads();
  for (int i = threadIdx.x; i < BINS; i += blockDim.x) atomicAdd(&counts[i], local[i]);
}
