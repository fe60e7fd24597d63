// The median of nine pixels, whose coordinates are clamped at the borders
typedef unsigned char byte;

__device__ byte clamped_at(const byte *in, int n, int y, int x) {
  return in[min(max(y, 0), n - 1) * n + min(max(x, 0), n - 1)];
}

__device__ void exchange(byte &a, byte &b) {
  byte low = min(a, b);
  b = max(a, b);
  a = low;
}

__device__ void sort(byte &a, byte &b, byte &c) {
  exchange(a, b);
  exchange(b, c);
  exchange(a, b);
}

extern "C" __global__ void median(int n, const byte *__restrict__ in, byte *__restrict__ out) {
  int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  byte p[3][3];
  for (int dx = 0; dx < 3; ++dx) {
    for (int dy = 0; dy < 3; ++dy) p[dx][dy] = clamped_at(in, n, y + dy - 1, x + dx - 1);
    sort(p[dx][0], p[dx][1], p[dx][2]);
  }
  // Of the sorted columns only the largest low, the middle and the smallest high value can be the median.
  for (int dy = 0; dy < 3; ++dy) sort(p[0][dy], p[1][dy], p[2][dy]);
  sort(p[2][0], p[1][1], p[0][2]);
  out[y * n + x] = p[1][1];
}
