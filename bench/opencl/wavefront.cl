#define TILE 16
kernel void wavefront(int n, int diagonal, int first, global const int *restrict a, global const int *restrict b,
                      global int *score) {
  local int cell[TILE + 1][TILE + 1], row[TILE], column[TILE];
  int t = get_local_id(0), tx = first + get_group_id(0), ty = diagonal - tx, width = n + 1;
  global int *corner = score + ty * TILE * width + tx * TILE;
  row[t] = a[ty * TILE + t];
  column[t] = b[tx * TILE + t];
  cell[0][t + 1] = corner[t + 1];
  cell[t + 1][0] = corner[(t + 1) * width];
  if (t == 0) cell[0][0] = corner[0];
  barrier(CLK_LOCAL_MEM_FENCE);
  for (int step = 0; step < 2 * TILE - 1; ++step) {
    int y = t + 1, x = step - t + 1;
    if (x >= 1 && x <= TILE) {
      int match = cell[y - 1][x - 1] + (row[y - 1] == column[x - 1] ? 3 : -1);
      cell[y][x] = max(match, max(cell[y - 1][x], cell[y][x - 1]) - 2);
    }
    barrier(CLK_LOCAL_MEM_FENCE);
  }
  for (int y = 1; y <= TILE; ++y) corner[y * width + t + 1] = cell[y][t + 1];
}
