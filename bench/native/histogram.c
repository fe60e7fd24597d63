#include <string.h>

#include "run.h"

enum { BINS = 256, TABLES = 4 };

// Four tables, so that equal bytes in a row do not wait for one counter.
static void histogram(int n, const unsigned char *restrict in, unsigned *restrict counts) {
  unsigned table[TABLES][BINS] = {{0}};
#pragma omp parallel for reduction(+ : table)
  for (int i = 0; i < n; i += TABLES)
    for (int j = 0; j < TABLES; ++j) ++table[j][in[i + j]];
  for (int i = 0; i < BINS; ++i) counts[i] = table[0][i] + table[1][i] + table[2][i] + table[3][i];
}

void run(void *const *b, const double *s) { histogram(4 * s[0], b[0], b[1]); }
