#include "run.h"

static unsigned fibonacci(unsigned n) { return n < 2 ? n : fibonacci(n - 1) + fibonacci(n - 2); }

static void recursion(int n, const unsigned *restrict order, unsigned *restrict out) {
#pragma omp parallel for schedule(dynamic, 64)
  for (int i = 0; i < n; ++i) out[i] = fibonacci(order[i]);
}

void run(void *const *b, const double *s) { recursion(s[0], b[0], b[1]); }
