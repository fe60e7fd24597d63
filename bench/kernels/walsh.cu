// Walsh transforms of runs of 512 in shared memory: which two elements a thread adds is computed with a mask
extern "C" __global__ void walsh(int length, const float *__restrict__ in, float *__restrict__ out) {
  extern __shared__ float run[];
  int base = blockIdx.x * length;
  for (int i = threadIdx.x; i < length; i += blockDim.x) run[i] = in[base + i];
  for (int stride = length / 2; stride > 0; stride >>= 1) {
    __syncthreads();
    for (int pair = threadIdx.x; pair < length / 2; pair += blockDim.x) {
      int low = pair & (stride - 1), at = ((pair - low) << 1) + low;
      float a = run[at], b = run[at + stride];
      run[at] = a + b;
      run[at + stride] = a - b;
    }
  }
  __syncthreads();
  for (int i = threadIdx.x; i < length; i += blockDim.x) out[base + i] = run[i];
}
