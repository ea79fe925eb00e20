// Reductions of rows, one block of threads each; twin of tensors/rows.py.
//
// VALUE is the type of the values. Results are doubles, always added in the same order.

typedef unsigned char uint8;
typedef short int16;
typedef int int32;
typedef long long int64;

extern "C" __global__ void row_sums(const VALUE* values, const long long* start, const long long* count, double* out) {
    SHARED_ARRAY(double, room, 32);
    long long w = blockIdx.x;
    double sum[1] = {0.0};
    FOR_BLOCK(k, count[w]) sum[0] += (double)values[start[w] + k];
    block_sum<1>(sum, room);
    if (threadIdx.x == 0) out[w] = sum[0];
}

// Least value of each row, or with `sign` -1 the largest one; infinite for an empty row, NaN if there is one.
extern "C" __global__ void row_ends(
    const VALUE* values, const long long* start, const long long* count, double sign, double* out) {
    SHARED_ARRAY(double, room, 32);
    long long w = blockIdx.x;
    double least = INFINITY;
    FOR_BLOCK(k, count[w]) least = lower_of(sign * (double)values[start[w] + k], least);
    least = block_least(least, room);
    if (threadIdx.x == 0) out[w] = sign * least;
}
