// One step of a bitonic sort in global memory: a thread orders the pair of keys that are `distance` apart, upwards or
// downwards as the run of `run` keys that they lie in
extern "C" __global__ void bitonic(int pairs, int run, int distance, int *__restrict__ keys) {
  int t = blockIdx.x * blockDim.x + threadIdx.x;
  if (t >= pairs) return;
  int low = 2 * t - (t & (distance - 1)), high = low + distance;
  int a = keys[low], b = keys[high];
  if ((a > b) == ((low & run) == 0)) {
    keys[low] = b;
    keys[high] = a;
  }
}
