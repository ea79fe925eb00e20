// Warps of points and their adjoints, one structure per motion model; twins of tensors/motion/.
//
// `Moved` are the numbers of a motion in a window. PARAMETERS is the number of parameters of the kernel, MODEL its structure.

struct Translation {
    static constexpr int n = 2;
    __device__ static void warp(const double* theta, const double* c, double x, double y, double dt, double* u, double* v) {
        *u = x - theta[0] * dt;
        *v = y - theta[1] * dt;
    }
    __device__ static void pull_back(const double* theta, const double* c, double x, double y, double dt, double gx, double gy, double* sums) {
        sums[0] -= gx * dt;
        sums[1] -= gy * dt;
    }
};

struct Similarity {
    static constexpr int n = 4;
    __device__ static void moved(const double* theta, const double* c, double x, double y, double dt, double* p, double* q) {
        double shrink = exp(-theta[3] * dt), sine, cosine;
        sincos(theta[2] * dt, &sine, &cosine);
        cosine *= shrink;
        sine *= shrink;
        double dx = x - c[0], dy = y - c[1];
        *p = cosine * dx + sine * dy;
        *q = cosine * dy - sine * dx;
    }
    __device__ static void warp(const double* theta, const double* c, double x, double y, double dt, double* u, double* v) {
        double p, q;
        moved(theta, c, x, y, dt, &p, &q);
        *u = c[0] + p - theta[0] * dt;
        *v = c[1] + q - theta[1] * dt;
    }
    __device__ static void pull_back(const double* theta, const double* c, double x, double y, double dt, double gx, double gy, double* sums) {
        double p, q;
        moved(theta, c, x, y, dt, &p, &q);
        gx *= dt;
        gy *= dt;
        sums[0] -= gx;
        sums[1] -= gy;
        sums[2] += q * gx - p * gy;
        sums[3] -= p * gx + q * gy;
    }
};

struct Affine {
    static constexpr int n = 6;
    __device__ static void warp(const double* theta, const double* c, double x, double y, double dt, double* u, double* v) {
        double dx = x - c[0], dy = y - c[1];
        *u = x - dt * (theta[0] + theta[2] * dx + theta[3] * dy);
        *v = y - dt * (theta[1] + theta[4] * dx + theta[5] * dy);
    }
    __device__ static void pull_back(const double* theta, const double* c, double x, double y, double dt, double gx, double gy, double* sums) {
        double dx = x - c[0], dy = y - c[1];
        gx *= -dt;
        gy *= -dt;
        sums[0] += gx;
        sums[1] += gy;
        sums[2] += gx * dx;
        sums[3] += gx * dy;
        sums[4] += gy * dx;
        sums[5] += gy * dy;
    }
};

struct Homography {
    static constexpr int n = 8;
    __device__ static void projected(const double* g, double a, double b, double dt, double* to_a, double* to_b, double* inverse) {
        *inverse = 1.0 / (1.0 - dt * (g[6] * a + g[7] * b));
        *to_a = (a - dt * (g[0] * a + g[1] * b + g[2])) * *inverse;
        *to_b = (b - dt * (g[3] * a + g[4] * b + g[5])) * *inverse;
    }
    __device__ static void warp(const double* g, const double* c, double x, double y, double dt, double* u, double* v) {
        double a, b, inverse;
        projected(g, (x - c[0]) / c[2], (y - c[1]) / c[2], dt, &a, &b, &inverse);
        double front = inverse > 0.0 ? 1.0 : NAN;
        *u = (c[0] + c[2] * a) * front;
        *v = (c[1] + c[2] * b) * front;
    }
    __device__ static void pull_back(const double* g, const double* c, double x, double y, double dt, double gx, double gy, double* sums) {
        double a = (x - c[0]) / c[2], b = (y - c[1]) / c[2], to_a, to_b, inverse;
        projected(g, a, b, dt, &to_a, &to_b, &inverse);
        double r = -dt * c[2] * inverse;
        gx *= r;
        gy *= r;
        double both = gx * to_a + gy * to_b;
        sums[0] += gx * a;
        sums[1] += gx * b;
        sums[2] += gx;
        sums[3] += gy * a;
        sums[4] += gy * b;
        sums[5] += gy;
        sums[6] -= both * a;
        sums[7] -= both * b;
    }
};

struct Rotation {
    static constexpr int n = 3;
    // Factors of [w]_x and [w]_x^2 in exp([w]_x dt), and of [w]_x^2 in dt times the left Jacobian.
    __device__ static void factors(const double* w, double dt, double* out) {
        double s = (w[0] * w[0] + w[1] * w[1] + w[2] * w[2]) * dt * dt, first, second, third;
        if (s > 1.0) {
            double angle = sqrt(s), sine = sin(angle);
            first = sine / angle;
            second = (1.0 - cos(angle)) / (angle * angle);
            third = (angle - sine) / (angle * angle * angle);
        } else {
            first = 1.0 / 6227020800.0 - s * (1.0 / 1307674368000.0 - s / 355687428096000.0);
            first = 1.0 / 5040.0 - s * (1.0 / 362880.0 - s * (1.0 / 39916800.0 - s * first));
            first = 1.0 - s * (1.0 / 6.0 - s * (1.0 / 120.0 - s * first));
            second = 1.0 / 87178291200.0 - s * (1.0 / 20922789888000.0 - s / 6402373705728000.0);
            second = 1.0 / 40320.0 - s * (1.0 / 3628800.0 - s * (1.0 / 479001600.0 - s * second));
            second = 0.5 - s * (1.0 / 24.0 - s * (1.0 / 720.0 - s * second));
            third = 1.0 / 1307674368000.0 - s * (1.0 / 355687428096000.0 - s / 121645100408832000.0);
            third = 1.0 / 362880.0 - s * (1.0 / 39916800.0 - s * (1.0 / 6227020800.0 - s * third));
            third = 1.0 / 6.0 - s * (1.0 / 120.0 - s * (1.0 / 5040.0 - s * third));
        }
        out[0] = dt * first;
        out[1] = dt * dt * second;
        out[2] = dt * dt * dt * third;
    }
    __device__ static void turned(const double* w, double x, double y, const double* f, double* q) {
        double ux = w[1] - w[2] * y, uy = w[2] * x - w[0], uz = w[0] * y - w[1] * x;
        q[0] = x + f[0] * ux + f[1] * (w[1] * uz - w[2] * uy);
        q[1] = y + f[0] * uy + f[1] * (w[2] * ux - w[0] * uz);
        q[2] = 1.0 + f[0] * uz + f[1] * (w[0] * uy - w[1] * ux);
    }
    __device__ static void warp(const double* w, const double* c, double x, double y, double dt, double* u, double* v) {
        double f[3], q[3];
        factors(w, dt, f);
        turned(w, x, y, f, q);
        double depth = q[2] > 0.0 ? q[2] : NAN;
        *u = c[2] + c[0] * q[0] / depth;
        *v = c[3] + c[1] * q[1] / depth;
    }
    __device__ static void pull_back(const double* w, const double* c, double x, double y, double dt, double gx, double gy, double* sums) {
        double f[3], q[3];
        factors(w, dt, f);
        turned(w, x, y, f, q);
        gx = c[0] * gx / q[2];
        gy = c[1] * gy / q[2];
        double gz = -(gx * q[0] + gy * q[1]) / q[2];
        double cx = q[1] * gz - q[2] * gy, cy = q[2] * gx - q[0] * gz, cz = q[0] * gy - q[1] * gx;
        double vx = w[1] * cz - w[2] * cy, vy = w[2] * cx - w[0] * cz, vz = w[0] * cy - w[1] * cx;
        sums[0] += dt * cx - f[1] * vx + f[2] * (w[1] * vz - w[2] * vy);
        sums[1] += dt * cy - f[1] * vy + f[2] * (w[2] * vx - w[0] * vz);
        sums[2] += dt * cz - f[1] * vz + f[2] * (w[0] * vy - w[1] * vx);
    }
};
