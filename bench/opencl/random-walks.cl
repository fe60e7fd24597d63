kernel void random_walks(int n, int band, global const uint *restrict seeds, global int *restrict steps) {
  int i = get_global_id(0);
  if (i >= n) return;
  uint state = seeds[i] | 1;
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
