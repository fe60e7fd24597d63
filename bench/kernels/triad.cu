// STREAM triad: a = b + q c
extern "C" __global__ void triad(int n, double q, const double *__restrict__ b, const double *__restrict__ c,
                                 double *__restrict__ a) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) a[i] = b[i] + q * c[i];
}
