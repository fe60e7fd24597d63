// Elements of one of two arrays, as the data says, scaled by one of two tables in shared memory
extern "C" __global__ void chosen_pointer(const int *__restrict__ choice, const float *__restrict__ a,
                                          const float *__restrict__ b, float *__restrict__ out) {
  __shared__ float even[256], odd[256];
  int t = threadIdx.x, i = blockIdx.x * 256 + t;
  even[t] = a[t];
  odd[t] = b[t];
  __syncthreads();
  const float *from = choice[i] > 0 ? a : b;
  const float *table = t & 1 ? odd : even;
  out[i] = from[i] * table[255 - t];
}
