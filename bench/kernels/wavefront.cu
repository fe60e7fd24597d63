// Scores of the alignments of two texts, a diagonal of tiles a launch; in a tile, a diagonal of cells at a time
#define TILE 16
extern "C" __global__ void wavefront(int n, int diagonal, int first, const int *__restrict__ a,
                                     const int *__restrict__ b, int *score) {
  __shared__ int cell[TILE + 1][TILE + 1], row[TILE], column[TILE];
  int t = threadIdx.x, tx = first + blockIdx.x, ty = diagonal - tx, width = n + 1;
  int *corner = score + ty * TILE * width + tx * TILE;
  row[t] = a[ty * TILE + t];
  column[t] = b[tx * TILE + t];
  cell[0][t + 1] = corner[t + 1];
  cell[t + 1][0] = corner[(t + 1) * width];
  if (t == 0) cell[0][0] = corner[0];
  __syncthreads();
  for (int step = 0; step < 2 * TILE - 1; ++step) {
    int y = t + 1, x = step - t + 1;
    if (x >= 1 && x <= TILE) {
      int match = cell[y - 1][x - 1] + (row[y - 1] == column[x - 1] ? 3 : -1);
      cell[y][x] = max(match, max(cell[y - 1][x], cell[y][x - 1]) - 2);
    }
    __syncthreads();
  }
  for (int y = 1; y <= TILE; ++y) corner[y * width + t + 1] = cell[y][t + 1];
}
