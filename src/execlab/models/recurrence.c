/* One LSTM layer through time and back: what recurrence.py does, for one processor's own vectors.

Rows drop out as their samples end: character t is read by the first rows[t] rows, never more than the one before, and
the blocks of all characters lie one after the other. Rows do not see each other, so a thread takes some rows through
all of time and never waits for another.
The product with the weights is done a few rows and a panel of columns at a time, so that sums stay in registers; in
the forward direction a panel holds the four gates of the same cells, and the cell is finished before anything is
stored. Every sum is in one fixed order: the same machine gives the same bits, however many threads share the rows.
*/

#include <stdint.h>

/* W: floats per vector; ROWS: rows whose sums (4 vectors each) fit into the registers. */
#if defined(__AVX512F__)
#define W 16
#define ROWS 6
#elif defined(__AVX__)
#define W 8
#define ROWS 2
#elif defined(__ARM_NEON)
#define W 4
#define ROWS 6
#else
#define W 4
#define ROWS 2
#endif

typedef float vec __attribute__((vector_size(4 * W)));
typedef float loose __attribute__((vector_size(4 * W), aligned(4)));
typedef int32_t ivec __attribute__((vector_size(4 * W)));

typedef uint32_t uvec __attribute__((vector_size(4 * W)));
typedef uint16_t half __attribute__((vector_size(2 * W), aligned(2)));

#define INLINE static inline __attribute__((always_inline))

INLINE vec load(const float *p) { return *(const loose *)p; }
INLINE void store(float *p, vec v) { *(loose *)p = v; }

/* bfloat16 is the upper half of a float; to the nearest, ties to even. */
INLINE vec load_half(const uint16_t *p) { return (vec)(__builtin_convertvector(*(const half *)p, uvec) << 16); }
INLINE void store_half(uint16_t *p, vec v) {
    uvec bits = (uvec)v;
    *(half *)p = __builtin_convertvector((bits + 0x7fff + ((bits >> 16) & 1)) >> 16, half);
}

INLINE vec all(float x) { return x - (vec){0}; }
INLINE vec choose(ivec mask, vec yes, vec no) { return (vec)((mask & (ivec)yes) | (~mask & (ivec)no)); }

/* Beyond this a sigmoid is 0 or 1 to within 1e-8, and products of four such exponentials are still finite. */
#define FAR 19.0f

/* 1 + exp(-x) for x within FAR: two to the whole part by its bits, to the rest by a polynomial. */
INLINE vec one_plus_exp(vec x) {
    x = choose(x > FAR, all(FAR), choose(x < -FAR, all(-FAR), x));
    vec y = x * -1.44269504088896341f;
    const float magic = 12582912.0f; /* 1.5 * 2^23: adding it rounds to a whole number */
    vec whole = (y + magic) - magic;
    vec r = y - whole;
    vec p = all(1.535336188319500e-4f);
    p = p * r + 1.339887440266574e-3f;
    p = p * r + 9.618437357674640e-3f;
    p = p * r + 5.550332471162809e-2f;
    p = p * r + 2.402264791363012e-1f;
    p = p * r + 6.931472028550421e-1f;
    p = p * r + 1.0f;
    ivec bits = __builtin_convertvector(whole, ivec) << 23;
    return (vec)((ivec)p + bits) + 1.0f;
}

/* Loaded once: gcc would rather load it anew for every row, and then loads are the bottleneck. */
#if defined(__AVX__) && !defined(__AVX512F__)
#define KEEP(b) __asm__("" : "+x"(b))
#else
#define KEEP(b)
#endif

/* sums[r][v] += a[r][0..k) times a panel of nv vectors of columns. */
INLINE void multiply(int mr, int nv, int64_t k, const float *a, int64_t stride, const float *panel, vec sums[ROWS][4]) {
    for (int64_t j = 0; j < k; j++) {
        vec b[4];
#pragma GCC unroll 4
        for (int v = 0; v < nv; v++) {
            b[v] = load(panel + (j * nv + v) * W);
            KEEP(b[v]);
        }
#pragma GCC unroll 6
        for (int r = 0; r < mr; r++) {
            float x = a[r * stride + j];
#pragma GCC unroll 4
            for (int v = 0; v < nv; v++) sums[r][v] += x * b[v];
        }
    }
}

/* The cells of one vector in one row: from the sums of their gates to c and h. */
INLINE vec finish(int64_t n, const vec sums[4], float *gates, const float *c_before, float *c, float *squashed) {
    /* One division for four gates. */
    vec ei = one_plus_exp(sums[0]), ef = one_plus_exp(sums[1]);
    vec eg = one_plus_exp(2.0f * sums[2]), eo = one_plus_exp(sums[3]);
    vec eif = ei * ef, ego = eg * eo;
    vec inverse = 1.0f / (eif * ego);
    vec inverse_if = inverse * ego, inverse_go = inverse * eif;
    vec i = inverse_if * ef, f = inverse_if * ei, o = inverse_go * eg;
    vec g = 2.0f * (inverse_go * eo) - 1.0f;
    vec cell = f * load(c_before) + i * g;
    vec s = 2.0f / one_plus_exp(2.0f * cell) - 1.0f;
    store(gates, i);
    store(gates + n, f);
    store(gates + 2 * n, g);
    store(gates + 3 * n, o);
    store(c, cell);
    store(squashed, s);
    return o * s;
}

/* The same for mr rows, the product with the weights before it. */
INLINE void cells(int mr, int64_t n, int64_t k, const float *before, const float *panel, const float *projected,
                  float *gates, const float *c_before, float *c, float *h, float *squashed) {
    vec sums[ROWS][4];
#pragma GCC unroll 6
    for (int r = 0; r < mr; r++)
#pragma GCC unroll 4
        for (int v = 0; v < 4; v++) sums[r][v] = load(projected + r * 4 * n + v * n);
    multiply(mr, 4, k, before, n, panel, sums);
#pragma GCC unroll 6
    for (int r = 0; r < mr; r++)
        store(h + r * n, finish(n, sums[r], gates + r * 4 * n, c_before + r * n, c + r * n, squashed + r * n));
}

#define AT_MOST(rows) ((rows) < ROWS ? (rows) : ROWS)
#define EACH_COUNT(mr, call) \
    switch (mr) { \
    case 1: { enum { M = 1 }; call; break; } \
    case 2: { enum { M = AT_MOST(2) }; call; break; } \
    case 3: { enum { M = AT_MOST(3) }; call; break; } \
    case 4: { enum { M = AT_MOST(4) }; call; break; } \
    case 5: { enum { M = AT_MOST(5) }; call; break; } \
    default: { enum { M = ROWS }; call; break; } \
    }

/* Floats per vector: the number of cells must be a multiple of it, and panels are packed by it. */
int64_t execlab_width(void) { return W; }

/* The first row of a share, so that all shares have about as many characters. */
static int64_t first_of(int64_t share, int64_t threads, int64_t steps, const int64_t *rows) {
    int64_t total = 0, before = 0, row = 0;
    for (int64_t t = 0; t < steps; t++) total += rows[t];
    for (int64_t length = steps; row < rows[0] && before * threads < total * share; row++) {
        while (rows[length - 1] <= row) length--;
        before += length;
    }
    return row;
}

static void forward(int64_t steps, int64_t n, const int64_t *rows, int64_t first, int64_t last, const float *projected,
                    const float *packed, float *gates, float *h, float *c, float *squashed) {
    int64_t before = 0, now = 0; /* where the blocks begin: of h and c before character t, of all else at t */
    for (int64_t t = 0; t < steps; t++) {
        int64_t next = rows[0] + now, end = rows[t] < last ? rows[t] : last;
        for (int64_t j = 0; j < n; j += W)
            for (int64_t row = first; row < end; row += ROWS) {
                int64_t left = end - row, old = (before + row) * n, at = now + row, new = (next + row) * n;
                EACH_COUNT(left < ROWS ? left : ROWS,
                           cells(M, n, n, h + old, packed + j * 4 * n, projected + at * 4 * n + j,
                                 gates + at * 4 * n + j, c + old + j, c + new + j, h + new + j, squashed + at * n + j))
            }
        before = next;
        now += rows[t];
    }
}

INLINE void columns(int mr, int nv, int64_t n, const float *change, const float *panel, float *dh) {
    vec sums[ROWS][4] = {{{0}}};
    multiply(mr, nv, 4 * n, change, 4 * n, panel, sums);
#pragma GCC unroll 6
    for (int r = 0; r < mr; r++)
#pragma GCC unroll 4
        for (int v = 0; v < nv; v++) store(dh + r * n + v * W, sums[r][v]);
}

/* What the gates' inputs of one vector in one row are blamed for; dc moves on to the step before. */
INLINE void blame(int64_t n, vec of_h, const float *gates, const float *c_before, const float *squashed, float *dc,
                  vec change[4]) {
    vec i = load(gates), f = load(gates + n), g = load(gates + 2 * n), o = load(gates + 3 * n), s = load(squashed);
    vec of_c = load(dc) + of_h * (o * (1.0f - s * s));
    change[0] = of_c * (g * (i * (1.0f - i)));
    change[1] = of_c * (load(c_before) * (f * (1.0f - f)));
    change[2] = of_c * (i * (1.0f - g * g));
    change[3] = of_h * (s * (o * (1.0f - o)));
    store(dc, of_c * f);
}

static void backward(int64_t steps, int64_t n, const int64_t *rows, int64_t first, int64_t last, const float *above,
                     const float *packed, const float *gates, const float *c, const float *squashed, float *change,
                     float *dh, float *dc) {
    int64_t now = 0;
    for (int64_t t = 0; t < steps; t++) now += rows[t];
    for (int64_t t = steps - 1; t >= 0; t--) {
        now -= rows[t];
        int64_t before = t ? rows[0] + now - rows[t - 1] : 0, end = rows[t] < last ? rows[t] : last;
        for (int64_t row = first; row < end; row++) {
            int64_t at = now + row;
            for (int64_t j = 0; j < n; j += W) {
                vec of_h = load(dh + row * n + j) + load(above + at * n + j), out[4];
                blame(n, of_h, gates + at * 4 * n + j, c + (before + row) * n + j, squashed + at * n + j,
                      dc + row * n + j, out);
                for (int v = 0; v < 4; v++) store(change + at * 4 * n + v * n + j, out[v]);
            }
        }
        for (int64_t j = 0; j < n; j += 4 * W) {
            int64_t vectors = (n - j) / W;
            const float *panel = packed + j * 4 * n;
            for (int64_t row = first; row < end; row += ROWS) {
                int64_t left = end - row, mr = left < ROWS ? left : ROWS;
                const float *of = change + (now + row) * 4 * n;
                float *out = dh + row * n + j;
                switch (vectors) {
                case 1: EACH_COUNT(mr, columns(M, 1, n, of, panel, out)) break;
                case 2: EACH_COUNT(mr, columns(M, 2, n, of, panel, out)) break;
                case 3: EACH_COUNT(mr, columns(M, 3, n, of, panel, out)) break;
                default: EACH_COUNT(mr, columns(M, 4, n, of, panel, out))
                }
            }
        }
    }
}

/* A batch of B = rows[0] rows and N characters forward through time. rows (T); projected, gates (N, 4n); packed
(n/W, n, 4, W); h, c (B+N, n), the first B of them given; squashed (N, n). */
void execlab_forward(int64_t threads, int64_t steps, int64_t n, const int64_t *rows, const float *projected,
                     const float *packed, float *gates, float *h, float *c, float *squashed) {
#pragma omp parallel for num_threads(threads) schedule(static, 1)
    for (int64_t share = 0; share < threads; share++)
        forward(steps, n, rows, first_of(share, threads, steps, rows), first_of(share + 1, threads, steps, rows),
                projected, packed, gates, h, c, squashed);
}

/* The same backward. above (N, n): what each h is blamed for; change (N, 4n): what each gate's input is blamed for;
dh, dc (B, n): of a row's last state on entry, of its first on return; packed: panels of up to 4 W columns of the weights
(4n, n), each (4n, columns). */
void execlab_backward(int64_t threads, int64_t steps, int64_t n, const int64_t *rows, const float *above,
                      const float *packed, const float *gates, const float *c, const float *squashed, float *change,
                      float *dh, float *dc) {
#pragma omp parallel for num_threads(threads) schedule(static, 1)
    for (int64_t share = 0; share < threads; share++)
        backward(steps, n, rows, first_of(share, threads, steps, rows), first_of(share + 1, threads, steps, rows),
                 above, packed, gates, c, squashed, change, dh, dc);
}

/* One character where the products are PyTorch's, in bfloat16: product (B, 4n) of h and the weights; h and half_h are
the same in both precisions. */
void execlab_half_forward(int64_t threads, int64_t batch, int64_t n, const float *projected, const uint16_t *product,
                          float *gates, const float *c_before, float *c, float *h, uint16_t *half_h,
                          float *squashed) {
#pragma omp parallel for num_threads(threads)
    for (int64_t row = 0; row < batch; row++)
        for (int64_t j = 0; j < n; j += W) {
            vec sums[4];
            int64_t cell = row * n + j, gate = row * 4 * n + j;
            for (int v = 0; v < 4; v++) sums[v] = load(projected + gate + v * n) + load_half(product + gate + v * n);
            vec out = finish(n, sums, gates + gate, c_before + cell, c + cell, squashed + cell);
            store(h + cell, out);
            store_half(half_h + cell, out);
        }
}

/* The same backward: dh (B, n) is the product of the later character's change and the weights. */
void execlab_half_backward(int64_t threads, int64_t batch, int64_t n, const float *above, const uint16_t *dh,
                           const float *gates, const float *c_before, const float *squashed, float *dc, float *change,
                           uint16_t *half_change) {
#pragma omp parallel for num_threads(threads)
    for (int64_t row = 0; row < batch; row++)
        for (int64_t j = 0; j < n; j += W) {
            vec out[4];
            int64_t cell = row * n + j, gate = row * 4 * n + j;
            blame(n, load(above + cell) + load_half(dh + cell), gates + gate, c_before + cell, squashed + cell,
                  dc + cell, out);
            for (int v = 0; v < 4; v++) {
                store(change + gate + v * n, out[v]);
                store_half(half_change + gate + v * n, out[v]);
            }
        }
}

/* Whether rows are really shared between threads. */
int64_t execlab_threaded(void) {
#ifdef _OPENMP
    return 1;
#else
    return 0;
#endif
}
