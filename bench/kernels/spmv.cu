// y = A x for a sparse matrix in compressed rows, one row a thread
extern "C" __global__ void spmv(int rows, const int *__restrict__ start, const int *__restrict__ column,
                                const float *__restrict__ value, const float *__restrict__ x, float *__restrict__ y) {
  int row = blockIdx.x * blockDim.x + threadIdx.x;
  if (row >= rows) return;
  float sum = 0;
  for (int i = start[row]; i < start[row + 1]; ++i) sum += value[i] * x[column[i]];
  y[row] = sum;
}
