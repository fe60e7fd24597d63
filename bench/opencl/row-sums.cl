// A tree in local memory for each row stands for the shuffles
kernel void row_sums(global const uint *restrict in, global uint *restrict sums) {
  local uint part[16][16];
  int x = get_local_id(0), y = get_local_id(1), row = get_group_id(0) * 16 + y;
  part[y][x] = in[row * 16 + x];
  barrier(CLK_LOCAL_MEM_FENCE);
  for (int rest = 8; rest > 0; rest >>= 1) {
    if (x < rest) part[y][x] += part[y][x + rest];
    barrier(CLK_LOCAL_MEM_FENCE);
  }
  if (x == 0) sums[row] = part[y][0];
}
