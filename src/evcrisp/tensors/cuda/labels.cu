// Labels of events, one thread per event, noise sample or source; twin of estimators/auto/on_device/.
//
// Events in the order of sources: sorted by window, polarity and pixel, and then by time.

// As in kernels/auto/self_support, kernels/auto/event_evidence and kernels/auto/short_evidence.
constexpr int LONG_BURST = 16, MAX_SAME_PIXEL = 64;
constexpr float LEAST_SHARE = 1e-3f, PER_HALF = (float)(0.5 / 0.6), LOST = 0.95f;
constexpr float BESIDE = (float)(66.0 * 26.0 / 14400.0), ACROSS = (float)(26.0 * 26.0 / 14400.0);
constexpr float BACK = 16.0f;

__device__ inline float clamped(float value) { return value > 0.0f ? value : 0.0f; }

__device__ inline void taps(float a, float* out) {
    out[0] = 0.5f * (0.5f - a) * (0.5f - a);
    out[1] = 0.75f - a * a;
    out[2] = 1.0f - out[0] - out[1];
}

// The quadratic B-spline.
__device__ inline float spline(float distance) {
    float d = fabsf(distance), wide = clamped(1.5f - d), narrow = clamped(0.5f - d);
    return 0.5f * wide * wide - 1.5f * narrow * narrow;
}

// Sum over pixels of the product of two splines, along one axis.
__device__ inline float shared_axis(float a, float distance) {
    float w[3];
    taps(a, w);
    return w[0] * spline(distance - 1.0f) + w[1] * spline(distance) + w[2] * spline(distance + 1.0f);
}

// Overlap of the footprint at (x, y) with another; 0 if it is tiny.
__device__ inline float overlap(float x, float y, float a, float b, float other_x, float other_y) {
    float both = shared_axis(a, x - a - other_x) * shared_axis(b, y - b - other_y);
    return both >= LEAST_SHARE ? both : 0.0f;
}

__device__ inline float lost_by(float interval, float both) {
    float share = fminf(interval * both * PER_HALF, 1.0f);
    return LOST * (1.0f - share * share);
}

// Bits of a number, ordered as numbers are.
__device__ inline unsigned int ordered_bits(float value) {
    union {
        float number;
        unsigned int bits;
    } both;
    both.number = value + 0.0f;  // of minus zero too
    return both.bits & 0x80000000u ? ~both.bits : both.bits | 0x80000000u;
}

// First place of every source among sorted ones.
extern "C" __global__ void first_of_sources(const long long* source, long long n, int* first) {
    FOR_EACH(i, n) if (!i || source[i - 1] != source[i]) first[source[i]] = (int)i;
}

// Sources and keys of events in the order of sources; see row_keys of rows.py.
extern "C" __global__ void source_keys(
    const int* source, const long long* order, const float* t, long long n, long long* out, long long* keys) {
    FOR_EACH(i, n) {
        out[i] = source[i];
        keys[i] = ((long long)source[i] << 32) + ordered_bits(t[order[i]]);
    }
}

// Number within its source, and events of it, of every event in the order of sources.
extern "C" __global__ void link_sources(const long long* source, long long n, long long* number, long long* count) {
    FOR_EACH(i, n) {
        long long s = source[i], j = i;
        if (i && source[i - 1] == s) continue;
        for (; j < n && source[j] == s; ++j) number[j] = j - i;
        for (long long k = i; k < j; ++k) count[k] = j - i;
    }
}

// Whether event k of a source is compared with the one `lag` before it: all footprints between them overlap its own.
__device__ inline bool reaches_back(
    long long k, long long lag, const long long* order, const float* x, const float* y, const float* a, const float* b) {
    long long e = order[k];
    for (long long step = 1; step < lag; ++step) {
        long long f = order[k - step];
        if (!(overlap(x[e], y[e], a[e], b[e], x[f], y[f]) > 0.0f)) return false;
    }
    return true;
}

// Contrast that events of one source add at each other and themselves. `known` are set already.
extern "C" __global__ void self_support_of_events(
    const long long* order, const long long* number, const long long* count, const unsigned char* known, const float* x,
    const float* y, const float* a, const float* b, long long n, float* own) {
    FOR_EACH(k, n) {
        if (known[k]) continue;
        long long e = order[k], end = k - number[k] + count[k];
        float u[3], v[3];
        taps(a[e], u);
        taps(b[e], v);
        float sum = (u[0] * u[0] + u[1] * u[1] + u[2] * u[2]) * (v[0] * v[0] + v[1] * v[1] + v[2] * v[2]);
        // With the events before, while footprints still overlap; and those after, which look back likewise.
        bool goes_back = number[k] > 0;
        for (long long lag = 1; lag <= LONG_BURST && lag < count[k]; ++lag) {
            if (goes_back) {
                long long f = order[k - lag];
                float share = overlap(x[e], y[e], a[e], b[e], x[f], y[f]);
                sum += share;
                goes_back = share > 0.0f && number[k] > lag;
            }
            long long later = k + lag;
            if (later < end && reaches_back(later, lag, order, x, y, a, b)) {
                long long f = order[later];
                sum += overlap(x[f], y[f], a[f], b[f], x[e], y[e]);
            }
        }
        own[e] = sum;
    }
}

// Contrast that the events of its source add at each noise sample. `after` is the first place behind it.
extern "C" __global__ void self_support_of_samples(
    const long long* source, const long long* after, const float* sx, const float* sy, const float* sa, const float* sb,
    long long n_samples, const long long* sources, const long long* order, const float* x, const float* y, long long n, float* own) {
    FOR_EACH(i, n_samples) {
        float sum = 0.0f;
        for (int step = -1; step <= 1; step += 2) {
            long long place = after[i] - (step < 0);
            for (int k = 0; k < MAX_SAME_PIXEL; ++k, place += step) {
                if (place < 0 || place >= n || sources[place] != source[i]) break;
                long long e = order[place];
                float share = overlap(sx[i], sy[i], sa[i], sb[i], x[e], y[e]);
                sum += share;
                if (!(share > 0.0f)) break;
            }
        }
        own[i] = sum;
    }
}

// Readiness of events, and the probabilities along their sources, in the order of sources.
extern "C" __global__ void readiness_of_events(
    const long long* order, const long long* number, const long long* count, const float* t, const float* support,
    const float* rate, long long n, float* sorted_t, float* excess, float* forward, float* backward, float* ready) {
    FOR_EACH(i, n) {
        if (number[i]) continue;
        long long last = i + count[i] - 1;
        double chance = 0.0;
        for (long long k = i; k <= last; ++k) {
            long long e = order[k];
            sorted_t[k] = t[e];
            excess[k] = clamped(support[e] - rate[e]);
            float lost = k > i ? lost_by(sorted_t[k] - sorted_t[k - 1], excess[k] + excess[k - 1]) : 0.0f;
            double by_chance = -(double)excess[k] * (double)lost;
            chance = (by_chance * chance + excess[k]) / (by_chance * chance + ((double)excess[k] + (double)rate[e]));
            ready[e] = k > i ? 1.0f - forward[k - 1] * lost : 1.0f;
            forward[k] = (float)chance;
        }
        for (long long k = last; k >= i; --k) {
            long long e = order[k];
            float lost = k < last ? lost_by(sorted_t[k + 1] - sorted_t[k], excess[k + 1] + excess[k]) : 0.0f;
            double by_chance = -(double)excess[k] * (double)lost;
            chance = k < last ? chance : 0.0;
            chance = (by_chance * chance + excess[k]) / (by_chance * chance + ((double)excess[k] + (double)rate[e]));
            if (k < last) ready[e] *= 1.0f - backward[k + 1] * lost;
            backward[k] = (float)chance;
        }
    }
}

// Values of the window and polarity of events, from (b, 2).
extern "C" __global__ void values_of_polarity(
    const float* values, const long long* row, const long long* p, long long n, float* out) {
    FOR_EACH(i, n) out[i] = values[2 * row[i] + p[i]];
}

// Support above the background, times readiness.
extern "C" __global__ void evidence_of_events(
    const float* support, const float* rate, const float* ready, long long n, float* out) {
    FOR_EACH(i, n) {
        float excess = support[i] - rate[i];
        out[i] = excess > 0.0f ? excess * ready[i] : excess;
    }
}

// Support from neighbors in space and time; see short_support.py. `support` is (n_reaches, n).
extern "C" __global__ void neighbor_support(
    const long long* row, const long long* x, const long long* y, const long long* p, const float* t, long long n,
    const long long* grid_start, const long long* grid_width, const long long* grid_height, const int* first,
    const long long* sources, const float* times, const long long* event, long long n_events, const float* rate,
    long long n_reaches, const float* near_t, const long long* from, const long long* to, float* support, float* near, float* n_near) {
    FOR_EACH(i, n) {
        long long w = row[i], width = grid_width[w], height = grid_height[w], low = from[w], high = to[w];
        float now[2] = {t[i], BACK - t[i]}, key = t[i] - BACK, close = near_t[w], contrast = 0.0f, number = 0.0f;
        for (int dy = -1; dy <= 1; ++dy)
            for (int dx = -1; dx <= 1; ++dx) {
                if (!dx && !dy) continue;
                long long column = x[i] + dx, line = y[i] + dy;
                if (column < 0 || column >= width || line < 0 || line >= height) continue;
                long long s = grid_start[w] + (p[i] * height + line) * width + column, at = first[s];
                if (at < 0) continue;
                // Places behind the reader, in both directions of time.
                long long behind = at, ahead = at;
                while (behind < n_events && sources[behind] == s && times[behind] <= t[i]) ++behind;
                while (ahead < n_events && sources[ahead] == s && times[ahead] - BACK <= key) ++ahead;
                for (int d = 0; d < 2; ++d) {
                    long long place = d ? ahead : behind - 1;
                    if (place < at || place >= n_events || sources[place] != s) continue;
                    if (event[place] < low || event[place] >= high) continue;
                    float latest = d ? BACK - times[place] : times[place];
                    for (long long r = 0; r < n_reaches; ++r)
                        support[r * n + i] += clamped(1.0f - (now[d] - latest) * rate[w * n_reaches + r]);
                    if (latest > now[d] - close) {
                        contrast += dx && dy ? ACROSS : BESIDE;
                        number += 1.0f;
                    }
                }
            }
        near[i] = contrast;
        n_near[i] = number;
    }
}

// Add nine weights per event to flat maps; whole numbers in fixed point if `fixed`.
extern "C" __global__ void vote(
    const long long* cell, const long long* width, const float* a, const float* b, const unsigned char* inside,
    const float* weight, long long n, double scale, float* map, unsigned long long* fixed) {
    FOR_EACH(i, n) {
        float factor = weight ? weight[i] : 1.0f;
        if (!inside[i] || factor == 0.0f) continue;
        float u[3], v[3];
        taps(a[i], u);
        taps(b[i], v);
        long long at = cell[i];
        for (int row = 0; row < 3; ++row, at += width[i])
            for (int column = 0; column < 3; ++column) {
                float value = factor * v[row] * u[column];
                if (fixed)
                    ADD_LONG(fixed + at + column, (unsigned long long)(long long)rint((double)value * scale));
                else
                    ADD_FLOAT(map + at + column, value);
            }
    }
}

// Weighted sum of nine pixels at every event; 0 outside.
extern "C" __global__ void sample(
    const float* map, const long long* cell, const long long* width, const float* a, const float* b,
    const unsigned char* inside, long long n, float* out) {
    FOR_EACH(i, n) {
        float u[3], v[3], line[3], sum = 0.0f;
        taps(a[i], u);
        taps(b[i], v);
        if (inside[i]) {
            const float* at = map + cell[i];
            long long w = width[i];
            for (int column = 0; column < 3; ++column)
                line[column] = v[0] * at[column] + v[1] * at[w + column] + v[2] * at[2 * w + column];
            sum = u[0] * line[0] + u[1] * line[1] + u[2] * line[2];
        }
        out[i] = sum;
    }
}

__device__ inline unsigned int spread(unsigned int value) {
    value *= 0x9E3779B1u;
    return value ^ (value >> 15);
}

// A number of 32 bits for every event, from its place; see hashing.py.
extern "C" __global__ void ranks(
    const double* x, const double* y, const double* dt, const long long* row, const double* center, const double* unit,
    const long long* salt, long long n, long long* out) {
    FOR_EACH(i, n) {
        long long w = row[i];
        unsigned int start = (unsigned int)salt[w];
        unsigned int across = (unsigned int)(long long)(fabs(x[i] - center[3 * w]) * unit[3 * w] + 0.5);
        unsigned int down = (unsigned int)(long long)(fabs(y[i] - center[3 * w + 1]) * unit[3 * w + 1] + 0.5);
        unsigned int when = (unsigned int)(long long)(fabs(dt[i] - center[3 * w + 2]) * unit[3 * w + 2] + 0.5);
        unsigned int value = (spread(across ^ start) + spread(down ^ start)) ^ (when * 0x85EBCA6Bu);
        value = (value ^ (value >> 16)) * 0x7FEB352Du;
        value = (value ^ (value >> 15)) * 0x846CA68Bu;
        out[i] = (long long)(value ^ (value >> 16));
    }
}

// Events per pixel of each window, (b, height, width).
extern "C" __global__ void count_pixels(
    const long long* row, const long long* x, const long long* y, long long n, long long width, long long height, int* counts) {
    FOR_EACH(i, n) ADD_WHOLE(counts + (row[i] * height + y[i]) * width + x[i], 1);
}

// Whether events lie at hot pixels; see hot_pixels.py.
extern "C" __global__ void at_hot_pixels(
    const long long* row, const long long* x, const long long* y, long long n, long long width, long long height,
    const int* counts, const long long* widths, const long long* heights, double least, double factor, unsigned char* hot) {
    FOR_EACH(i, n) {
        long long w = row[i];
        const int* map = counts + w * height * width;
        float own = (float)map[y[i] * width + x[i]], total = 0.0f;
        hot[i] = 0;
        if (!(own > (float)least)) continue;
        int left = (int)(x[i] < 2 ? 0 : x[i] - 2), right = (int)(x[i] + 3 > widths[w] ? widths[w] : x[i] + 3);
        int top = (int)(y[i] < 2 ? 0 : y[i] - 2), bottom = (int)(y[i] + 3 > heights[w] ? heights[w] : y[i] + 3);
        for (int j = top; j < bottom; ++j)
            for (int k = left; k < right; ++k) total += (float)map[j * width + k];
        float n_around = fmaxf((float)((right - left) * (bottom - top) - 1), 1.0f);
        hot[i] = (own - (float)least) * n_around > (float)factor * (total - own);
    }
}

// Events of each window in bands along its sides, early and late: upper, lower, left, right; (b, 8).
extern "C" __global__ void count_at_sides(
    const double* x, const double* y, const double* dt, const long long* start, const long long* count,
    const double* limits, const double* middle, double* out) {
    DYNAMIC_SHARED(memory);
    long long w = blockIdx.x;
    const double* limit = limits + 4 * w;
    double sums[8] = {0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0};
    FOR_BLOCK(k, count[w]) {
        long long i = start[w] + k;
        int late = !(dt[i] < middle[w]);
        if (y[i] < limit[0]) sums[late] += 1.0;
        if (y[i] > limit[1]) sums[2 + late] += 1.0;
        if (x[i] < limit[2]) sums[4 + late] += 1.0;
        if (x[i] > limit[3]) sums[6 + late] += 1.0;
    }
    block_sum<8>(sums, (double*)memory);
    if (threadIdx.x == 0)
        for (int k = 0; k < 8; ++k) out[8 * w + k] = sums[k];
}

// Values of each window between steps, (b, m) increasing: those above the step before, up to this one.
extern "C" __global__ void count_up_to(
    const float* values, const long long* start, const long long* count, const float* steps, long long m, int* out) {
    long long w = blockIdx.x;
    const float* step = steps + w * m;
    int* counts = out + w * m;
    FOR_BLOCK(k, m) counts[k] = 0;
    __syncthreads();
    FOR_BLOCK(k, count[w]) {
        float value = values[start[w] + k];
        long long low = 0, high = m;
        while (low < high) {
            long long middle = (low + high) / 2;
            if (step[middle] >= value)
                high = middle;
            else
                low = middle + 1;
        }
        if (low < m) ADD_WHOLE(counts + low, 1);
    }
}

// The value with a rank in each window that is asked, found byte by byte.
extern "C" __global__ void value_at_rank(
    const float* values, const long long* start, const long long* count, const long long* rank, const unsigned char* asked,
    float* out) {
    SHARED_ARRAY(int, counts, 256);
    SHARED_ARRAY(long long, state, 2);  // bits known so far, rank among the values with these bits
    long long w = blockIdx.x;
    if (!asked[w]) return;
    if (threadIdx.x == 0) {
        state[0] = 0;
        state[1] = rank[w];
    }
    for (int shift = 24; shift >= 0; shift -= 8) {
        FOR_BLOCK(k, 256) counts[k] = 0;
        __syncthreads();
        unsigned int known = (unsigned int)state[0];
        FOR_BLOCK(k, count[w]) {
            unsigned int bits = ordered_bits(values[start[w] + k]);
            if (shift == 24 || bits >> (shift + 8) == known >> (shift + 8)) ADD_WHOLE(counts + (bits >> shift & 255u), 1);
        }
        __syncthreads();
        if (threadIdx.x == 0) {
            int byte = 0;
            while (byte < 255 && state[1] >= counts[byte]) state[1] -= counts[byte++];
            state[0] = known | (unsigned int)byte << shift;
        }
        __syncthreads();
    }
    if (threadIdx.x == 0) {
        union {
            float number;
            unsigned int bits;
        } both;
        unsigned int bits = (unsigned int)state[0];
        both.bits = bits & 0x80000000u ? bits & 0x7fffffffu : ~bits;
        out[w] = both.number;
    }
}

// Support by other pixels, divided by the exposure of a view that moves at constant velocity; -1 off the map.
extern "C" __global__ void support_of_sweep(
    const float* value, const float* own, const float* x, const float* y, const unsigned char* inside, const long long* row,
    long long n, const float* sides, const float* per_px, double least_support, double least_exposure, float* out) {
    FOR_EACH(i, n) {
        long long w = row[i];
        const float* side = sides + 4 * w;
        float support = (inside[i] ? value[i] : 0.0f) - own[i];
        if (!(support > (float)least_support)) support = 0.0f;
        float across[2] = {(x[i] - side[0]) * per_px[2 * w], (x[i] - side[2]) * per_px[2 * w]};
        float down[2] = {(y[i] - side[1]) * per_px[2 * w + 1], (y[i] - side[3]) * per_px[2 * w + 1]};
        float begin = fmaxf(fmaxf(fminf(across[0], across[1]), fminf(down[0], down[1])), -0.5f);
        float end = fminf(fminf(fmaxf(across[0], across[1]), fmaxf(down[0], down[1])), 0.5f);
        float share = fmaxf(end - begin, (float)least_exposure);
        out[i] = inside[i] ? (support > 0.0f ? support / share : support) : -1.0f;
    }
}

// Times of events, in windows, and their sources.
extern "C" __global__ void times_and_sources(
    const long long* row, const long long* x, const long long* y, const long long* p, const double* dt, long long n,
    const double* duration_s, const long long* grid_start, const long long* grid_width, const long long* grid_height,
    float* t, long long* source) {
    FOR_EACH(i, n) {
        long long w = row[i];
        t[i] = (float)(dt[i] / duration_s[w]);
        source[i] = grid_start[w] + (p[i] * grid_height[w] + y[i]) * grid_width[w] + x[i];
    }
}

// Which events from `first` on, before `last`, have a rank up to `limit`.
extern "C" __global__ void tested_events(
    const long long* row, const long long* rank, long long n, const long long* first, const long long* last,
    const long long* limit, unsigned char* out) {
    FOR_EACH(i, n) {
        long long w = row[i];
        out[i] = i >= first[w] && i < last[w] && rank[i] <= limit[w];
    }
}

// How many values of each row, which increase, are below an end.
extern "C" __global__ void n_before(
    const float* values, const long long* start, const long long* count, long long n, double end, long long* out) {
    FOR_EACH(i, n) {
        long long low = 0, high = count[i];
        while (low < high) {
            long long middle = (low + high) / 2;
            if (values[start[i] + middle] < (float)end)
                low = middle + 1;
            else
                high = middle;
        }
        out[i] = low;
    }
}

// Tile of a point; those beyond the area belong to the nearest one.
__device__ inline long long tile_of(
    long long w, long long x, long long y, const float* corner, const float* rate, const long long* n_tiles, const long long* start) {
    long long column = (long long)(((float)x - corner[2 * w]) * rate[2 * w]);
    long long line = (long long)(((float)y - corner[2 * w + 1]) * rate[2 * w + 1]);
    column = column < 0 ? 0 : column < n_tiles[2 * w] ? column : n_tiles[2 * w] - 1;
    line = line < 0 ? 0 : line < n_tiles[2 * w + 1] ? line : n_tiles[2 * w + 1] - 1;
    return start[w] + line * n_tiles[2 * w] + column;
}

// Tiles of points.
extern "C" __global__ void tiles_of_points(
    const long long* row, const long long* x, const long long* y, long long n, const float* corner, const float* rate,
    const long long* n_tiles, const long long* start, long long* tile) {
    FOR_EACH(i, n) tile[i] = tile_of(row[i], x[i], y[i], corner, rate, n_tiles, start);
}

// Quiet points of tiles, up to a support above that of noise, among points with a rank below that of their window.
extern "C" __global__ void count_quiet(
    const long long* row, const long long* x, const long long* y, const long long* p, const float* support, const long long* rank,
    long long n, const long long* below, const float* quiet, const float* limit, const float* corner, const float* rate,
    const long long* n_tiles, const long long* start, int* counts) {
    FOR_EACH(i, n) {
        long long w = row[i];
        if (rank[i] >= below[w]) continue;
        long long tile = tile_of(w, x[i], y[i], corner, rate, n_tiles, start);
        if (support[i] - quiet[2 * w + p[i]] <= limit[tile]) ADD_WHOLE(counts + tile, 1);
    }
}

// Events of each window and polarity with at most a support, both (b, 2).
extern "C" __global__ void count_up_to_quiet(
    const float* support, const long long* p, const long long* start, const long long* count, const float* quiet, double* out) {
    SHARED_ARRAY(double, room, 64);
    long long w = blockIdx.x;
    double sums[2] = {0.0, 0.0};
    FOR_BLOCK(k, count[w]) {
        long long i = start[w] + k;
        if (support[i] <= quiet[2 * w + p[i]]) sums[p[i]] += 1.0;
    }
    block_sum<2>(sums, room);
    if (threadIdx.x == 0) {
        out[2 * w] = sums[0];
        out[2 * w + 1] = sums[1];
    }
}

// Labels of evidence by the threshold of its window.
extern "C" __global__ void labels_of_evidence(
    const float* evidence, const long long* row, long long n, const double* threshold, double* score, double* confidence,
    unsigned char* signal) {
    FOR_EACH(i, n) {
        double value = (double)evidence[i] / threshold[row[i]], square = value * value;
        score[i] = value;
        confidence[i] = value > 0.0 && square > 0.5 ? 1.0 - 0.5 / square : 0.0;
        signal[i] = value > 1.0;
    }
}
