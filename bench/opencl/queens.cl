#define BLOCK 64
#define DEPTH 10
kernel void queens(int n, int size, global const uint *restrict columns, global const uint *restrict lefts,
                   global const uint *restrict rights, global uint *restrict ways) {
  local uint taken[BLOCK][DEPTH], left[BLOCK][DEPTH], right[BLOCK][DEPTH], free[BLOCK][DEPTH];
  int t = get_local_id(0), i = get_global_id(0), depth = 0;
  if (i >= n) return;
  uint all = (1u << size) - 1, found = 0;
  taken[t][0] = columns[i];
  left[t][0] = lefts[i];
  right[t][0] = rights[i];
  free[t][0] = all & ~(columns[i] | lefts[i] | rights[i]);
  while (depth >= 0) {
    uint place = free[t][depth] & -free[t][depth];
    if (place == 0) {
      --depth;
      continue;
    }
    free[t][depth] ^= place;
    uint c = taken[t][depth] | place, l = (left[t][depth] | place) << 1, r = (right[t][depth] | place) >> 1;
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
