#define TILE 16
kernel void matmul_tiled(int n, global const float *restrict A, global const float *restrict B,
                         global float *restrict C) {
  local float a[TILE][TILE], b[TILE][TILE];
  int tx = get_local_id(0), ty = get_local_id(1);
  int row = get_global_id(1), col = get_global_id(0);
  float sum = 0;
  for (int k0 = 0; k0 < n; k0 += TILE) {
    a[ty][tx] = A[row * n + k0 + tx];
    b[ty][tx] = B[(k0 + ty) * n + col];
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int k = 0; k < TILE; ++k) sum += a[ty][k] * b[k][tx];
    barrier(CLK_LOCAL_MEM_FENCE);
  }
  C[row * n + col] = sum;
}
