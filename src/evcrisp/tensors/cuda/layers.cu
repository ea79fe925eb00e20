// Search for several motions in windows; twin of kernels/layers/.
//
// A pair is a window and one motion, or one displacement, of it. Motions are rows of eight numbers, see
// estimators/layers/fitting.py.

// As in kernels/auto/self_support, kernels/auto/support, kernels/layers/cells and kernels/layers/choice.
constexpr int LONG_BURST = 16;
constexpr float LEAST_SHARE = 1e-3f, LEAST_SUPPORT = 5e-3f, FAR_AWAY = -1e6f;
constexpr long long PATCH_PIXELS = 4096;
constexpr float PER_UNIT = 64.0f, LAST_IN_TABLE = 4096.0f;
constexpr double DIAGONAL = 0.7;
constexpr int NEIGHBORS = 10;
constexpr double LOSS_SCALE = 16777216.0;  // losses in fixed point: their sums do not depend on the order

// Pairs of events that meet in each cell at a displacement, above those of chance; one block per pair.
// Maps lie in shared memory, or in `scratch`, of which a block has `pixels`.
extern "C" __global__ void contrast_volume(
    const float* x, const float* y, const float* tau, const unsigned char* p, const long long* start, const long long* count,
    const float* to_map, const long long* rows, const long long* columns, const long long* pair_window, const float* shifts,
    long long first_pair, long long cell, long long n_rows, long long n_columns, int* scratch, long long pixels, float* volume) {
    DYNAMIC_SHARED(memory);
    long long pair = first_pair + blockIdx.x, w = pair_window[pair];
    int* map = scratch ? scratch + blockIdx.x * pixels : (int*)memory;
    int side = (int)cell, width = (int)(columns[w] * cell), height = (int)(rows[w] * cell);
    float shift_x = shifts[2 * pair] * to_map[w], shift_y = shifts[2 * pair + 1] * to_map[w];
    float last_x = (float)width, last_y = (float)height;
    float* out = volume + pair * n_rows * n_columns;
    // Both polarities share a number while they fit in half of it.
    int passes = count[w] < 65536 ? 1 : 2;
    for (int pass = 0; pass < passes; ++pass) {
        FOR_BLOCK(i, (long long)width * height) map[i] = 0;
        __syncthreads();
        FOR_BLOCK(k, count[w]) {
            long long i = start[w] + k;
            int q = p[i];
            if (passes == 2 && q != pass) continue;
            float u = fmaf(-shift_x, tau[i], x[i] * to_map[w]), v = fmaf(-shift_y, tau[i], y[i] * to_map[w]);
            if (!(u >= 0.0f && u < last_x && v >= 0.0f && v < last_y)) continue;
            ADD_WHOLE(map + (int)v * width + (int)u, passes == 1 && q ? 65536 : 1);
        }
        __syncthreads();
        FOR_BLOCK(i, rows[w] * columns[w]) {
            int r = (int)(i / columns[w]), c = (int)(i - r * columns[w]);
            float total[2] = {0.0f, 0.0f}, square[2] = {0.0f, 0.0f};
            for (int j = r * side; j < (r + 1) * side; ++j)
                for (int l = c * side; l < (c + 1) * side; ++l) {
                    unsigned int votes = (unsigned int)map[j * width + l];
                    for (int q = 0; q < 3 - passes; ++q) {
                        float v = (float)(passes == 2 ? votes : q ? votes >> 16 : votes & 65535u);
                        total[q] += v;
                        square[q] += v * v;
                    }
                }
            float pairs = 0.0f;
            for (int q = 0; q < 3 - passes; ++q) pairs += square[q] - total[q] - total[q] * total[q] / (float)(side * side);
            out[r * n_columns + c] = pass ? out[r * n_columns + c] + pairs : pairs;
        }
        __syncthreads();
    }
}

__device__ inline void taps(float a, float* out) {
    out[0] = 0.5f * (0.5f - a) * (0.5f - a);
    out[1] = 0.75f - a * a;
    out[2] = 1.0f - out[0] - out[1];
}

__device__ inline float positive(float value) { return value > 0.0f ? value : 0.0f; }

// The quadratic B-spline.
__device__ inline float spline(float distance) {
    float d = fabsf(distance), wide = positive(1.5f - d), narrow = positive(0.5f - d);
    return 0.5f * wide * wide - 1.5f * narrow * narrow;
}

// Sum over pixels of the product of two splines, along one axis.
__device__ inline float shared_axis(float a, float distance) {
    float w[3];
    taps(a, w);
    return w[0] * spline(distance - 1.0f) + w[1] * spline(distance) + w[2] * spline(distance + 1.0f);
}

// A motion in single precision on a map with a padding.
struct Moved {
    float xx, xy, yx, yy, along_x, along_y, start, right, bottom;
    int rows, columns;
};

// Where an event lies on the map.
struct Place {
    float x, y, a, b;
    int cell;  // -1 outside
};

__device__ inline Moved moved_by(const double* m, long long padding, long long width, long long height) {
    Moved out;
    out.xx = (float)m[2];
    out.xy = (float)m[3];
    out.yx = (float)m[4];
    out.yy = (float)m[5];
    out.along_x = (float)(m[0] - m[2] * m[6] - m[3] * m[7]);
    out.along_y = (float)(m[1] - m[4] * m[6] - m[5] * m[7]);
    out.start = (float)padding;
    out.columns = (int)(width + 2 * padding);
    out.rows = (int)(height + 2 * padding);
    out.right = (float)out.columns - 1.5f;
    out.bottom = (float)out.rows - 1.5f;
    return out;
}

__device__ inline Place place(const Moved& m, float x, float y, float tau, int p) {
    Place out;
    float u = x + m.start - tau * (m.along_x + m.xx * x + m.xy * y);
    float v = y + m.start - tau * (m.along_y + m.yx * x + m.yy * y);
    bool inside = u >= 0.5f && u < m.right && v >= 0.5f && v < m.bottom;
    float near_u = inside ? u : 1.0f, near_v = inside ? v : 1.0f;
    int i = (int)(near_u + 0.5f), j = (int)(near_v + 0.5f);
    out.a = near_u - (float)i;
    out.b = near_v - (float)j;
    out.cell = inside ? (p * m.rows + j - 1) * m.columns + i - 1 : -1;
    out.x = inside ? u : FAR_AWAY;
    out.y = inside ? v : FAR_AWAY;
    return out;
}

__device__ inline float overlap_of(const Place& one, const Place& other) {
    return shared_axis(one.a, one.x - one.a - other.x) * shared_axis(one.b, one.y - one.b - other.y);
}

__device__ inline float counted(float both) { return both >= LEAST_SHARE ? both : 0.0f; }

// Events of windows, and their order by source: pixel and polarity, then time.
struct Events {
    const float *x, *y, *tau;
    const unsigned char *p, *supporting;
    const long long *order, *number, *count;  // event at each place, its number in the source, events of it
    const long long *place;                   // of each event in this order
};

// Pairs of windows and motions.
struct Pairs {
    const long long *window, *start, *events, *out;  // of a pair: window, first event, events, first place of its results
    const long long *padding, *map;                  // of a pair
    const long long *width, *height;                 // of a window
    const double* motions;
};

__device__ inline Place place_of(const Events& e, const Moved& m, long long i) {
    return place(m, e.x[i], e.y[i], e.tau[i], e.p[i]);
}

// Self-support of an event: what events of its source add there, itself included.
__device__ inline float self_support(const Events& e, const Moved& m, long long i, const Place& here) {
    long long at = e.place[i], first = at - e.number[at], end = first + e.count[at];
    float own = 0.0f;
    if (end - first > LONG_BURST) {
        // Sources whose events stay together: all pairs.
        float left = here.x - here.a, right = left, top = here.y - here.b, bottom = top, far = 0.0f;
        for (long long k = first; k < end; ++k) {
            Place other = place_of(e, m, e.order[k]);
            float column = other.x - other.a, line = other.y - other.b;
            left = fminf(left, column);
            right = fmaxf(right, column);
            top = fminf(top, line);
            bottom = fmaxf(bottom, line);
        }
        far = fmaxf(right - left, bottom - top);
        if (far < (float)PATCH_PIXELS &&
            (long long)(right - left + 3.5f) * (long long)(bottom - top + 3.5f) <= PATCH_PIXELS) {
            for (long long k = first; k < end; ++k) own += overlap_of(here, place_of(e, m, e.order[k]));
            return own;
        }
    }
    float u[3], v[3];
    taps(here.a, u);
    taps(here.b, v);
    own = (u[0] * u[0] + u[1] * u[1] + u[2] * u[2]) * (v[0] * v[0] + v[1] * v[1] + v[2] * v[2]);
    // With the event before; then, while footprints still overlap, with the one before that.
    for (long long k = at - 1; k >= first && k >= at - LONG_BURST; --k) {
        float share = counted(overlap_of(here, place_of(e, m, e.order[k])));
        own += share;
        if (!(share > 0.0f)) break;
    }
    // Later events that reach this one in the same way.
    for (long long k = at + 1; k < end && k <= at + LONG_BURST; ++k) {
        Place later = place_of(e, m, e.order[k]);
        bool reaches = true;
        for (long long l = k - 1; l > at && reaches; --l)
            reaches = counted(overlap_of(later, place_of(e, m, e.order[l]))) > 0.0f;
        if (reaches) own += counted(overlap_of(later, here));
    }
    return own;
}

// Add the supporting events of all pairs to their maps; in fixed point if `fixed`. One block per pair.
extern "C" __global__ void vote_by_motions(const Events* events, const Pairs* pairs, double scale, float* map, unsigned long long* fixed) {
    const Events& e = *events;
    const Pairs& q = *pairs;
    long long pair = blockIdx.x, w = q.window[pair];
    Moved m = moved_by(q.motions + 8 * pair, q.padding[pair], q.width[w], q.height[w]);
    FOR_BLOCK(k, q.events[pair]) {
        long long i = q.start[pair] + k;
        if (!e.supporting[i]) continue;
        Place here = place_of(e, m, i);
        if (here.cell < 0) continue;
        float u[3], v[3];
        taps(here.a, u);
        taps(here.b, v);
        long long at = q.map[pair] + here.cell;
        for (int row = 0; row < 3; ++row, at += m.columns)
            for (int column = 0; column < 3; ++column) {
                float value = v[row] * u[column];
                if (fixed)
                    ADD_LONG(fixed + at + column, (unsigned long long)(long long)rint((double)value * scale));
                else
                    ADD_FLOAT(map + at + column, value);
            }
    }
}

// Support of all events under every motion, and its logarithms summed over cells in fixed point. One block per pair.
extern "C" __global__ void support_by_motions(
    const Events* events, const Pairs* pairs, const float* map, const int* cell, const float* table, const double* scale,
    double unit, float* support, unsigned long long* sums, long long n_cells) {
    const Events& e = *events;
    const Pairs& q = *pairs;
    long long pair = blockIdx.x, w = q.window[pair];
    Moved m = moved_by(q.motions + 8 * pair, q.padding[pair], q.width[w], q.height[w]);
    const float* image = map + q.map[pair];
    float factor = (float)((double)PER_UNIT / scale[w]);
    FOR_BLOCK(k, q.events[pair]) {
        long long i = q.start[pair] + k;
        Place here = place_of(e, m, i);
        float total = 0.0f;
        if (here.cell >= 0) {
            float u[3], v[3], line[3];
            taps(here.a, u);
            taps(here.b, v);
            const float* at = image + here.cell;
            for (int column = 0; column < 3; ++column)
                line[column] = v[0] * at[column] + v[1] * at[m.columns + column] + v[2] * at[2 * m.columns + column];
            total = u[0] * line[0] + u[1] * line[1] + u[2] * line[2] - self_support(e, m, i, here);
        }
        if (!(total > LEAST_SUPPORT)) total = 0.0f;
        support[q.out[pair] + k] = total;
        float z = total * factor;
        z = z < LAST_IN_TABLE ? z : LAST_IN_TABLE;
        float logarithm = table[(unsigned int)(z + 0.5f)];
        if (logarithm > 0.0f) ADD_LONG(sums + pair * n_cells + cell[i], (unsigned long long)(long long)rint((double)logarithm * unit));
    }
}

// Sums of values over each cell and a half of its neighbors along each axis, and the products of that; thread per cell.
extern "C" __global__ void blur_cells(
    const unsigned long long* sums, const long long* window, const long long* shape, long long n, long long n_cells, double unit,
    float* out) {
    FOR_EACH(i, n * n_cells) {
        long long pair = i / n_cells, w = window[pair], at = i - pair * n_cells;
        int slices = (int)shape[3 * w], rows = (int)shape[3 * w + 1], columns = (int)shape[3 * w + 2];
        out[i] = 0.0f;
        if (at >= (long long)slices * rows * columns) continue;
        int s = (int)at / (rows * columns), r = (int)at / columns % rows, c = (int)at % columns;
        const unsigned long long* mine = sums + pair * n_cells;
        float slice[3];
        for (int k = 0; k < 3; ++k) {
            float line[3] = {0.0f, 0.0f, 0.0f};
            for (int j = 0; j < 3; ++j) {
                float value[3] = {0.0f, 0.0f, 0.0f};
                for (int l = 0; l < 3; ++l) {
                    int t = s + k - 1, y = r + j - 1, x = c + l - 1;
                    if (t < 0 || t >= slices || y < 0 || y >= rows || x < 0 || x >= columns) continue;
                    value[l] = (float)((double)(long long)mine[(t * rows + y) * columns + x] / unit);
                }
                line[j] = value[1] + 0.5f * (value[0] + value[2]);
            }
            slice[k] = line[1] + 0.5f * (line[0] + line[2]);
        }
        out[i] = slice[1] + 0.5f * (slice[0] + slice[2]);
    }
}

// Choice of the motion of every cell of a window.
struct Choice {
    const float* gain;            // (labels, cells) of this window, with a stride
    long long stride;
    int slices, rows, columns, cells, labels;
    double agreement;
    unsigned char* used;          // (labels,)
    short *top, *second;          // (cells,)
    float* lead;                  // (cells,)
    short* label;                 // (cells,)
    unsigned char* due;           // (cells,)
    unsigned long long* loss;     // (labels,) fixed point
    int* state;                   // least useful label, changed cells, labels left
};

__device__ inline float gain_of(const Choice& c, int k, int i) { return c.gain[k * c.stride + i]; }

__device__ inline void find_two(const Choice& c, int i) {
    int best = -1, next = -1;
    float first = -INFINITY, runner_up = -INFINITY;
    for (int k = 0; k < c.labels; ++k) {
        if (!c.used[k]) continue;
        float value = gain_of(c, k, i);
        if (value > first) {
            next = best;
            runner_up = first;
            best = k;
            first = value;
        } else if (value > runner_up) {
            next = k;
            runner_up = value;
        }
    }
    c.top[i] = (short)best;
    c.second[i] = (short)next;
    c.lead[i] = first - runner_up;
}

// Neighbor q of a cell, or -1 beyond the window; those before and after it in time first.
__device__ inline int neighbor(const Choice& c, int i, int q) {
    int plane = c.rows * c.columns, s = i / plane, r = i / c.columns % c.rows, column = i % c.columns;
    if (q == 0) return s > 0 ? i - plane : -1;
    if (q == 1) return s < c.slices - 1 ? i + plane : -1;
    int k = q < 6 ? q - 2 : q - 1;  // 3 x 3 without the middle
    int down = k / 3 - 1, across = k % 3 - 1;
    if (r + down < 0 || r + down >= c.rows || column + across < 0 || column + across >= c.columns) return -1;
    return i + down * c.columns + across;
}

__device__ inline bool is_diagonal(int q) { return q == 2 || q == 4 || q == 7 || q == 9; }

__device__ inline void mark_around(const Choice& c, int i) {
    c.due[i] = 1;
    for (int q = 0; q < NEIGHBORS; ++q) {
        int other = neighbor(c, i, q);
        if (other >= 0) c.due[other] = 1;
    }
}

// Visit a cell that is due; return whether its label changes.
__device__ inline bool visit(const Choice& c, int i) {
    if (!c.due[i]) return false;
    c.due[i] = 0;
    int held = c.label[i], top = c.top[i], labels[NEIGHBORS], others = 0;
    for (int q = 0; q < NEIGHBORS; ++q) {
        int other = neighbor(c, i, q);
        labels[q] = other < 0 ? -1 : c.label[other];
        others += labels[q] != held;
    }
    if (!others && top == held) return false;
    // Only the labels of neighbors, and that of the largest gain, can be the best.
    double votes = 0.0;
    for (int q = 0; q < NEIGHBORS; ++q)
        if (labels[q] == top) votes += is_diagonal(q) ? DIAGONAL : 1.0;
    int best = top;
    double most = (double)gain_of(c, top, i) + c.agreement * votes;
    for (int q = 0; q < NEIGHBORS; ++q) {
        int k = labels[q];
        if (k < 0 || k == top) continue;
        votes = 0.0;
        bool is_first = true;
        for (int l = 0; l < NEIGHBORS; ++l) {
            if (labels[l] != k) continue;
            if (l < q) is_first = false;
            votes += is_diagonal(l) ? DIAGONAL : 1.0;
        }
        if (!is_first) continue;
        double total = (double)gain_of(c, k, i) + c.agreement * votes;
        if (total > most || (total == most && k < best)) {
            best = k;
            most = total;
        }
    }
    if (best == held) return false;
    c.label[i] = (short)best;
    mark_around(c, i);
    c.due[i] = 0;
    return true;
}

// Visit the cells in the order of a loop over slices, rows and columns. Cells that do not see each other
// are visited together: those with the same sum of column, twice the row, and slice.
__device__ inline void sweep(const Choice& c, int n_sweeps) {
    int plane = c.rows * c.columns, waves = c.columns + 2 * c.rows + c.slices;
    for (int k = 0; k < n_sweeps; ++k) {
        if (threadIdx.x == 0) c.state[1] = 0;
        __syncthreads();
        for (int wave = 0; wave < waves; ++wave) {
            FOR_BLOCK(j, (long long)c.slices * c.rows) {
                int s = (int)j / c.rows, r = (int)j % c.rows, column = wave - 2 * r - s;
                if (column < 0 || column >= c.columns) continue;
                if (visit(c, s * plane + r * c.columns + column)) c.state[1] = 1;
            }
            __syncthreads();
        }
        bool changed = c.state[1];
        __syncthreads();
        if (!changed) return;
    }
}

// Find the label to remove first among those that gain less than their cost; -1 if none does.
__device__ inline int least_useful(const Choice& c, double cost, const double* handicap) {
    __syncthreads();
    if (threadIdx.x == 0) {
        int least = -1;
        double lowest = INFINITY;
        for (int k = 0; k < c.labels; ++k) {
            double loss = (double)(long long)c.loss[k] / LOSS_SCALE;
            if (c.used[k] && loss < cost && loss - handicap[k] < lowest) {
                least = k;
                lowest = loss - handicap[k];
            }
        }
        c.state[0] = least;
        if (least >= 0) {
            c.used[least] = 0;
            --c.state[2];
        }
    }
    __syncthreads();
    int removed = c.state[0];
    if (removed >= 0)
        FOR_BLOCK(i, c.cells) if (c.top[i] == removed || c.second[i] == removed) find_two(c, (int)i);
    __syncthreads();
    return removed;
}

__device__ inline void add_loss(const Choice& c, int label, float loss) {
    ADD_LONG(c.loss + label, (unsigned long long)(long long)rint((double)loss * LOSS_SCALE));
}

// Remove motions that gain less than their cost, and choose the motion of every cell; one block per window.
// Results: `used` (labels,) and `label` (cells,) of each window. `room` has 12 bytes for each cell.
extern "C" __global__ void choose_motions(
    const float* gain, const long long* first_label, const long long* labels, const long long* shape, const double* cost,
    const double* handicap, double agreement, long long first_sweeps, long long n_sweeps, long long n_cells,
    unsigned char* used, short* label, unsigned char* room) {
    SHARED_ARRAY(unsigned long long, loss, 256);
    SHARED_ARRAY(int, state, 3);
    long long w = blockIdx.x, first = first_label[w];
    Choice c;
    c.gain = gain + first * n_cells;
    c.stride = n_cells;
    c.slices = (int)shape[3 * w];
    c.rows = (int)shape[3 * w + 1];
    c.columns = (int)shape[3 * w + 2];
    c.cells = c.slices * c.rows * c.columns;
    c.labels = (int)labels[w];
    c.agreement = agreement;
    c.used = used + first;
    unsigned char* mine = room + w * n_cells * 12;
    c.lead = (float*)mine;
    c.top = (short*)(mine + 4 * n_cells);
    c.second = (short*)(mine + 6 * n_cells);
    c.due = mine + 8 * n_cells;
    c.label = label + w * n_cells;
    c.loss = loss;
    c.state = state;
    FOR_BLOCK(k, c.labels) c.used[k] = 1;
    if (threadIdx.x == 0) state[2] = c.labels;
    __syncthreads();
    FOR_BLOCK(i, c.cells) find_two(c, (int)i);
    __syncthreads();
    while (state[2] > 1) {
        FOR_BLOCK(k, c.labels) loss[k] = 0;
        __syncthreads();
        FOR_BLOCK(i, c.cells) add_loss(c, c.top[i], c.lead[i]);
        if (least_useful(c, cost[w], handicap + first) < 0) break;
    }
    __syncthreads();
    FOR_BLOCK(i, c.cells) {
        c.label[i] = c.top[i];
        c.due[i] = 1;
    }
    __syncthreads();
    while (true) {
        sweep(c, (int)first_sweeps);
        if (state[2] == 1) break;
        FOR_BLOCK(k, c.labels) loss[k] = 0;
        __syncthreads();
        // Without the agreement of neighbors, chance alone would give every motion some cells.
        FOR_BLOCK(i, c.cells) {
            int k = c.label[i];
            add_loss(c, k, c.top[i] == k ? c.lead[i] : gain_of(c, k, (int)i) - gain_of(c, c.top[i], (int)i));
        }
        int removed = least_useful(c, cost[w], handicap + first);
        if (removed < 0) break;
        FOR_BLOCK(i, c.cells) if (c.label[i] == removed) {
            c.label[i] = c.top[i];
            mark_around(c, (int)i);
        }
        __syncthreads();
    }
    __syncthreads();
    sweep(c, (int)n_sweeps);
}
