#include "run.h"

#include <stdlib.h>

static int min(int a, int b) { return a < b ? a : b; }

static void row(int n, const int *restrict cost, const int *restrict from, int *restrict to) {
  to[0] = cost[0] + min(from[0], from[1]);
  for (int x = 1; x < n - 1; ++x) to[x] = cost[x] + min(from[x], min(from[x - 1], from[x + 1]));
  to[n - 1] = cost[n - 1] + min(from[n - 1], from[n - 2]);
}

void run(void *const *b, const double *s) {
  int n = s[0];
  static int *between[2];
  for (int i = 0; i < 2; ++i)
    if (!between[i]) between[i] = malloc(sizeof(int) * n);
  for (int step = 0; step < 16; ++step) {
    const int *from = b[1 + step % 2];
    for (int k = 0; k < 8; ++k) {
      int *to = k == 7 ? b[2 - step % 2] : between[k % 2];
      row(n, (const int *)b[0] + (8 * step + k) * n, from, to);
      from = to;
    }
  }
}
