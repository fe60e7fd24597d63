kernel void spmv(int rows, global const int *restrict start, global const int *restrict column,
                 global const float *restrict value, global const float *restrict x, global float *restrict y) {
  int row = get_global_id(0);
  if (row >= rows) return;
  float sum = 0;
  for (int i = start[row]; i < start[row + 1]; ++i) sum += value[i] * x[column[i]];
  y[row] = sum;
}
