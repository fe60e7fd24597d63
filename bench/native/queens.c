#include "run.h"

enum { DEPTH = 10 };

static void queens(int n, int size, const unsigned *restrict columns, const unsigned *restrict lefts,
                   const unsigned *restrict rights, unsigned *restrict ways) {
  unsigned all = (1u << size) - 1;
#pragma omp parallel for
  for (int i = 0; i < n; ++i) {
    unsigned taken[DEPTH] = {columns[i]}, left[DEPTH] = {lefts[i]}, right[DEPTH] = {rights[i]}, found = 0;
    unsigned free[DEPTH] = {all & ~(columns[i] | lefts[i] | rights[i])};
    for (int depth = 0; depth >= 0;) {
      unsigned place = free[depth] & -free[depth];
      if (place == 0) {
        --depth;
        continue;
      }
      free[depth] ^= place;
      unsigned c = taken[depth] | place, l = (left[depth] | place) << 1, r = (right[depth] | place) >> 1;
      if (c == all) {
        ++found;
        continue;
      }
      ++depth;
      taken[depth] = c;
      left[depth] = l;
      right[depth] = r;
      free[depth] = all & ~(c | l | r);
    }
    ways[i] = found;
  }
}

void run(void *const *b, const double *s) { queens(s[0], s[1], b[0], b[1], b[2], b[3]); }
