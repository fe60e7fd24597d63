#include "run.h"

static void wavefront(int n, const int *restrict a, const int *restrict b, int *restrict score) {
  int width = n + 1;
  for (int y = 1; y <= n; ++y)
    for (int x = 1; x <= n; ++x) {
      int match = score[(y - 1) * width + x - 1] + (a[y - 1] == b[x - 1] ? 3 : -1);
      int up = score[(y - 1) * width + x], left = score[y * width + x - 1], gap = (up > left ? up : left) - 2;
      score[y * width + x] = match > gap ? match : gap;
    }
}

void run(void *const *b, const double *s) { wavefront(s[0], b[0], b[1], b[2]); }
