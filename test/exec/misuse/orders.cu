// Host programs with one mistake each in what comes before what: streams, events, pools, graphs, and memory that is
// gone when it is used. As programs.cu; orders.txt says what is to be reported.
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <cuda_runtime.h>

__global__ void scale(float *x, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) x[i] *= 2;
}

__global__ void misaligned(char *x) { *(float *)(x + 2) = 1; }

__global__ void fetch(cudaTextureObject_t t, float *to) { to[threadIdx.x] = tex1Dfetch<float>(t, threadIdx.x); }

__device__ float *kept;

__global__ void use_kept() { kept[threadIdx.x] = 1; }

__device__ float variable[16];

static const int n = 256;
static const size_t bytes = n * sizeof(float);
static float host[n];
static volatile float sink;

static float *device() {
  float *p;
  cudaMalloc(&p, bytes);
  cudaMemset(p, 0, bytes);
  return p;
}

static float *pinned() {
  float *p;
  cudaMallocHost(&p, bytes);
  memset(p, 0, bytes);
  return p;
}

// ---- Streams

static void destroys_stream_twice() {
  cudaStream_t s;
  cudaStreamCreate(&s);
  cudaStreamDestroy(s);
  cudaStreamDestroy(s);
}

static void launches_in_destroyed_stream() {
  float *p = device();
  cudaStream_t s;
  cudaStreamCreate(&s);
  cudaStreamDestroy(s);
  scale<<<1, n, 0, s>>>(p, n);
  cudaFree(p);
}

// ---- Events

static void destroys_event_twice() {
  cudaEvent_t e;
  cudaEventCreate(&e);
  cudaEventDestroy(e);
  cudaEventDestroy(e);
}

static void waits_for_destroyed_event() {
  cudaEvent_t e;
  cudaEventCreate(&e);
  cudaEventDestroy(e);
  cudaStreamWaitEvent(0, e, 0);
}

static void times_without_timing() {
  cudaEvent_t a, b;
  float ms;
  cudaEventCreateWithFlags(&a, cudaEventDisableTiming);
  cudaEventCreateWithFlags(&b, cudaEventDisableTiming);
  cudaEventRecord(a);
  cudaEventRecord(b);
  cudaEventSynchronize(b);
  cudaEventElapsedTime(&ms, a, b);
  cudaEventDestroy(a);
  cudaEventDestroy(b);
}

// ---- Memory in the order of streams

static void frees_async_twice() {
  float *p;
  cudaMallocAsync(&p, bytes, 0);
  cudaFreeAsync(p, 0);
  cudaFreeAsync(p, 0);
}

static void kernel_after_free_async() {
  float *p;
  cudaMallocAsync(&p, bytes, 0);
  cudaMemsetAsync(p, 0, bytes, 0);
  cudaFreeAsync(p, 0);
  scale<<<1, n>>>(p, n);
  cudaDeviceSynchronize();
}

static void leaks_async() {
  float *p;
  cudaMallocAsync(&p, bytes, 0);
  cudaDeviceSynchronize();
}

static void leaks_array() {
  cudaArray_t a;
  cudaChannelFormatDesc d = cudaCreateChannelDesc<float>();
  cudaMallocArray(&a, &d, 64, 4);
}

static void registers_twice() {
  void *p = aligned_alloc(4096, 4096);
  cudaHostRegister(p, 4096, 0);
  cudaHostRegister(p, 4096, 0);
  cudaHostUnregister(p);
}

static void unregisters_what_is_not() { cudaHostUnregister(host); }

static void frees_pinned_twice() {
  float *p = pinned();
  cudaFreeHost(p);
  cudaFreeHost(p);
}

static void frees_array_twice() {
  cudaArray_t a;
  cudaChannelFormatDesc d = cudaCreateChannelDesc<float>();
  cudaMallocArray(&a, &d, 64, 4);
  cudaFreeArray(a);
  cudaFreeArray(a);
}

static void frees_variable() {
  void *p;
  cudaGetSymbolAddress(&p, variable);
  cudaFree(p);
}

static void prefetches_what_is_not_managed() {
  float *p = device();
  cudaMemLocation where = {cudaMemLocationTypeDevice, 0};
  cudaMemPrefetchAsync(p, bytes, where, 0, 0);
  cudaFree(p);
}

static void used_after_reset() {
  float *p = device();
  cudaDeviceReset();
  cudaMemset(p, 0, bytes);
}

static void variable_keeps_freed() {
  float *p = device();
  cudaMemcpyToSymbol(kept, &p, sizeof p);
  cudaFree(p);
  use_kept<<<1, n>>>();
  cudaDeviceSynchronize();
}

static void texture_of_freed() {
  float *p = device(), *q = device();
  cudaResourceDesc r = {};
  r.resType = cudaResourceTypeLinear;
  r.res.linear.devPtr = p;
  r.res.linear.desc = cudaCreateChannelDesc<float>();
  r.res.linear.sizeInBytes = bytes;
  cudaTextureDesc d = {};
  cudaTextureObject_t t;
  cudaCreateTextureObject(&t, &r, &d, 0);
  cudaFree(p);
  fetch<<<1, n>>>(t, q);
  cudaDeviceSynchronize();
  cudaDestroyTextureObject(t);
  cudaFree(q);
}

static void reads_variable_beyond_end() { cudaMemcpyFromSymbol(host, variable, 4, sizeof variable); }

static void misaligned_access() {
  float *p = device();
  misaligned<<<1, 1>>>((char *)p);
  cudaDeviceSynchronize();
}

// ---- Pinned memory

static void overwrites_source_too_soon() {
  float *q, *p;
  cudaMalloc(&q, 1 << 16);
  cudaMallocHost(&p, 1 << 16);
  memset(p, 0, 1 << 16);
  cudaMemcpyAsync(q, p, 1 << 16, cudaMemcpyHostToDevice);
  p[100] = 1;
  cudaDeviceSynchronize();
  cudaFreeHost(p);
  cudaFree(q);
}

static void event_of_an_earlier_copy() {
  float *p, *q;
  cudaEvent_t e;
  cudaEventCreate(&e);
  cudaMalloc(&q, 1 << 16);
  cudaMemset(q, 0, 1 << 16);
  cudaMallocHost(&p, 1 << 16);
  cudaMemcpyAsync(p, q, 1 << 16, cudaMemcpyDeviceToHost);
  cudaEventRecord(e);
  cudaMemcpyAsync(p, q, 1 << 16, cudaMemcpyDeviceToHost);
  cudaEventSynchronize(e);
  sink = p[100];
  cudaDeviceSynchronize();
  cudaEventDestroy(e);
  cudaFreeHost(p);
  cudaFree(q);
}

static void frees_pinned_before_graph() {
  float *p = pinned(), *q = device();
  cudaStream_t s;
  cudaGraph_t g;
  cudaGraphExec_t x;
  cudaStreamCreate(&s);
  cudaStreamBeginCapture(s, cudaStreamCaptureModeGlobal);
  cudaMemcpyAsync(q, p, bytes, cudaMemcpyHostToDevice, s);
  cudaStreamEndCapture(s, &g);
  cudaGraphInstantiate(&x, g, 0);
  cudaFreeHost(p);
  cudaGraphLaunch(x, s);
  cudaStreamSynchronize(s);
}

// ---- Graphs

static void waits_while_capturing() {
  cudaStream_t s;
  cudaGraph_t g;
  cudaStreamCreate(&s);
  cudaStreamBeginCapture(s, cudaStreamCaptureModeGlobal);
  cudaStreamSynchronize(s);
  cudaStreamEndCapture(s, &g);
}

static void ends_what_has_not_begun() {
  cudaStream_t s;
  cudaGraph_t g;
  cudaStreamCreate(&s);
  cudaStreamEndCapture(s, &g);
}

static void forgets_to_join() {
  float *p = device();
  cudaStream_t a, b;
  cudaEvent_t e;
  cudaGraph_t g;
  cudaStreamCreate(&a);
  cudaStreamCreate(&b);
  cudaEventCreate(&e);
  cudaStreamBeginCapture(a, cudaStreamCaptureModeGlobal);
  cudaEventRecord(e, a);
  cudaStreamWaitEvent(b, e, 0);
  scale<<<1, n, 0, b>>>(p, n);
  cudaStreamEndCapture(a, &g);
  cudaFree(p);
}

static void legacy_stream_while_capturing() {
  float *p = device();
  cudaStream_t s;
  cudaGraph_t g;
  cudaStreamCreate(&s);
  cudaStreamBeginCapture(s, cudaStreamCaptureModeGlobal);
  scale<<<1, n>>>(p, n);
  cudaStreamEndCapture(s, &g);
  cudaFree(p);
}

static void graph_in_a_circle() {
  cudaGraph_t g;
  cudaGraphNode_t a, b;
  cudaGraphExec_t x;
  cudaGraphCreate(&g, 0);
  cudaGraphAddEmptyNode(&a, g, 0, 0);
  cudaGraphAddEmptyNode(&b, g, &a, 1);
  cudaGraphAddDependencies(g, &b, &a, 0, 1);
  cudaGraphInstantiate(&x, g, 0);
  cudaGraphDestroy(g);
}

static void launches_destroyed_graph() {
  cudaGraph_t g;
  cudaGraphExec_t x;
  cudaGraphCreate(&g, 0);
  cudaGraphInstantiate(&x, g, 0);
  cudaGraphExecDestroy(x);
  cudaGraphLaunch(x, 0);
  cudaGraphDestroy(g);
}

static void graph_uses_freed() {
  float *p = device();
  cudaStream_t s;
  cudaGraph_t g;
  cudaGraphExec_t x;
  cudaStreamCreate(&s);
  cudaStreamBeginCapture(s, cudaStreamCaptureModeGlobal);
  scale<<<1, n, 0, s>>>(p, n);
  cudaStreamEndCapture(s, &g);
  cudaGraphInstantiate(&x, g, 0);
  cudaFree(p);
  cudaGraphLaunch(x, s);
  cudaStreamSynchronize(s);
}

static void updates_to_another_shape() {
  float *p = device();
  cudaGraph_t g, h;
  cudaGraphExec_t x;
  cudaGraphNode_t a;
  cudaGraphExecUpdateResultInfo info;
  cudaGraphCreate(&g, 0);
  cudaGraphCreate(&h, 0);
  cudaGraphAddEmptyNode(&a, h, 0, 0);
  cudaGraphInstantiate(&x, g, 0);
  cudaGraphExecUpdate(x, h, &info);
  cudaGraphExecDestroy(x);
  cudaGraphDestroy(g);
  cudaGraphDestroy(h);
  cudaFree(p);
}

// ---- Launches

static void too_large_to_cooperate() {
  float *p = device();
  int count = n;
  void *args[] = {&p, &count};
  cudaLaunchCooperativeKernel((void *)scale, 1 << 20, n, args, 0, 0);
  cudaFree(p);
}

static void block_too_deep() {
  float *p = device();
  scale<<<1, dim3(1, 1, 128)>>>(p, n);
  cudaFree(p);
}

// ---- Right: nothing is to be reported

static void source_after_event() {
  float *p, *q;
  cudaEvent_t e;
  cudaEventCreate(&e);
  cudaMalloc(&q, 1 << 16);
  cudaMallocHost(&p, 1 << 16);
  memset(p, 0, 1 << 16);
  cudaMemcpyAsync(q, p, 1 << 16, cudaMemcpyHostToDevice);
  sink = p[100];
  cudaEventRecord(e);
  cudaEventSynchronize(e);
  p[100] = 1;
  cudaFreeHost(p);
  cudaFree(q);
  cudaEventDestroy(e);
}

#define CASE(name) {#name, name}
static const struct {
  const char *name;
  void (*run)();
} cases[] = {
    CASE(destroys_stream_twice), CASE(launches_in_destroyed_stream), CASE(destroys_event_twice),
    CASE(waits_for_destroyed_event), CASE(times_without_timing), CASE(frees_async_twice), CASE(kernel_after_free_async),
    CASE(leaks_async), CASE(leaks_array), CASE(registers_twice), CASE(unregisters_what_is_not),
    CASE(frees_pinned_twice), CASE(frees_array_twice), CASE(frees_variable), CASE(prefetches_what_is_not_managed),
    CASE(used_after_reset), CASE(variable_keeps_freed), CASE(texture_of_freed), CASE(reads_variable_beyond_end),
    CASE(misaligned_access), CASE(overwrites_source_too_soon), CASE(event_of_an_earlier_copy),
    CASE(frees_pinned_before_graph), CASE(waits_while_capturing), CASE(ends_what_has_not_begun), CASE(forgets_to_join),
    CASE(legacy_stream_while_capturing), CASE(graph_in_a_circle), CASE(launches_destroyed_graph),
    CASE(graph_uses_freed), CASE(updates_to_another_shape), CASE(too_large_to_cooperate), CASE(block_too_deep),
    CASE(source_after_event),
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
