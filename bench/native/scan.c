#include "run.h"

enum { HALF = 512, RUN = 2 * HALF };

// Up and down a tree, after Blelloch.
static unsigned scan_run(const unsigned *restrict in, unsigned *restrict out) {
  unsigned tree[RUN];
  for (int i = 0; i < RUN; ++i) tree[i] = in[i];
  int stride = 1;
  for (int nodes = HALF; nodes > 0; nodes /= 2, stride *= 2)
    for (int t = 0; t < nodes; ++t) tree[(2 * t + 2) * stride - 1] += tree[(2 * t + 1) * stride - 1];
  unsigned sum = tree[RUN - 1];
  tree[RUN - 1] = 0;
  for (int nodes = 1; nodes <= HALF; nodes *= 2) {
    stride /= 2;
    for (int t = 0; t < nodes; ++t) {
      int left = (2 * t + 1) * stride - 1, right = (2 * t + 2) * stride - 1;
      unsigned before = tree[left];
      tree[left] = tree[right];
      tree[right] += before;
    }
  }
  for (int i = 0; i < RUN; ++i) out[i] = tree[i];
  return sum;
}

static void scan(int n, const unsigned *restrict in, unsigned *restrict out, unsigned *restrict sums,
                 unsigned *restrict offsets) {
  int runs = (n + RUN - 1) / RUN;
#pragma omp parallel for
  for (int i = 0; i < runs; ++i) sums[i] = scan_run(in + i * RUN, out + i * RUN);
  scan_run(sums, offsets);
#pragma omp parallel for
  for (int i = 0; i < runs; ++i)
    for (int j = 0; j < RUN; ++j) out[i * RUN + j] += offsets[i];
}

void run(void *const *b, const double *s) { scan(s[0], b[0], b[1], b[2], b[3]); }
