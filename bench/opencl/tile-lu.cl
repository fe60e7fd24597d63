#define SIDE 16
kernel void tile_lu(global const float *restrict in, global float *restrict out) {
  local float tile[SIDE][SIDE];
  int t = get_local_id(0), base = get_group_id(0) * SIDE * SIDE;
  for (int y = 0; y < SIDE; ++y) tile[y][t] = in[base + y * SIDE + t];
  barrier(CLK_LOCAL_MEM_FENCE);
  for (int k = 0; k < SIDE - 1; ++k) {
    if (t > k) {
      for (int j = 0; j < k; ++j) tile[t][k] -= tile[t][j] * tile[j][k];
      tile[t][k] /= tile[k][k];
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    if (t > k)
      for (int j = 0; j <= k; ++j) tile[k + 1][t] -= tile[k + 1][j] * tile[j][t];
    barrier(CLK_LOCAL_MEM_FENCE);
  }
  for (int y = 0; y < SIDE; ++y) out[base + y * SIDE + t] = tile[y][t];
}
