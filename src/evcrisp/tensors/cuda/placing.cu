// Positions of points at motions on the maps of their windows, one thread per point; twin of placement.py.
//
// MODEL is the structure of the motion model in motions.cuh.

// Place of points off the map: far away from all others, and a number.
constexpr double FAR_AWAY = -1e6;

extern "C" __global__ void place_points(
    const double* x, const double* y, const double* dt, const long long* row, const long long* p, long long n,
    const double* theta, const double* constants, long long n_constants, const long long* padding,
    const long long* width, const long long* height, const long long* starts, float* out_x, float* out_y, float* out_a,
    float* out_b, long long* cell, long long* widths, unsigned char* inside) {
    FOR_EACH(i, n) {
        long long w = row[i];
        double u, v;
        MODEL::warp(theta + w * MODEL::n, constants + w * n_constants, x[i], y[i], dt[i], &u, &v);
        // Positions are kept in single precision, as the compiled kernels keep them.
        u = (double)(float)u + (double)padding[w];
        v = (double)(float)v + (double)padding[w];
        bool is_inside = u >= 0.5 && u < (double)width[w] - 1.5 && v >= 0.5 && v < (double)height[w] - 1.5;
        out_x[i] = (float)(is_inside ? u : FAR_AWAY);
        out_y[i] = (float)(is_inside ? v : FAR_AWAY);
        if (!is_inside) u = v = 1.0;
        long long column = (long long)(u + 0.5), line = (long long)(v + 0.5);
        out_a[i] = (float)(u - (double)column);
        out_b[i] = (float)(v - (double)line);
        cell[i] = starts[w] + p[i] * width[w] * height[w] + (line - 1) * width[w] + (column - 1);
        widths[i] = width[w];
        inside[i] = is_inside;
    }
}

// Velocities per unit of each of m parameters, by differences; k points of every window.
extern "C" __global__ void velocities(
    const double* x, const double* y, long long n, long long k, const double* constants, long long n_constants,
    long long n_fixed, long long m, double step, double* along_x, double* along_y) {
    FOR_EACH(i, n) {
        double theta[MODEL::n], ahead[2], behind[2];
        for (int j = 0; j < MODEL::n; ++j) theta[j] = 0.0;
        for (long long j = 0; j < m; ++j) {
            theta[n_fixed + j] = -step;
            MODEL::warp(theta, constants + i / k * n_constants, x[i], y[i], 1.0, ahead, ahead + 1);
            theta[n_fixed + j] = step;
            MODEL::warp(theta, constants + i / k * n_constants, x[i], y[i], 1.0, behind, behind + 1);
            theta[n_fixed + j] = 0.0;
            along_x[i * m + j] = (ahead[0] - behind[0]) / (2.0 * step);
            along_y[i * m + j] = (ahead[1] - behind[1]) / (2.0 * step);
        }
    }
}
