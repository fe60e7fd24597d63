// A generation of the game of life, a byte a cell, on a square whose edges meet
extern "C" __global__ void life(int n, const unsigned char *__restrict__ from, unsigned char *__restrict__ to) {
  int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  int left = (x + n - 1) % n, right = (x + 1) % n, up = (y + n - 1) % n, down = (y + 1) % n;
  int neighbours = from[up * n + left] + from[up * n + x] + from[up * n + right] + from[y * n + left] +
                   from[y * n + right] + from[down * n + left] + from[down * n + x] + from[down * n + right];
  to[y * n + x] = neighbours == 3 || (neighbours == 2 && from[y * n + x]);
}
