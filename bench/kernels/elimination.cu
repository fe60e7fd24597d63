// Gaussian elimination: for each column a launch for the multipliers and one for the rest of the matrix
extern "C" __global__ void multipliers(int n, int column, const float *__restrict__ a, float *__restrict__ m) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n - 1 - column) return;
  m[i + column + 1] = a[(i + column + 1) * n + column] / a[column * n + column];
}
extern "C" __global__ void eliminate(int n, int column, float *__restrict__ a, const float *__restrict__ m) {
  int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x >= n - column || y >= n - 1 - column) return;
  a[(y + column + 1) * n + x + column] -= m[y + column + 1] * a[column * n + x + column];
}
