// Columns of the events of windows; twin of estimators/auto/on_device/window_batch.py and noise_samples.py.

// Least and largest x and y of each window, px of the sensor, (b, 4): left, top, right, bottom.
extern "C" __global__ void limits_of_windows(
    const unsigned short* x, const unsigned short* y, const long long* start, const long long* count, long long* out) {
    SHARED_ARRAY(double, room, 32);
    long long w = blockIdx.x;
    double ends[4] = {INFINITY, INFINITY, INFINITY, INFINITY};
    FOR_BLOCK(k, count[w]) {
        double column = x[start[w] + k], line = y[start[w] + k];
        ends[0] = lower_of(column, ends[0]);
        ends[1] = lower_of(line, ends[1]);
        ends[2] = lower_of(-column, ends[2]);
        ends[3] = lower_of(-line, ends[3]);
    }
    for (int k = 0; k < 4; ++k) {
        double end = block_least(ends[k], room);
        if (threadIdx.x == 0) out[4 * w + k] = (long long)(k < 2 ? end : -end);
    }
}

// Events in the rectangles of their windows, (b, 4); points from tables of rays, or else pixels.
extern "C" __global__ void columns_of_windows(
    const unsigned short* x, const unsigned short* y, const int* tau, const unsigned char* p, const long long* row, long long n,
    const long long* limits, const double* across, const double* down, long long wide, long long* out_x, long long* out_y,
    long long* out_p, double* u, double* v, double* dt) {
    FOR_EACH(i, n) {
        const long long* limit = limits + 4 * row[i];
        long long column = x[i], line = y[i], left = column - limit[0], top = line - limit[1];
        out_x[i] = left;
        out_y[i] = top;
        out_p[i] = p[i];
        u[i] = across ? across[line * wide + column] : (double)left;
        v[i] = down ? down[line * wide + column] : (double)top;
        dt[i] = (double)tau[i] / 1e6;
    }
}

// Events of each column, or row, of the rectangle of each window, (b, most).
extern "C" __global__ void count_places(
    const long long* place, const long long* start, const long long* count, long long most, int* out) {
    DYNAMIC_SHARED(memory);
    int* counts = (int*)memory;
    long long w = blockIdx.x;
    FOR_BLOCK(k, most) counts[k] = 0;
    __syncthreads();
    FOR_BLOCK(k, count[w]) ADD_WHOLE(counts + place[start[w] + k], 1);
    __syncthreads();
    FOR_BLOCK(k, most) out[w * most + k] = counts[k];
}
