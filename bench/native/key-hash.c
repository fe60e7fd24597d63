#include "run.h"

static void key_hash(int n, const unsigned char *restrict keys, unsigned *restrict hashes) {
#pragma omp parallel for
  for (int i = 0; i < n; ++i) {
    const unsigned char *key = keys + 24 * i;
    unsigned hash = 0;
    for (int word = 0; word < 6; ++word) {
      unsigned k = key[4 * word] | key[4 * word + 1] << 8 | key[4 * word + 2] << 16 | (unsigned)key[4 * word + 3] << 24;
      k *= 0xcc9e2d51u;
      k = k << 15 | k >> 17;
      hash ^= k * 0x1b873593u;
      hash = (hash << 13 | hash >> 19) * 5 + 0xe6546b64u;
    }
    hash ^= hash >> 16;
    hash *= 0x85ebca6bu;
    hashes[i] = hash ^ hash >> 13;
  }
}

void run(void *const *b, const double *s) { key_hash(s[0], b[0], b[1]); }
