#include "run.h"

static void random_walks(int n, int band, const unsigned *restrict seeds, int *restrict steps) {
#pragma omp parallel for
  for (int i = 0; i < n; ++i) {
    unsigned state = seeds[i] | 1;
    int at = 0, count = 0;
    while (at > -band && at < band) {
      state ^= state << 13;
      state ^= state >> 17;
      state ^= state << 5;
      at += state >> 31 ? 1 : -1;
      ++count;
    }
    steps[i] = at > 0 ? count : -count;
  }
}

void run(void *const *b, const double *s) { random_walks(s[0], s[1], b[0], b[1]); }
