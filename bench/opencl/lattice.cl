#define THREADS 128
#define NODES 4
kernel void lattice(float up, float down, float step, global const float *restrict price,
                    global float *restrict value) {
  local float first[THREADS + 1];
  int t = get_local_id(0);
  float s = price[get_group_id(0)], node[NODES];
  for (int k = 0; k < NODES; ++k) node[k] = fmax(s + step * (2 * (t * NODES + k) - THREADS * NODES), 0.0f);
  if (t == 0) first[THREADS] = 0.0f;
  for (int round = THREADS * NODES; round > 0; --round) {
    first[t] = node[0];
    barrier(CLK_LOCAL_MEM_FENCE);
    float next = first[t + 1];
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int k = 0; k < NODES - 1; ++k) node[k] = up * node[k + 1] + down * node[k];
    node[NODES - 1] = up * next + down * node[NODES - 1];
  }
  if (t == 0) value[get_group_id(0)] = node[0];
}
