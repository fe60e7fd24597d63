// Host programs with one mistake each: the first argument says which. The line with its name in misuse.txt says what
// is to be reported. Every program is right apart from that.
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <cuda_runtime.h>

__global__ void scale(float *x, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) x[i] *= 2;
}

__global__ void copy(const float *from, float *to, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) to[i] = from[i];
}

__global__ void count(int *total) { *total += 1; }

__global__ void shifted(const float *from, float *to, int n) {
  extern __shared__ float s[];
  int i = threadIdx.x;
  s[i] = from[i];
  to[i] = s[(i + 1) % n];
}

__constant__ float table[16];
static const int n = 256;
static const size_t bytes = n * sizeof(float);
static float host[n];

static float *device() {
  float *p;
  cudaMalloc(&p, bytes);
  cudaMemset(p, 0, bytes);
  return p;
}

static float *managed() {
  float *p;
  cudaMallocManaged(&p, bytes);
  memset(p, 0, bytes);
  return p;
}

static volatile float sink;

// ---- Copies

static void wrong_direction_to_device() {
  float *p = device();
  cudaMemcpy(host, p, bytes, cudaMemcpyHostToDevice);
  cudaFree(p);
}

static void wrong_direction_to_host() {
  float *p = device();
  cudaMemcpy(p, host, bytes, cudaMemcpyDeviceToHost);
  cudaFree(p);
}

static void wrong_direction_within_device() {
  float *p = device(), *q = device();
  cudaMemcpy(p, q, bytes, cudaMemcpyHostToDevice);
  cudaFree(p);
  cudaFree(q);
}

static void no_direction() {
  float *p = device();
  cudaMemcpy(p, host, bytes, (cudaMemcpyKind)7);
  cudaFree(p);
}

static void copies_too_much() {
  float *p = device();
  cudaMemcpy(p, host, bytes + 4, cudaMemcpyHostToDevice);
  cudaFree(p);
}

static void copies_from_freed() {
  float *p = device();
  cudaFree(p);
  cudaMemcpy(host, p, bytes, cudaMemcpyDeviceToHost);
}

static void fills_too_much() {
  float *p = device();
  cudaMemset(p + 1, 0, bytes);
  cudaFree(p);
}

static void rows_wider_than_pitch() {
  float *p = device();
  cudaMemcpy2D(p, 16, host, 64, 32, 2, cudaMemcpyHostToDevice);
  cudaFree(p);
}

static void symbol_too_small() { cudaMemcpyToSymbol(table, host, 17 * sizeof(float)); }

static void no_symbol() { cudaMemcpyToSymbol(host, host, 4); }

// ---- Memory

static void frees_twice() {
  float *p = device();
  cudaFree(p);
  cudaFree(p);
}

static void frees_the_middle() {
  float *p = device();
  cudaFree(p + 64);
  cudaFree(p);
}

static void frees_host_memory() {
  float *p = device();
  cudaFree(host);
  cudaFree(p);
}

static void frees_pinned_as_device() {
  float *p;
  cudaMallocHost(&p, bytes);
  cudaFree(p);
  cudaFreeHost(p);
}

static void frees_device_as_pinned() {
  float *p = device();
  cudaFreeHost(p);
  cudaFree(p);
}

static void leaks_device() { device(); }

static void leaks_pinned() {
  float *p;
  cudaMallocHost(&p, bytes);
}

static void leaks_managed() { managed(); }

static void too_much_memory() {
  void *p;
  cudaMalloc(&p, (size_t)1 << 40);
}

// ---- Launches

static void too_many_threads() {
  float *p = device();
  scale<<<1, 2048>>>(p, n);
  cudaFree(p);
}

static void no_blocks() {
  float *p = device();
  scale<<<0, 32>>>(p, n);
  cudaFree(p);
}

static void too_much_shared() {
  float *p = device();
  shifted<<<1, n, 100 * 1024>>>(p, p, n);
  cudaFree(p);
}

static void host_pointer_to_kernel() {
  scale<<<1, n>>>(host, n);
  cudaDeviceSynchronize();
}

static void kernel_uses_freed() {
  float *p = device();
  cudaFree(p);
  scale<<<1, n>>>(p, n);
  cudaDeviceSynchronize();
}

static void kernel_beyond_the_end() {
  float *p = device();
  scale<<<2, n>>>(p, 2 * n);
  cudaDeviceSynchronize();
}

static void kernel_reads_uninitialized() {
  float *p, *q = device();
  cudaMalloc(&p, bytes);
  copy<<<1, n>>>(p, q, n);
  cudaDeviceSynchronize();
  cudaFree(p);
  cudaFree(q);
}

static void kernel_races() {
  int *p = (int *)device();
  count<<<2, 1>>>(p);
  cudaDeviceSynchronize();
  cudaFree(p);
}

static void kernel_lacks_barrier() {
  float *p = device();
  shifted<<<1, n, bytes>>>(p, p, n);
  cudaDeviceSynchronize();
  cudaFree(p);
}

// ---- Streams and events

static void destroyed_stream() {
  cudaStream_t s;
  cudaStreamCreate(&s);
  cudaStreamDestroy(s);
  cudaStreamSynchronize(s);
}

static void event_never_recorded() {
  cudaEvent_t a, b;
  float ms;
  cudaEventCreate(&a);
  cudaEventCreate(&b);
  cudaEventElapsedTime(&ms, a, b);
}

static void no_such_device() { cudaSetDevice(7); }

// ---- Accesses of the host

static void host_reads_device_memory() {
  float *p = device();
  sink = p[3];
}

static void host_writes_freed_memory() {
  float *p = managed();
  cudaFree(p);
  p[1] = 1;
}

static void reads_managed_too_soon() {
  float *p = managed();
  scale<<<1, n>>>(p, n);
  sink = p[0];
  cudaDeviceSynchronize();
  cudaFree(p);
}

static void writes_managed_too_soon() {
  float *p = managed();
  scale<<<1, n>>>(p, n);
  p[5] = 1;
  cudaDeviceSynchronize();
  cudaFree(p);
}

static void waits_for_another_stream() {
  cudaStream_t a, b;
  cudaStreamCreateWithFlags(&a, cudaStreamNonBlocking);
  cudaStreamCreateWithFlags(&b, cudaStreamNonBlocking);
  float *p = managed();
  scale<<<1, n, 0, a>>>(p, n);
  cudaStreamSynchronize(b);
  sink = p[0];
  cudaStreamSynchronize(a);
  cudaFree(p);
}

static void event_before_the_kernel() {
  cudaEvent_t e;
  cudaEventCreate(&e);
  float *p = managed();
  cudaEventRecord(e);
  scale<<<1, n>>>(p, n);
  cudaEventSynchronize(e);
  sink = p[0];
  cudaDeviceSynchronize();
  cudaFree(p);
}

static void reads_copy_too_soon() {
  float *p, *q;
  cudaMalloc(&q, 1 << 16);
  cudaMemset(q, 0, 1 << 16);
  cudaMallocHost(&p, 1 << 16);
  cudaMemcpyAsync(p, q, 1 << 16, cudaMemcpyDeviceToHost);
  sink = p[100];
  cudaDeviceSynchronize();
  cudaFreeHost(p);
  cudaFree(q);
}

// ---- Right: nothing is to be reported

static void waits_for_managed() {
  float *p = managed();
  cudaStream_t a, b;
  cudaEvent_t e;
  cudaStreamCreate(&a);
  cudaStreamCreate(&b);
  cudaEventCreateWithFlags(&e, cudaEventDisableTiming);
  scale<<<1, n, 0, a>>>(p, n);
  cudaEventRecord(e, a);
  cudaStreamWaitEvent(b, e, 0);
  cudaStreamSynchronize(b);
  p[0] = 1;
  scale<<<1, n>>>(p, n);
  cudaMemcpy(host, p, 4, cudaMemcpyDefault);
  sink = p[0];
  scale<<<1, n, 0, a>>>(p, n);
  while (cudaStreamQuery(a) != cudaSuccess);
  sink = p[0] + host[0];
  cudaFree(p);
  cudaEventDestroy(e);
  cudaStreamDestroy(a);
  cudaStreamDestroy(b);
}

static void CUDART_CB reads(void *p) { sink = *(float *)p; }

static void callback_after_copy() {
  float *p, *q;
  cudaMalloc(&q, 1 << 16);
  cudaMemset(q, 0, 1 << 16);
  cudaMallocHost(&p, 1 << 16);
  cudaMemcpyAsync(p, q, 1 << 16, cudaMemcpyDeviceToHost);
  cudaLaunchHostFunc(0, reads, p);
  cudaDeviceSynchronize();
  cudaFreeHost(p);
  cudaFree(q);
}

#define CASE(name) {#name, name}
static const struct {
  const char *name;
  void (*run)();
} cases[] = {
    CASE(wrong_direction_to_device), CASE(wrong_direction_to_host), CASE(wrong_direction_within_device),
    CASE(no_direction), CASE(copies_too_much),
    CASE(copies_from_freed), CASE(fills_too_much), CASE(rows_wider_than_pitch), CASE(symbol_too_small), CASE(no_symbol),
    CASE(frees_twice), CASE(frees_the_middle), CASE(frees_host_memory), CASE(frees_pinned_as_device),
    CASE(frees_device_as_pinned), CASE(leaks_device), CASE(leaks_pinned), CASE(leaks_managed), CASE(too_much_memory),
    CASE(too_many_threads), CASE(no_blocks), CASE(too_much_shared), CASE(host_pointer_to_kernel),
    CASE(kernel_uses_freed), CASE(kernel_beyond_the_end), CASE(kernel_reads_uninitialized), CASE(kernel_races),
    CASE(kernel_lacks_barrier), CASE(destroyed_stream), CASE(event_never_recorded), CASE(no_such_device),
    CASE(host_reads_device_memory), CASE(host_writes_freed_memory), CASE(reads_managed_too_soon),
    CASE(writes_managed_too_soon), CASE(waits_for_another_stream), CASE(event_before_the_kernel),
    CASE(reads_copy_too_soon), CASE(waits_for_managed),
    CASE(callback_after_copy),
};

int main(int argc, char **argv) {
  for (const auto &c : cases) {
    if (argc > 1 && strcmp(argv[1], c.name) == 0) {
      c.run();
      return 0;
    }
  }
  return 1;
}
