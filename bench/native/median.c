#include "run.h"

typedef unsigned char byte;

static inline byte smaller(byte a, byte b) { return a < b ? a : b; }
static inline byte larger(byte a, byte b) { return a < b ? b : a; }

static inline byte smallest(byte a, byte b, byte c) { return smaller(smaller(a, b), c); }
static inline byte largest(byte a, byte b, byte c) { return larger(larger(a, b), c); }
static inline byte middle(byte a, byte b, byte c) { return larger(smaller(a, b), smaller(larger(a, b), c)); }

static inline byte median_at(const byte *up, const byte *row, const byte *down, int l, int x, int r) {
  byte low = largest(smallest(up[l], row[l], down[l]), smallest(up[x], row[x], down[x]),
                     smallest(up[r], row[r], down[r]));
  byte mid = middle(middle(up[l], row[l], down[l]), middle(up[x], row[x], down[x]), middle(up[r], row[r], down[r]));
  byte high = smallest(largest(up[l], row[l], down[l]), largest(up[x], row[x], down[x]),
                       largest(up[r], row[r], down[r]));
  return middle(low, mid, high);
}

static void median(int n, const byte *restrict in, byte *restrict out) {
#pragma omp parallel for
  for (int y = 0; y < n; ++y) {
    const byte *row = in + y * n, *up = y == 0 ? row : row - n, *down = y == n - 1 ? row : row + n;
    out[y * n] = median_at(up, row, down, 0, 0, 1);
    for (int x = 1; x < n - 1; ++x) out[y * n + x] = median_at(up, row, down, x - 1, x, x + 1);
    out[y * n + n - 1] = median_at(up, row, down, n - 2, n - 1, n - 1);
  }
}

void run(void *const *b, const double *s) { median(s[0], b[0], b[1]); }
