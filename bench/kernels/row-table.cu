// Products of sparse rows: each thread follows a table of offsets, each of which belongs to one of four arrays
extern "C" __global__ void row_table(int n, const int *__restrict__ which, const int *__restrict__ at,
                                     const float *__restrict__ a, const float *__restrict__ b,
                                     const float *__restrict__ c, const float *__restrict__ d, float *__restrict__ out) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  const float *rows[4] = {a, b, c, d};
  float product = 1.0f;
  for (int k = 0; k < 4; ++k) {
    int j = 4 * i + k;
    product *= rows[which[j]][at[j]];
  }
  out[i] = product;
}
