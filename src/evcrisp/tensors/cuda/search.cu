// Contrast of windows and its maximum, one block of threads per window; twin of search/on_device/.
//
// Votes are whole numbers in fixed point: their sums do not depend on the order. The map of a window
// lies in shared memory where it fits, else in `scratch`.

// MODEL is the structure of the motion model in motions.cuh, M its number of free parameters.
constexpr int P = MODEL::n;                // parameters of the kernel of the model
constexpr int SUMS = 1 + P + 1 + M;        // contrast, pulled gradient, loss at the border, its rise
constexpr int PAIRS = M * (M + 1) / 2;
constexpr int MOST = PAIRS + 2 > SUMS ? PAIRS + 2 : SUMS;  // sums over a block at a time
constexpr int THREADS = 512;               // most threads of a block
constexpr double STIFFNESS = 100.0;        // of the collapse penalty

// As in optimize/bfgs and tensors/ascent.
constexpr double MIN_GAIN = 1e-4, MAX_SLOPE = 0.9, TOL = 1e-9;
constexpr int MAX_TRIALS = 20, MAX_STEPS = 20;
// Codes of Status, in its order.
constexpr int CONVERGED = 0, MAX_ITER = 1, FLAT = 3, NOT_FINITE = 6;

// Columns of `numbers` and `whole`.
enum { SHIFT_X, SHIFT_Y, SPAN_S, TOL_STEP, MAX_STEP, LEAST, FREE_PX, SOFT_PX, N_NUMBERS };
enum { START, COUNT, WIDTH, HEIGHT, SCALE, TILE, LEAD_X, LEAD_Y, TILES_WIDTH, TILES_START, MAP_START, N_WHOLE };

struct Problem {
    const double *x, *y, *dt;              // (n,) points and times, s
    const double *constants;               // (b, n_constants) of the model
    const double *inverse_rates;           // (b, m, m)
    const double *penalty_rows;            // (b, n_penalty, m)
    const double *bias_rows, *bias_rate;   // (b, n_bias, m), (b, n_bias)
    const double *along;                   // (tiles, 2, m) displacement per scaled parameter
    const double *numbers;                 // (b, N_NUMBERS)
    const long long *whole;                // (b, N_WHOLE)
    int *scratch;                          // maps, or null
    double penalty_bound;
    long long n_fixed, n_constants, n_penalty, n_bias, can_collapse;
};

struct Ascent {
    double theta[M], value, gradient[M], matrix[M * M];
    double trial[M], trial_value, trial_gradient[M];
    double step[M], slope, t, t_max, low, low_slope, high;
    double best_t, best_value, best_gradient[M];
    double contrast;
    int known, n_steps, n_eval, n_trials, has_best, status, active;
};

// The numbers of one window.
struct Window {
    const Problem* all;
    const double *constants, *inverse, *penalty_rows, *bias_rows, *bias_rate, *numbers;
    const long long* whole;
    const double *x, *y, *dt;
    long long count, pixels;
    int width, height;
    double gain;
    float votes;                           // fixed point: votes per unit
    int* map;
};

__device__ inline Window window_of(const Problem& p, long long b, int* shared_map) {
    Window w;
    w.all = &p;
    w.numbers = p.numbers + b * N_NUMBERS;
    w.whole = p.whole + b * N_WHOLE;
    w.constants = p.constants + b * p.n_constants;
    w.inverse = p.inverse_rates + b * M * M;
    w.penalty_rows = p.penalty_rows + b * p.n_penalty * M;
    w.bias_rows = p.bias_rows + b * p.n_bias * M;
    w.bias_rate = p.bias_rate + b * p.n_bias;
    long long start = w.whole[START];
    w.x = p.x + start;
    w.y = p.y + start;
    w.dt = p.dt + start;
    w.count = w.whole[COUNT];
    w.width = (int)w.whole[WIDTH];
    w.height = (int)w.whole[HEIGHT];
    w.pixels = (long long)w.width * w.height;
    w.gain = 1.0 / (double)w.whole[SCALE];
    // All events of a window may lie on one pixel: 9/16 of each.
    double room = 2147483647.0 / (0.5625 * (double)(w.count + 1));
    w.votes = (float)exp2(floor(log2(room < 1048576.0 ? room : 1048576.0)));
    w.map = p.scratch ? p.scratch + w.whole[MAP_START] : shared_map;
    return w;
}

__device__ inline void motion_of(const Window& w, const double* scaled, double* theta) {
    double span = w.numbers[SPAN_S];
    for (int i = 0; i < P; ++i) theta[i] = 0.0;
    for (int i = 0; i < M; ++i) {
        double sum = 0.0;
        for (int j = 0; j < M; ++j) sum += w.inverse[i * M + j] * scaled[j];
        theta[w.all->n_fixed + i] = sum / span;
    }
}

__device__ inline bool place(const Window& w, const double* theta, long long k, int* cell, float* a, float* b) {
    double u, v;
    MODEL::warp(theta, w.constants, w.x[k], w.y[k], w.dt[k], &u, &v);
    u = u * w.gain + w.numbers[SHIFT_X];
    v = v * w.gain + w.numbers[SHIFT_Y];
    // False for NaN.
    if (!(u >= 0.5 && u < w.width - 1.5 && v >= 0.5 && v < w.height - 1.5)) return false;
    int i = (int)(u + 0.5), j = (int)(v + 0.5);
    *cell = (j - 1) * w.width + (i - 1);
    *a = (float)(u - i);
    *b = (float)(v - j);
    return true;
}

// Fill the map with votes, then turn it into floats; return this thread's part of the sum of squares.
__device__ inline double build(const Window& w, const double* theta) {
    FOR_BLOCK(i, w.pixels) w.map[i] = 0;
    __syncthreads();
    FOR_BLOCK(k, w.count) {
        int cell;
        float a, b;
        if (!place(w, theta, k, &cell, &a, &b)) continue;
        float a0 = 0.5f * (0.5f - a) * (0.5f - a), a1 = 0.75f - a * a, a2 = 1.0f - a0 - a1;
        float down[3] = {0.5f * (0.5f - b) * (0.5f - b), 0.75f - b * b, 0.0f};
        down[2] = 1.0f - down[0] - down[1];
        int* at = w.map + cell;
        for (int row = 0; row < 3; ++row, at += w.width) {
            float f = down[row] * w.votes;
            ADD_WHOLE(at, (int)rintf(f * a0));
            ADD_WHOLE(at + 1, (int)rintf(f * a1));
            ADD_WHOLE(at + 2, (int)rintf(f * a2));
        }
    }
    __syncthreads();
    float unit = 1.0f / w.votes;
    double total = 0.0;
    FOR_BLOCK(i, w.pixels) {
        float value = (float)w.map[i] * unit;
        total += (double)value * (double)value;
        ((float*)w.map)[i] = value;
    }
    __syncthreads();
    return total;
}

// Slopes of the map along both axes at an event.
__device__ inline void slopes(const float* at, int width, float a, float b, float* along_x, float* along_y) {
    float left = 0.5f - a, right = 0.5f + a, above = 0.5f - b, below = 0.5f + b;
    float first = 0.5f * left * left, last = 0.5f * right * right, value[3], across[3];
    for (int row = 0; row < 3; ++row, at += width) {
        float before = at[1] - at[0], after = at[2] - at[1];
        value[row] = at[1] + last * after - first * before;
        across[row] = left * before + right * after;
    }
    *along_x = across[1] + 0.5f * below * below * (across[2] - across[1]) - 0.5f * above * above * (across[1] - across[0]);
    *along_y = above * (value[1] - value[0]) + below * (value[2] - value[1]);
}

// Collapse penalty and its gradient, added to `slope`.
__device__ inline double penalty(const Window& w, const double* scaled, double* slope) {
    const Problem& p = *w.all;
    if (!p.can_collapse) return 0.0;
    double square = 0.0, sum = 0.0;
    for (int i = 0; i < M; ++i) square += scaled[i] * scaled[i];
    if (square <= w.numbers[FREE_PX] * w.numbers[FREE_PX]) return 0.0;
    for (int k = 0; k < p.n_penalty; ++k) {
        const double* row = w.penalty_rows + k * M;
        double change = 0.0;
        for (int i = 0; i < M; ++i) change += row[i] * scaled[i];
        double excess = fabs(change) - p.penalty_bound;
        if (!(excess > 0.0)) continue;
        sum += excess * excess;
        for (int i = 0; i < M; ++i) slope[i] += 2.0 * STIFFNESS * excess * (change > 0.0 ? 1.0 : -1.0) * row[i];
    }
    return STIFFNESS * sum;
}

// Value and gradient at `s.trial`, with the loss at the border; all threads take part.
__device__ inline void evaluate(const Window& w, Ascent& s, double* room) {
    const Problem& p = *w.all;
    double theta[P], sums[SUMS];
    motion_of(w, s.trial, theta);
    for (int k = 0; k < SUMS; ++k) sums[k] = 0.0;
    sums[0] = build(w, theta);
    FOR_BLOCK(k, w.count) {
        int cell;
        float a, b, gx, gy;
        if (!place(w, theta, k, &cell, &a, &b)) continue;
        slopes((const float*)w.map + cell, w.width, a, b, &gx, &gy);
        MODEL::pull_back(theta, w.constants, w.x[k], w.y[k], w.dt[k], gx, gy, sums + 1);
    }
    double soft = w.numbers[SOFT_PX];
    FOR_BLOCK(k, p.n_bias) {
        const double* row = w.bias_rows + k * M;
        double moved = 0.0, rate = w.bias_rate[k];
        for (int i = 0; i < M; ++i) moved += row[i] * s.trial[i];
        double size = sqrt(moved * moved + soft * soft);
        sums[1 + P] += rate * (size - soft);
        for (int i = 0; i < M; ++i) sums[2 + P + i] += rate * moved / size * row[i];
    }
    block_sum<SUMS>(sums, room);
    if (threadIdx.x == 0) {
        double slope[M] = {0.0}, total = sums[0], span = w.numbers[SPAN_S];
        s.contrast = total;
        double value = log(total / (double)w.count) - penalty(w, s.trial, slope) + sums[1 + P];
        double factor = 2.0 / (total * (double)w.whole[SCALE]);
        bool finite = isfinite(value);
        for (int i = 0; i < M; ++i) {
            double sum = 0.0;
            for (int j = 0; j < M; ++j) sum += w.inverse[j * M + i] * sums[1 + p.n_fixed + j];
            double rise = total > 0.0 ? sum / span * factor - slope[i] : 0.0;
            s.trial_gradient[i] = rise + sums[2 + P + i];
            finite = finite && isfinite(s.trial_gradient[i]);
        }
        s.trial_value = finite ? value : -INFINITY;
        if (!finite)
            for (int i = 0; i < M; ++i) s.trial_gradient[i] = 0.0;
    }
    __syncthreads();
}

// Eigenvalues and vectors (columns of `axes`) of a symmetric matrix, by rotations.
__device__ inline void eigen(double* a, double* axes) {
    for (int i = 0; i < M; ++i)
        for (int j = 0; j < M; ++j) axes[i * M + j] = i == j;
    for (int sweep = 0; sweep < 30; ++sweep) {
        double off = 0.0, size = 0.0;
        for (int i = 0; i < M; ++i)
            for (int j = 0; j < M; ++j) (i == j ? size : off) += a[i * M + j] * a[i * M + j];
        if (!(off > 1e-30 * size)) return;
        for (int p = 0; p < M; ++p)
            for (int q = p + 1; q < M; ++q) {
                double apq = a[p * M + q];
                if (apq == 0.0) continue;
                double tau = (a[q * M + q] - a[p * M + p]) / (2.0 * apq);
                double t = (tau >= 0.0 ? 1.0 : -1.0) / (fabs(tau) + sqrt(1.0 + tau * tau));
                double c = 1.0 / sqrt(1.0 + t * t), n = t * c;
                for (int k = 0; k < M; ++k) {
                    double kp = a[k * M + p], kq = a[k * M + q];
                    a[k * M + p] = c * kp - n * kq;
                    a[k * M + q] = n * kp + c * kq;
                }
                for (int k = 0; k < M; ++k) {
                    double pk = a[p * M + k], qk = a[q * M + k];
                    a[p * M + k] = c * pk - n * qk;
                    a[q * M + k] = n * pk + c * qk;
                    double kp = axes[k * M + p], kq = axes[k * M + q];
                    axes[k * M + p] = c * kp - n * kq;
                    axes[k * M + q] = n * kp + c * kq;
                }
            }
    }
}

// Inverse of minus the second derivatives at the last evaluation, from structure tensors; as search/curvature.
__device__ inline void curvature(const Window& w, Ascent& s, double* room, const double* factors) {
    const Problem& p = *w.all;
    double sums[PAIRS + 2];
    for (int k = 0; k < PAIRS + 2; ++k) sums[k] = 0.0;
    const float* map = (const float*)w.map;
    long long tile = w.whole[TILE];
    FOR_BLOCK(i, w.pixels) {
        int row = (int)(i / w.width), column = (int)(i - (long long)row * w.width);
        if (column >= w.width - 1 || row >= w.height - 1) continue;
        double here = map[i], corner = map[i + 1], under = map[i + w.width], beyond = map[i + w.width + 1];
        double upper = corner - here, lower = beyond - under, left = under - here, right = beyond - corner;
        double across = 0.5 * (upper * upper + lower * lower), down = 0.5 * (left * left + right * right);
        double both = 0.25 * (upper + lower) * (left + right);
        sums[0] += across + down;
        sums[1] += here * here;
        long long at = (row + w.whole[LEAD_Y]) / tile * w.whole[TILES_WIDTH] + (column + w.whole[LEAD_X]) / tile;
        const double* x = p.along + (w.whole[TILES_START] + at) * 2 * M;
        const double* y = x + M;
        int pair = 2;
        for (int j = 0; j < M; ++j) {
            double to_x = across * x[j] + both * y[j], to_y = both * x[j] + down * y[j];
            for (int l = 0; l <= j; ++l) sums[pair++] += to_x * x[l] + to_y * y[l];
        }
    }
    block_sum<PAIRS + 2>(sums, room);
    if (threadIdx.x == 0) {
        double typical = factors[0], min_relative = factors[1], min_typical = factors[2];
        double slope_factor = factors[3], isolated_energy = factors[4], isolated_share = factors[5];
        double area = (double)w.whole[SCALE] * (double)w.whole[SCALE];
        double energy = fmax(sums[0], 1e-30), square = fmax(sums[1], 1e-30);
        double isolated = fmin(2.0 * isolated_energy * (double)w.count / energy, 1.0);
        double factor = slope_factor * (1.0 - isolated_share * isolated) / (6.0 * area * square);
        double a[M * M], axes[M * M], largest = -INFINITY;
        int pair = 2;
        for (int j = 0; j < M; ++j)
            for (int l = 0; l <= j; ++l) a[j * M + l] = a[l * M + j] = sums[pair++] * factor;
        eigen(a, axes);
        for (int j = 0; j < M; ++j) largest = fmax(largest, a[j * M + j]);
        double floor = fmax(fmax(w.numbers[LEAST], min_typical) * typical / area, min_relative * largest);
        for (int i = 0; i < M; ++i)
            for (int j = 0; j < M; ++j) {
                double sum = 0.0;
                for (int k = 0; k < M; ++k) sum += axes[i * M + k] * axes[j * M + k] / fmax(a[k * M + k], floor);
                s.matrix[i * M + j] = sum;
            }
    }
    __syncthreads();
}

__device__ inline void set_trial(Ascent& s) {
    for (int i = 0; i < M; ++i) s.trial[i] = s.theta[i] + s.t * s.step[i];
}

__device__ inline void begin_step(Ascent& s, double tol_step, double max_step) {
    double square = 0.0, slope = 0.0;
    for (int i = 0; i < M; ++i) {
        double sum = 0.0;
        for (int j = 0; j < M; ++j) sum += s.matrix[i * M + j] * s.gradient[j];
        s.step[i] = sum;
        square += sum * sum;
    }
    double length = sqrt(square), longest = s.known ? max_step : fmin(max_step, 1.0);
    if (length > longest) {
        for (int i = 0; i < M; ++i) s.step[i] *= longest / length;
        length = longest;
    }
    for (int i = 0; i < M; ++i) slope += s.gradient[i] * s.step[i];
    if (length <= tol_step || slope <= TOL * fmax(fabs(s.value), 1.0)) {
        s.status = CONVERGED;
        s.active = 0;
        return;
    }
    s.slope = s.low_slope = slope;
    s.t = 1.0;
    s.t_max = fmax(max_step / length, 1.0);
    s.low = 0.0;
    s.high = INFINITY;
    s.n_trials = s.has_best = 0;
    set_trial(s);
}

// The BFGS update; a step without positive curvature changes nothing.
__device__ inline void update(Ascent& s) {
    double step[M], decrease[M], carried[M], bend = 0.0, squares = 0.0, lengths = 0.0, product = 0.0;
    for (int i = 0; i < M; ++i) {
        step[i] = s.best_t * s.step[i];
        decrease[i] = s.gradient[i] - s.best_gradient[i];
        bend += step[i] * decrease[i];
        squares += decrease[i] * decrease[i];
        lengths += step[i] * step[i];
    }
    if (!(bend > 1e-12 * sqrt(lengths * squares))) return;
    if (!s.known)
        for (int i = 0; i < M; ++i)
            for (int j = 0; j < M; ++j) s.matrix[i * M + j] = i == j ? bend / squares : 0.0;
    for (int i = 0; i < M; ++i) {
        carried[i] = 0.0;
        for (int j = 0; j < M; ++j) carried[i] += s.matrix[i * M + j] * decrease[j];
        product += decrease[i] * carried[i];
    }
    double factor = (1.0 + product / bend) / bend;
    for (int i = 0; i < M; ++i)
        for (int j = 0; j < M; ++j)
            s.matrix[i * M + j] += factor * step[i] * step[j] - (step[i] * carried[j] + carried[i] * step[j]) / bend;
}

// Judge a trial by the Wolfe conditions; go on with the line search or the next step.
__device__ inline void judge(Ascent& s, double tol_step, double max_step) {
    double slope = 0.0;
    for (int i = 0; i < M; ++i) slope += s.trial_gradient[i] * s.step[i];
    if (!(s.trial_value > -INFINITY)) slope = NAN;
    bool gains = s.trial_value >= s.value + MIN_GAIN * s.t * s.slope;
    if (gains && (!s.has_best || s.trial_value >= s.best_value)) {
        s.best_t = s.t;
        s.best_value = s.trial_value;
        for (int i = 0; i < M; ++i) s.best_gradient[i] = s.trial_gradient[i];
    }
    s.has_best |= gains;
    bool good = gains && (fabs(slope) <= MAX_SLOPE * s.slope || (slope > 0.0 && s.t >= s.t_max));
    bool rises = gains && slope > 0.0;
    if (rises) {
        s.low = s.t;
        s.low_slope = slope;
    } else {
        s.high = s.t;
    }
    ++s.n_trials;
    bool closed = false;
    if (s.high == INFINITY) {
        s.t = fmin(s.t_max, 2.0 * s.t);
    } else {
        double width = s.high - s.low, share = 0.5;
        closed = !(width > 1e-12 * s.high);
        if (!rises && slope < s.low_slope) share = fmin(fmax(s.low_slope / (s.low_slope - slope), 0.1), 0.9);
        s.t = s.low + width * share;
    }
    if (!good && !closed && s.n_trials < MAX_TRIALS) {
        set_trial(s);
        return;
    }
    if (!s.has_best) {  // no gain within rounding
        s.status = CONVERGED;
        s.active = 0;
        return;
    }
    update(s);
    s.known = 1;
    for (int i = 0; i < M; ++i) {
        s.theta[i] += s.best_t * s.step[i];
        s.gradient[i] = s.best_gradient[i];
    }
    s.value = s.best_value;
    if (++s.n_steps >= MAX_STEPS)
        s.active = 0;
    else
        begin_step(s, tol_step, max_step);
}

// Values at n_trials motions of each window, a block each; without the loss at the border.
extern "C" __global__ __launch_bounds__(THREADS, 2) void contrast_values(const Problem* problem, const double* trials, long long n_trials, double* values) {
    DYNAMIC_SHARED(memory);
    Problem p = *problem;
    double* room = (double*)memory;
    long long b = blockIdx.x / n_trials;
    Window w = window_of(p, b, (int*)(room + 64));
    if (p.scratch) w.map = p.scratch + blockIdx.x * w.whole[MAP_START];
    const double* scaled = trials + (long long)blockIdx.x * M;
    double theta[P], sum[1];
    motion_of(w, scaled, theta);
    sum[0] = build(w, theta);
    block_sum<1>(sum, room);
    if (threadIdx.x == 0) {
        double slope[M];
        values[blockIdx.x] = log(sum[0] / (double)w.count) - penalty(w, scaled, slope);
    }
}

// Maximize the contrast of every window from theta, (b, m); the results replace theta.
extern "C" __global__ __launch_bounds__(THREADS, 2) void ascend(
    const Problem* problem, const double* near, const double* factors, double* theta, double* value,
    double* gradient, double* matrix, long long* n_eval, long long* status) {
    DYNAMIC_SHARED(memory);
    Problem p = *problem;
    Ascent& s = *(Ascent*)memory;
    double* room = (double*)(memory + (sizeof(Ascent) + 15) / 16 * 16);
    long long b = blockIdx.x;
    Window w = window_of(p, b, (int*)(room + 32 * MOST));
    double tol_step = w.numbers[TOL_STEP], max_step = w.numbers[MAX_STEP];
    if (threadIdx.x == 0) {
        for (int i = 0; i < M; ++i) s.theta[i] = s.trial[i] = theta[b * M + i];
        s.known = s.active = 1;
        s.n_steps = 0;
        s.n_eval = 1;
        s.status = MAX_ITER;
    }
    __syncthreads();
    evaluate(w, s, room);
    bool is_known = near && isfinite(near[b * M * M]);
    if (!is_known)
        curvature(w, s, room, factors);
    else if (threadIdx.x == 0)
        for (int i = 0; i < M * M; ++i) s.matrix[i] = near[b * M * M + i];
    __syncthreads();
    bool flat = true;
    for (int i = 0; i < M; ++i) flat = flat && s.trial_gradient[i] == 0.0;
    bool lost = s.trial_value == -INFINITY;
    double before = s.trial_value;
    __syncthreads();
    if (threadIdx.x == 0) {
        s.value = s.trial_value;
        for (int i = 0; i < M; ++i) s.gradient[i] = s.trial_gradient[i];
        if (lost) {
            for (int i = 0; i < M * M; ++i) s.matrix[i] = i % (M + 1) == 0;
            s.status = NOT_FINITE;
            s.active = 0;
        }
    }
    if (!lost && flat) {
        // Without a slope: flat if no step changes the value.
        for (int k = 0; k < 2 * M; ++k) {
            __syncthreads();
            if (threadIdx.x == 0) {
                for (int i = 0; i < M; ++i) s.trial[i] = s.theta[i];
                s.trial[k >> 1] += k & 1 ? -0.37 : 1.0;
                ++s.n_eval;
            }
            __syncthreads();
            evaluate(w, s, room);
            flat = flat && s.trial_value == before;
        }
        __syncthreads();
        if (threadIdx.x == 0 && flat) {
            s.status = FLAT;
            s.active = 0;
        }
    }
    __syncthreads();
    if (threadIdx.x == 0 && s.active) begin_step(s, tol_step, max_step);
    __syncthreads();
    while (s.active) {
        evaluate(w, s, room);
        if (threadIdx.x == 0) {
            ++s.n_eval;
            judge(s, tol_step, max_step);
        }
        __syncthreads();
    }
    if (threadIdx.x == 0) {
        for (int i = 0; i < M; ++i) {
            theta[b * M + i] = s.theta[i];
            gradient[b * M + i] = s.gradient[i];
        }
        for (int i = 0; i < M * M; ++i) matrix[b * M * M + i] = s.matrix[i];
        value[b] = s.value;
        n_eval[b] = s.n_eval;
        status[b] = s.status;
    }
}
