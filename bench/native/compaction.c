#include "run.h"

enum { BLOCK = 256 };

static int end_of(int block, int n) { return (block + 1) * BLOCK < n ? (block + 1) * BLOCK : n; }

static void compaction(int n, const int *restrict in, int *restrict place, int *restrict sums, int *restrict out,
                       int *restrict count) {
  int blocks = (n + BLOCK - 1) / BLOCK, all = 0;
#pragma omp parallel for
  for (int block = 0; block < blocks; ++block) {
    int sum = 0;
    for (int i = block * BLOCK; i < end_of(block, n); ++i) {
      place[i] = sum;
      sum += in[i] > 0;
    }
    sums[block] = sum;
  }
  for (int block = 0; block < blocks; ++block) {
    int sum = sums[block];
    sums[block] = all;
    all += sum;
  }
  *count = all;
#pragma omp parallel for
  for (int block = 0; block < blocks; ++block)
    for (int i = block * BLOCK; i < end_of(block, n); ++i)
      if (in[i] > 0) out[sums[block] + place[i]] = in[i];
}

void run(void *const *b, const double *s) { compaction(s[0], b[0], b[1], b[2], b[3], b[4]); }
