// Helpers of kernels with one thread per element (FOR_EACH), or one block of threads per window (FOR_BLOCK).
//
// Kernels share work by these loops, block_sum and __syncthreads only, so that they are right for blocks
// of any size. A C++ compiler runs them too, with blocks of one thread (see tests).

#ifndef EVCRISP_ON_HOST
#define INFINITY __longlong_as_double(0x7ff0000000000000LL)
#define NAN __longlong_as_double(0x7ff8000000000000LL)
#define DYNAMIC_SHARED(name) extern __shared__ __align__(16) unsigned char name[]
#define SHARED_ARRAY(type, name, n) __shared__ type name[n]
#define FOR_BLOCK(i, n) for (long long i = threadIdx.x; i < (n); i += blockDim.x)
#define FOR_EACH(i, n) \
    for (long long i = blockIdx.x * (long long)blockDim.x + threadIdx.x; i < (n); i += (long long)gridDim.x * blockDim.x)
#define ADD_WHOLE(at, value) atomicAdd((at), (value))
#define ADD_LONG(at, value) atomicAdd((at), (value))
#define ADD_FLOAT(at, value) atomicAdd((at), (value))

__device__ inline double lane_sum(double value) {
    for (int step = 16; step > 0; step >>= 1) value += __shfl_down_sync(0xffffffffu, value, step);
    return value;
}

__device__ inline double lower_of(double a, double b) { return a < b || a != a ? a : b; }

__device__ inline double lane_least(double value) {
    for (int step = 16; step > 0; step >>= 1) value = lower_of(value, __shfl_down_sync(0xffffffffu, value, step));
    return value;
}

// The least of a number of each thread; every thread has it afterwards. `room` holds 32 doubles.
__device__ inline double block_least(double value, double* room) {
    int lane = threadIdx.x & 31, group = threadIdx.x >> 5, groups = (blockDim.x + 31) >> 5;
    __syncthreads();
    value = lane_least(value);
    if (lane == 0) room[group] = value;
    __syncthreads();
    value = lane < groups ? room[lane] : room[0];
    value = __shfl_sync(0xffffffffu, lane_least(value), 0);
    __syncthreads();
    return value;
}

// Sum n numbers over all threads, in a fixed order; every thread has the sums afterwards.
// `room` holds n times 32 doubles.
template <int n> __device__ inline void block_sum(double* values, double* room) {
    int lane = threadIdx.x & 31, group = threadIdx.x >> 5, groups = (blockDim.x + 31) >> 5;
    __syncthreads();
    for (int k = 0; k < n; ++k) {
        double part = lane_sum(values[k]);
        if (lane == 0) room[k * 32 + group] = part;
    }
    __syncthreads();
    for (int k = group; k < n; k += groups) {
        double part = lane < groups ? room[k * 32 + lane] : 0.0;
        part = lane_sum(part);
        if (lane == 0) room[k * 32] = part;
    }
    __syncthreads();
    for (int k = 0; k < n; ++k) values[k] = room[k * 32];
    __syncthreads();
}
#endif
