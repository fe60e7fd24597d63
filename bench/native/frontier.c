#include "run.h"

static void search(int n, int levels, const int *restrict start, const int *restrict edge,
                   unsigned char *restrict frontier, unsigned char *restrict next, int *restrict level) {
  for (int depth = 1; depth <= levels; ++depth) {
    for (int node = 0; node < n; ++node) {
      if (!frontier[node]) continue;
      frontier[node] = 0;
      for (int k = start[node]; k < start[node + 1]; ++k)
        if (level[edge[k]] < 0) next[edge[k]] = 1;
    }
    for (int node = 0; node < n; ++node) {
      if (!next[node]) continue;
      next[node] = 0;
      frontier[node] = 1;
      level[node] = depth;
    }
  }
}

void run(void *const *b, const double *s) { search(s[0], s[1], b[0], b[1], b[2], b[3], b[4]); }
