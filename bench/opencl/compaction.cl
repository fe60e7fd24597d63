// Arrays in local memory belong to kernels, which give them to the function that adds
#define BLOCK 256
#define MOST_BLOCKS 1024
static int sum_before(int size, local int *sums, int value, int *all) {
  int t = get_local_id(0), from = 0;
  sums[t] = value;
  barrier(CLK_LOCAL_MEM_FENCE);
  for (int distance = 1; distance < size; distance *= 2) {
    local int *now = sums + from * size, *next = sums + (1 - from) * size;
    next[t] = now[t] + (t >= distance ? now[t - distance] : 0);
    from = 1 - from;
    barrier(CLK_LOCAL_MEM_FENCE);
  }
  *all = sums[from * size + size - 1];
  return sums[from * size + t] - value;
}
kernel void places(int n, global const int *restrict in, global int *restrict place, global int *restrict sums) {
  local int part[2 * BLOCK];
  int i = get_global_id(0), all;
  int before = sum_before(BLOCK, part, i < n && in[i] > 0, &all);
  if (i < n) place[i] = before;
  if (get_local_id(0) == 0) sums[get_group_id(0)] = all;
}
kernel void starts(int blocks, global int *restrict sums, global int *restrict count) {
  local int part[2 * MOST_BLOCKS];
  int t = get_local_id(0), all;
  int before = sum_before(MOST_BLOCKS, part, t < blocks ? sums[t] : 0, &all);
  if (t < blocks) sums[t] = before;
  if (t == 0) *count = all;
}
kernel void scatter(int n, global const int *restrict in, global const int *restrict place,
                    global const int *restrict sums, global int *restrict out) {
  int i = get_global_id(0);
  if (i < n && in[i] > 0) out[sums[get_group_id(0)] + place[i]] = in[i];
}
