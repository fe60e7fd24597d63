typedef unsigned int uint;
// Fibonacci numbers by two recursive calls.
__device__ __noinline__ uint fib(uint n) { return n < 2 ? n : fib(n - 1) + fib(n - 2); }

extern "C" __global__ void calls_recursion(uint n, uint *out) {
  uint id = blockIdx.x * blockDim.x + threadIdx.x;
  out[id] = fib(n + id % 3);
}
