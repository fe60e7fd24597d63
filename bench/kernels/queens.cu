// Ways to place queens, by depth-first search from a given start; a thread's stack lies in shared memory
#define BLOCK 64
#define DEPTH 10
extern "C" __global__ void queens(int n, int size, const unsigned *__restrict__ columns,
                                  const unsigned *__restrict__ lefts, const unsigned *__restrict__ rights,
                                  unsigned *__restrict__ ways) {
  __shared__ unsigned taken[BLOCK][DEPTH], left[BLOCK][DEPTH], right[BLOCK][DEPTH], free[BLOCK][DEPTH];
  int t = threadIdx.x, i = blockIdx.x * BLOCK + t, depth = 0;
  if (i >= n) return;
  unsigned all = (1u << size) - 1, found = 0;
  taken[t][0] = columns[i];
  left[t][0] = lefts[i];
  right[t][0] = rights[i];
  free[t][0] = all & ~(columns[i] | lefts[i] | rights[i]);
  while (depth >= 0) {
    unsigned place = free[t][depth] & -free[t][depth];
    if (place == 0) {
      --depth;
      continue;
    }
    free[t][depth] ^= place;
    unsigned c = taken[t][depth] | place, l = (left[t][depth] | place) << 1, r = (right[t][depth] | place) >> 1;
    if (c == all) {
      ++found;
      continue;
    }
    ++depth;
    taken[t][depth] = c;
    left[t][depth] = l;
    right[t][depth] = r;
    free[t][depth] = all & ~(c | l | r);
  }
  ways[i] = found;
}
