// STREAM copy: c = a
extern "C" __global__ void copy(int n, const double *__restrict__ a, double *__restrict__ c) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) c[i] = a[i];
}
