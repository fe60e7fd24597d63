// Kernels and what nvcc makes of them: test/names/kernels.ptx (nvcc 13.0 -std=c++17 --extended-lambda -arch=sm_80 -ptx).
#include <cuda_fp16.h>
#include <cuda_bf16.h>
__global__ void reduce(const float* in, float* out, int n) { extern __shared__ float tile[]; static __shared__ int kept[4]; kept[0] = n; *out = in[n] + kept[1] + tile[0]; }
template <class T> __global__ void scale(T* x, T factor, int n) { x[n] *= factor; }
template __global__ void scale<float>(float*, float, int); template __global__ void scale<double>(double*, double, int); template __global__ void scale<__half>(__half*, __half, int);
namespace ns { __global__ void reduce(int* p) { *p = 1; } namespace { __global__ void hidden(float4* p, uchar2 c) { p->x = c.x; } } __global__ void shows(int* p) { *p = 2; } }
static __global__ void internal(__half2* p, __nv_bfloat16* q) { *p = *p + *p; *q = *q; }
struct Parameters { float a; unsigned long long b; int* c; };
__global__ void structured(Parameters p, const Parameters* q, void* r, const char* s, bool t, unsigned char u, long v, short w) { *p.c = q->a; }
template <int N, bool B, class... T> __global__ void variadic(T*... p) { ((*p = T(N)), ...); }
template __global__ void variadic<4, true, int, float>(int*, float*);
template <class F> __global__ void apply(F f, int* p) { *p = f(*p); }
__device__ __noinline__ int helper(int x) { return x * 3; } static __device__ __noinline__ int hiddenHelper(int x) { return x * 5; }
__device__ int table[4]; __constant__ float coefficients[8]; static __device__ int privateTable[4]; namespace ns { __device__ int counter; }
__global__ void uses(int* p) { *p = helper(*p) + hiddenHelper(*p) + table[1] + privateTable[*p] + ns::counter + coefficients[*p]; }
void launch(int* p, float4* q, __half2* h, __nv_bfloat16* b) { int k = 3; apply<<<1, 1>>>([k] __device__ (int x) { return x + k; }, p); ns::hidden<<<1, 1>>>(q, uchar2()); internal<<<1, 1>>>(h, b); }
