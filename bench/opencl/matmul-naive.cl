kernel void matmul_naive(int n, global const float *restrict A, global const float *restrict B,
                         global float *restrict C) {
  int row = get_global_id(1), col = get_global_id(0);
  if (row >= n || col >= n) return;
  float sum = 0;
  for (int k = 0; k < n; ++k) sum += A[row * n + k] * B[k * n + col];
  C[row * n + col] = sum;
}
