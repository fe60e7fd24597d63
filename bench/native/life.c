#include "run.h"

typedef unsigned char byte;

static inline byte next(const byte *up, const byte *row, const byte *down, int left, int x, int right) {
  byte neighbours = up[left] + up[x] + up[right] + row[left] + row[right] + down[left] + down[x] + down[right];
  return (neighbours == 3) | ((neighbours == 2) & row[x]);
}

static void life(int n, const byte *restrict from, byte *restrict to) {
#pragma omp parallel for
  for (int y = 0; y < n; ++y) {
    const byte *up = from + (y + n - 1) % n * n, *row = from + y * n, *down = from + (y + 1) % n * n;
    to[y * n] = next(up, row, down, n - 1, 0, 1);
    for (int x = 1; x < n - 1; ++x) to[y * n + x] = next(up, row, down, x - 1, x, x + 1);
    to[y * n + n - 1] = next(up, row, down, n - 2, n - 1, 0);
  }
}

void run(void *const *b, const double *s) {
  for (int step = 0; step < s[1]; ++step) life(s[0], b[step % 2], b[1 - step % 2]);
}
