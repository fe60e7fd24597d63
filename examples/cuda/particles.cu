// What a debugger shows: types of every kind, blocks within blocks, calls.
namespace physics {
enum Kind { Rest, Moving = 3 };
enum class Flag : unsigned char { Off, On };
struct Vec {
  float x, y, z;
};
union Word {
  unsigned bits;
  float value;
};
struct Particle {
  Vec at;
  double mass;
  Kind kind;
  Flag flag;
  bool alive;
  char tag;
  short history[3];
  const Particle *next;
};
}  // namespace physics

typedef unsigned long long u64;

__device__ int steps = 7;
__constant__ float scale[2] = {2.0f, 0.5f};

__device__ __noinline__ float length2(const physics::Vec &v) {
  float sum = v.x * v.x + v.y * v.y;
  return sum + v.z * v.z;
}

__device__ __noinline__ int depth(int n) {
  if (n <= 0) return 0;
  int below = depth(n - 1);
  return below + 1;
}

template <typename T, int N>
__device__ __noinline__ T total(const T (&values)[N]) {
  T sum = 0;
  for (int k = 0; k < N; k++) {
    T next = values[k];
    sum += next;
  }
  return sum;
}

__global__ void move(physics::Particle *all, float *out, int count, double dt) {
  __shared__ float shared[4][2];
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= count) return;
  physics::Particle p = all[i];
  physics::Word word;
  word.value = p.at.x;
  u64 big = 0xfedcba9876543210ull + i;
  signed char small = -5;
  int grid[2][3] = {{i, 1, 2}, {3, 4, 5}};
  float *target = &out[i];
  const physics::Vec &place = p.at;
  p.kind = physics::Moving;
  p.flag = physics::Flag::On;
  p.alive = i % 2 == 0;
  p.tag = 'a' + i;
  p.at.x += scale[0] * (float)dt;
  {
    int i = total(grid[1]);
    steps += i;
    shared[threadIdx.x % 4][1] = length2(place);
    small = (signed char)(small + i);
  }
  *target = shared[threadIdx.x % 4][1] + (float)depth(3) + word.value + (float)small;
  all[i] = p;
  out[count] = (float)big;
}
