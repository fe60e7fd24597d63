#include "run.h"

static const unsigned empty = 0xffffffffu;

static unsigned place(unsigned key, unsigned mask) {
  key ^= key >> 16;
  key *= 0x85ebca6bu;
  key ^= key >> 13;
  return key * 0xc2b2ae35u >> 7 & mask;
}

static unsigned find(unsigned key, unsigned mask, const unsigned *table) {
  unsigned at = place(key, mask);
  while (table[at] != key && table[at] != empty) at = (at + 1) & mask;
  return at;
}

static void hash_table(int n, unsigned mask, const unsigned *restrict keys, const unsigned *restrict asked,
                       unsigned *restrict table, unsigned *restrict count, unsigned *restrict found) {
  for (int i = 0; i < n; ++i) {
    unsigned at = find(keys[i], mask, table);
    table[at] = keys[i];
    ++count[at];
  }
#pragma omp parallel for
  for (int i = 0; i < n; ++i) {
    unsigned at = find(asked[i], mask, table);
    found[i] = table[at] == asked[i] ? count[at] : 0;
  }
}

void run(void *const *b, const double *s) { hash_table(s[0], s[1], b[0], b[1], b[2], b[3], b[4]); }
