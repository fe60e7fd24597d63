kernel void small_blocks(int n, global const int *restrict in, global int *restrict out) {
  local int rows[4][4], both[4][4];
  int x = get_local_id(0), y = get_local_id(1), at = get_global_id(1) * n + get_global_id(0);
  rows[y][x] = in[at];
  barrier(CLK_LOCAL_MEM_FENCE);
  int sum = 0;
  for (int k = 0; k < 4; ++k) sum += (popcount(k & x) & 1) ? -rows[y][k] : rows[y][k];
  both[y][x] = sum;
  barrier(CLK_LOCAL_MEM_FENCE);
  sum = 0;
  for (int k = 0; k < 4; ++k) sum += (popcount(k & y) & 1) ? -both[k][x] : both[k][x];
  out[at] = sum;
}
