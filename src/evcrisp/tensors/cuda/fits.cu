// Fits of affine motions to some events, one block of threads per fit; twin of kernels/layers/affine_fit.py.
//
// Votes are whole numbers in fixed point: their sums do not depend on the order.

constexpr double TYPICAL_INVERSE = 12.0, MAX_STEP = 1.5, SHRINK = 0.35, ROOM_PX = 6.0, ROOM = 4.0;
constexpr double LEAST_RADIUS_PX = 10.0, MAX_CHANGE = 0.3;
constexpr int MAX_SHRINKS = 4, N = 6;

// Columns of `numbers`: center, radius, motion, its first displacement, log contrast, rectangle of the events.
enum { CENTER_X, CENTER_Y, RADIUS, MOTION, FIRST_X = MOTION + N, FIRST_Y, VALUE, LEFT, RIGHT, TOP, BOTTOM, N_NUMBERS };

struct Points {
    const float *x, *y, *tau;
    const unsigned char* p;
    const long long *chosen, *start, *count;  // events of all fits, and where those of a fit begin
};

// Center, radius and parameters of the motions from which fits start. Shared memory: 96 doubles, and 4 per thread.
extern "C" __global__ void prepare_fits(const Points* points, const double* motions, long long n_free, double* numbers) {
    DYNAMIC_SHARED(memory);
    const Points& e = *points;
    long long fit = blockIdx.x, n = e.count[fit];
    const long long* chosen = e.chosen + e.start[fit];
    const double* from = motions + 8 * fit;
    double* out = numbers + fit * N_NUMBERS;
    double sums[3] = {0.0, 0.0, 0.0}, *ends = (double*)memory + 96, *mine = ends + 4 * threadIdx.x;
    mine[0] = mine[2] = INFINITY;
    mine[1] = mine[3] = -INFINITY;
    FOR_BLOCK(k, n) {
        float x = e.x[chosen[k]], y = e.y[chosen[k]];
        mine[0] = fmin(mine[0], (double)x);
        mine[1] = fmax(mine[1], (double)x);
        mine[2] = fmin(mine[2], (double)y);
        mine[3] = fmax(mine[3], (double)y);
        sums[0] += x;
        sums[1] += y;
        sums[2] += (double)(x * x + y * y);
    }
    block_sum<3>(sums, (double*)memory);
    if (threadIdx.x == 0) {
        for (int k = 1; k < blockDim.x; ++k)
            for (int j = 0; j < 4; ++j) ends[j] = j % 2 ? fmax(ends[j], ends[4 * k + j]) : fmin(ends[j], ends[4 * k + j]);
        for (int k = 0; k < 4; ++k) out[LEFT + k] = ends[k];
        double center_x = sums[0] / (double)n, center_y = sums[1] / (double)n;
        double spread = sums[2] / (double)n - center_x * center_x - center_y * center_y;
        double radius = fmax(sqrt(fmax(spread, 0.0)), LEAST_RADIUS_PX);
        double a = center_x - from[6], b = center_y - from[7];
        double xx = from[2] * radius, xy = from[3] * radius, yx = from[4] * radius, yy = from[5] * radius;
        double* motion = out + MOTION;
        out[CENTER_X] = center_x;
        out[CENTER_Y] = center_y;
        out[RADIUS] = radius;
        motion[0] = from[0] + from[2] * a + from[3] * b;
        motion[1] = from[1] + from[4] * a + from[5] * b;
        motion[2] = n_free > 2 ? 0.5 * (yx - xy) : 0.0;
        motion[3] = n_free > 3 ? 0.5 * (xx + yy) : 0.0;
        motion[4] = n_free > 4 ? 0.5 * (xx - yy) : 0.0;
        motion[5] = n_free > 4 ? 0.5 * (xy + yx) : 0.0;
        out[FIRST_X] = motion[0];
        out[FIRST_Y] = motion[1];
        out[VALUE] = 0.0;
    }
}

// Half of the width and height of a map, in pixels, without the middle one.
__device__ inline void half_sizes(const double* in, double scale, int* across, int* down) {
    const double* m = in + MOTION;
    double reach = hypot(m[0], m[1]);
    for (int i = 2; i < N; ++i) reach += fabs(m[i]);
    double margin = 0.5 * reach + ROOM * scale + ROOM_PX;
    *across = (int)((0.5 * (in[RIGHT] - in[LEFT]) + margin) / scale) + 3;
    *down = (int)((0.5 * (in[BOTTOM] - in[TOP]) + margin) / scale) + 3;
}

// Pixels of the maps of both polarities of every fit.
extern "C" __global__ void map_pixels(const double* numbers, long long n, double scale, long long* pixels) {
    FOR_EACH(i, n) {
        int across, down;
        half_sizes(numbers + i * N_NUMBERS, scale, &across, &down);
        pixels[i] = 2LL * (2 * across + 1) * (2 * down + 1);
    }
}

// The map of a fit.
struct Map {
    const Points* events;
    const long long* chosen;
    long long n, pixels;
    int width, height;
    double center_x, center_y, radius, scale, shift_x, shift_y;
    float votes;  // fixed point: votes per unit
    int* image;
};

// Where an event lies; false outside.
__device__ inline bool locate(const Map& m, const double* motion, long long k, float* a, float* b, int* cell) {
    const Points& e = *m.events;
    double turn = motion[2], grow = motion[3], stretch = motion[4], skew = motion[5], unit = m.radius;
    float xx = (float)((grow + stretch) / unit / m.scale), xy = (float)((skew - turn) / unit / m.scale);
    float yx = (float)((skew + turn) / unit / m.scale), yy = (float)((grow - stretch) / unit / m.scale);
    float along_x = (float)(motion[0] / m.scale), along_y = (float)(motion[1] / m.scale);
    float gain = (float)(1.0 / m.scale), start_x = (float)m.shift_x, start_y = (float)m.shift_y;
    long long i = m.chosen[k];
    float x = e.x[i], y = e.y[i], tau = e.tau[i];
    float across = x - (float)m.center_x, down = y - (float)m.center_y;
    float u = x * gain + start_x - tau * (along_x + xx * across + xy * down);
    float v = y * gain + start_y - tau * (along_y + yx * across + yy * down);
    if (!(u >= 0.5f && u < (float)(m.width - 1.5) && v >= 0.5f && v < (float)(m.height - 1.5))) return false;
    int column = (int)(u + 0.5f), row = (int)(v + 0.5f);
    *a = u - (float)column;
    *b = v - (float)row;
    *cell = (e.p[i] * m.height + row - 1) * m.width + column - 1;
    return true;
}

// Log of the mean contrast per event, and its gradient in `slope`; all threads take part and have the result.
__device__ inline double evaluate(const Map& m, const double* motion, int n_free, double* slope, double* room) {
    FOR_BLOCK(i, m.pixels) m.image[i] = 0;
    __syncthreads();
    FOR_BLOCK(k, m.n) {
        float a, b;
        int cell;
        if (!locate(m, motion, k, &a, &b, &cell)) continue;
        float a0 = 0.5f * (0.5f - a) * (0.5f - a), a1 = 0.75f - a * a, a2 = 1.0f - a0 - a1;
        float down[3] = {0.5f * (0.5f - b) * (0.5f - b), 0.75f - b * b, 0.0f};
        down[2] = 1.0f - down[0] - down[1];
        int* at = m.image + cell;
        for (int row = 0; row < 3; ++row, at += m.width) {
            float f = down[row] * m.votes;
            ADD_WHOLE(at, (int)rintf(f * a0));
            ADD_WHOLE(at + 1, (int)rintf(f * a1));
            ADD_WHOLE(at + 2, (int)rintf(f * a2));
        }
    }
    __syncthreads();
    // The sum of the squares of a map is the sum of what its events read there.
    double sums[1 + N] = {0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0};
    float unit = 1.0f / m.votes;
    FOR_BLOCK(k, m.n) {
        float a, b, value[3], across[3];
        int cell;
        if (!locate(m, motion, k, &a, &b, &cell)) continue;
        float left = 0.5f - a, right = 0.5f + a, above = 0.5f - b, below = 0.5f + b;
        float first = 0.5f * left * left, last = 0.5f * right * right;
        const int* at = m.image + cell;
        for (int row = 0; row < 3; ++row, at += m.width) {
            float middle = (float)at[1] * unit, before = middle - (float)at[0] * unit, after = (float)at[2] * unit - middle;
            value[row] = middle + last * after - first * before;
            across[row] = left * before + right * after;
        }
        float high = 0.5f * above * above, low = 0.5f * below * below;
        long long i = m.chosen[k];
        float tau = m.events->tau[i];
        float slope_x = -tau * (across[1] + low * (across[2] - across[1]) - high * (across[1] - across[0]));
        float slope_y = -tau * (above * (value[1] - value[0]) + below * (value[2] - value[1]));
        sums[0] += value[1] + low * (value[2] - value[1]) - high * (value[1] - value[0]);
        sums[1] += slope_x;
        sums[2] += slope_y;
        if (n_free > 2) {
            double u = m.events->x[i] - m.center_x, v = m.events->y[i] - m.center_y;
            sums[3] += slope_y * u - slope_x * v;
            sums[4] += slope_x * u + slope_y * v;
            sums[5] += slope_x * u - slope_y * v;
            sums[6] += slope_x * v + slope_y * u;
        }
    }
    block_sum<1 + N>(sums, room);
    for (int i = 0; i < N; ++i) slope[i] = 0.0;
    if (!(sums[0] > 0.0)) return -INFINITY;
    double factor = 2.0 / (m.scale * sums[0]);
    for (int i = 0; i < n_free; ++i) slope[i] = factor * sums[1 + i] / (i < 2 ? 1.0 : m.radius);
    return log(sums[0] / (double)m.n);
}

__device__ inline void update_inverse(double* inverse, const double* step, const double* change) {
    double along = 0.0, bend = 0.0, turned[N];
    for (int i = 0; i < N; ++i) along += step[i] * change[i];
    if (!(along > 1e-12)) return;
    for (int i = 0; i < N; ++i) {
        turned[i] = 0.0;
        for (int j = 0; j < N; ++j) turned[i] += inverse[i * N + j] * change[j];
    }
    for (int i = 0; i < N; ++i) bend += change[i] * turned[i];
    double factor = (along + bend) / (along * along);
    for (int i = 0; i < N; ++i)
        for (int j = 0; j < N; ++j) {
            inverse[i * N + j] += factor * step[i] * step[j];
            inverse[i * N + j] -= (turned[i] * step[j] + step[i] * turned[j]) / along;
        }
}

// Maximize the contrast by BFGS on maps of one scale. Every thread computes the same steps.
extern "C" __global__ void fit_motions(
    const Points* points, long long n_free, double scale, double tolerance, long long n_steps, double* numbers, int* maps,
    const long long* map_start) {
    DYNAMIC_SHARED(memory);
    double* room = (double*)memory;
    long long fit = blockIdx.x;
    double* in = numbers + fit * N_NUMBERS;
    Map m;
    m.events = points;
    m.chosen = points->chosen + points->start[fit];
    m.n = points->count[fit];
    int across, down, free = (int)n_free;
    half_sizes(in, scale, &across, &down);
    m.width = 2 * across + 1;
    m.height = 2 * down + 1;
    m.pixels = 2LL * m.width * m.height;
    m.center_x = in[CENTER_X];
    m.center_y = in[CENTER_Y];
    m.radius = in[RADIUS];
    m.scale = scale;
    // The middle of the events is the middle of a pixel: a mirrored window has the mirrored map.
    m.shift_x = across - 0.5 * (in[LEFT] + in[RIGHT]) / scale;
    m.shift_y = down - 0.5 * (in[TOP] + in[BOTTOM]) / scale;
    // All events may lie on one pixel: 9/16 of each.
    double most = 2147483647.0 / (0.5625 * (double)(m.n + 1));
    m.votes = (float)exp2(floor(log2(most < 1048576.0 ? most : 1048576.0)));
    m.image = maps + map_start[fit];
    double motion[N], slope[N], ahead[N], trial[N], inverse[N * N];
    for (int i = 0; i < N; ++i) motion[i] = in[MOTION + i];
    for (int i = 0; i < N * N; ++i) inverse[i] = i % (N + 1) == 0 && i / N < free ? TYPICAL_INVERSE * scale * scale : 0.0;
    __syncthreads();
    double value = evaluate(m, motion, free, slope, room);
    for (int k = 0; k < n_steps; ++k) {
        double step[N], change[N], square = 0.0, reached = value;
        for (int i = 0; i < N; ++i) {
            step[i] = 0.0;
            for (int j = 0; j < N; ++j) step[i] += inverse[i * N + j] * slope[j];
            square += step[i] * step[i];
        }
        double length = sqrt(square), longest = MAX_STEP * scale;
        if (!(length >= tolerance)) break;
        double part = length > longest ? longest / length : 1.0;
        for (int i = 0; i < N; ++i) {
            step[i] *= part;
            trial[i] = motion[i] + step[i];
        }
        bool has_risen = false;
        for (int j = 0; j < MAX_SHRINKS; ++j) {
            reached = evaluate(m, trial, free, ahead, room);
            has_risen = reached > value;
            if (has_risen) break;
            for (int i = 0; i < N; ++i) {
                step[i] *= SHRINK;
                trial[i] = motion[i] + step[i];
            }
        }
        if (!has_risen) break;
        for (int i = 0; i < N; ++i) {
            step[i] = trial[i] - motion[i];
            change[i] = slope[i] - ahead[i];
        }
        update_inverse(inverse, step, change);
        for (int i = 0; i < N; ++i) {
            motion[i] = trial[i];
            slope[i] = ahead[i];
        }
        value = reached;
    }
    __syncthreads();
    if (threadIdx.x == 0) {
        for (int i = 0; i < N; ++i) in[MOTION + i] = motion[i];
        in[VALUE] = value;
    }
}

// Motions as rows of eight numbers; a motion that has left its layer stays as it was, with -inf.
extern "C" __global__ void finish_fits(
    const double* numbers, const double* motions, long long n, double max_correction, double* out, double* values) {
    FOR_EACH(f, n) {
        const double *in = numbers + f * N_NUMBERS, *motion = in + MOTION;
        double *row = out + 8 * f, largest = 0.0, radius = in[RADIUS];
        bool finite = true;
        for (int i = 2; i < N; ++i) {
            largest = fmax(largest, fabs(motion[i]));
            finite = finite && isfinite(motion[i]);
        }
        for (int i = 0; i < 8; ++i) row[i] = motions[8 * f + i];
        values[f] = -INFINITY;
        double corrected = hypot(motion[0] - in[FIRST_X], motion[1] - in[FIRST_Y]);
        if (!(corrected < max_correction) || !finite || !(largest <= MAX_CHANGE * radius)) continue;
        row[0] = motion[0];
        row[1] = motion[1];
        row[2] = (motion[3] + motion[4]) / radius;
        row[3] = (motion[5] - motion[2]) / radius;
        row[4] = (motion[5] + motion[2]) / radius;
        row[5] = (motion[3] - motion[4]) / radius;
        row[6] = in[CENTER_X];
        row[7] = in[CENTER_Y];
        values[f] = in[VALUE];
    }
}
