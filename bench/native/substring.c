#include "run.h"

enum { LENGTH = 6 };

// Neither const nor static: as in the kernel, the compiler must not know what is searched for.
unsigned char pattern[LENGTH] = {2, 0, 1, 2, 0, 3};

static void substring(int n, const unsigned char *restrict text, unsigned char *restrict found) {
#pragma omp parallel for
  for (int i = 0; i < n; ++i) {
    int same = 0;
    if (i + LENGTH <= n)
      while (same < LENGTH && text[i + same] == pattern[same]) ++same;
    found[i] = same == LENGTH;
  }
}

void run(void *const *b, const double *s) { substring(s[0], b[0], b[1]); }
