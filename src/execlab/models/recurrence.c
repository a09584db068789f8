/* One LSTM layer through time and back: what recurrence.py does, for one processor's own vectors.

Rows drop out as their samples end: character t is read by the first rows[t] rows, never more than the one before, and
the blocks of all characters lie one after the other. Rows do not see each other, so a thread takes some rows through
all of time and never waits for another.
The product with the weights is done a few rows and a panel of columns at a time, so that sums stay in registers; in
the forward direction a panel holds the four gates of the same cells, and the cell is finished before anything is
stored. Every sum is in one fixed order: the same machine gives the same bits, however many threads share the rows.

Where `half` is said, what is multiplied is in bfloat16 (h, weights, the change of the gates' inputs), two numbers to a
float's place along the sum; sums, gates and c are floats as ever.
*/

#include <stdint.h>
#ifdef __AVX512BF16__
#include <immintrin.h>
#endif

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
typedef uint16_t halves __attribute__((vector_size(2 * W), aligned(2)));

#define INLINE static inline __attribute__((always_inline))

INLINE vec load(const float *p) { return *(const loose *)p; }
INLINE void store(float *p, vec v) { *(loose *)p = v; }

/* bfloat16 is the upper half of a float; to the nearest, ties to even. */
INLINE vec load_half(const uint16_t *p) { return (vec)(__builtin_convertvector(*(const halves *)p, uvec) << 16); }
INLINE void store_half(uint16_t *p, vec v) {
    uvec bits = (uvec)v, rounded = (bits + 0x7fff + ((bits >> 16) & 1)) >> 16, nan = (uvec)(v != v);
    *(halves *)p = __builtin_convertvector((nan & 0x7fc0) | (~nan & rounded), halves);
}

INLINE vec all(float x) { return x - (vec){0}; }

/* sum + the products of both halves of x with those of every place of y. */
INLINE vec dot(vec sum, uint32_t x, uvec y) {
#ifdef __AVX512BF16__
    return (vec)_mm512_dpbf16_ps((__m512)sum, (__m512bh)(x - (uvec){0}), (__m512bh)y);
#else
    vec low = (vec)((x << 16) - (uvec){0}), high = (vec)((x & 0xffff0000) - (uvec){0});
    return sum + low * (vec)(y << 16) + high * (vec)(y & 0xffff0000);
#endif
}
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

/* A value as it is now: nothing is moved or fused across this. */
#if defined(__AVX512F__)
#define SETTLE(value) __asm__("" : "+v"(value))
#elif defined(__SSE2__)
#define SETTLE(value) __asm__("" : "+x"(value))
#elif defined(__aarch64__)
#define SETTLE(value) __asm__("" : "+w"(value))
#else
#define SETTLE(value)
#endif

/* Loaded once: gcc would rather load it anew for every row, and then loads are the bottleneck. */
#ifdef __AVX__
#define KEEP(b) SETTLE(b)
#else
#define KEEP(b)
#endif

/* sums[r][v] += a[r][0..k) times a panel of nv vectors of columns. Number j of row r stands at j * step + r * stride;
k, step and stride count pairs of numbers where they are half as long. */
INLINE void multiply(int half, int mr, int nv, int64_t k, const void *a, int64_t step, int64_t stride,
                     const void *panel, vec sums[ROWS][4]) {
    for (int64_t j = 0; j < k; j++) {
        vec b[4];
#pragma GCC unroll 4
        for (int v = 0; v < nv; v++) {
            b[v] = load((const float *)panel + (j * nv + v) * W);
            KEEP(b[v]);
        }
#pragma GCC unroll 6
        for (int r = 0; r < mr; r++) {
            float x = ((const float *)a)[j * step + r * stride];
            uint32_t pair = ((const uint32_t *)a)[j * step + r * stride];
#pragma GCC unroll 4
            for (int v = 0; v < nv; v++) sums[r][v] = half ? dot(sums[r][v], pair, (uvec)b[v]) : sums[r][v] + x * b[v];
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
    vec new = i * g;
    SETTLE(new); /* of two products one is rounded: always this one, however many rows a compiler sees */
    vec cell = f * load(c_before) + new;
    vec s = 2.0f / one_plus_exp(2.0f * cell) - 1.0f;
    store(gates, i);
    store(gates + n, f);
    store(gates + 2 * n, g);
    store(gates + 3 * n, o);
    store(c, cell);
    store(squashed, s);
    return o * s;
}

/* What comes from the layer below: rows of floats; or, where half is said, rows of a table of floats by a character's
number, or halves and a bias. */
typedef struct {
    const int64_t *ids;
    const void *rows;
    const float *bias;
} Below;

INLINE vec from_below(int half, const Below *below, int64_t n, int64_t at, int64_t place) {
    if (!half) return load((const float *)below->rows + at * 4 * n + place);
    if (below->ids) return load((const float *)below->rows + below->ids[at] * 4 * n + place);
    return load_half((const uint16_t *)below->rows + at * 4 * n + place) + load(below->bias + place);
}

/* Where number `at` of an array of floats, or of halves, stands. */
INLINE void *place_of(int half, const void *numbers, int64_t at) { return (char *)numbers + at * (half ? 2 : 4); }

/* A vector of cells in mr rows from number `at` on: the product with the weights, then `finish`. */
INLINE void cells(int half, int mr, int64_t n, int64_t j, int64_t at, const Below *below, const void *before,
                  const void *panel, float *gates, const float *c_before, float *c, void *h, float *squashed) {
    vec sums[ROWS][4];
#pragma GCC unroll 6
    for (int r = 0; r < mr; r++)
#pragma GCC unroll 4
        for (int v = 0; v < 4; v++) sums[r][v] = from_below(half, below, n, at + r, v * n + j);
    int64_t k = half ? n / 2 : n;
    multiply(half, mr, 4, k, before, 1, k, panel, sums);
#pragma GCC unroll 6
    for (int r = 0; r < mr; r++) {
        vec out = finish(n, sums[r], gates + r * 4 * n, c_before + r * n, c + r * n, squashed + r * n);
        if (half) store_half((uint16_t *)h + r * n, out);
        else store((float *)h + r * n, out);
    }
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

/* The same for a tile of mr rows and at most four vectors of columns. */
#define EACH_TILE(mr, vectors, call) \
    switch (vectors) { \
    case 1: { enum { NV = 1 }; EACH_COUNT(mr, call) break; } \
    case 2: { enum { NV = 2 }; EACH_COUNT(mr, call) break; } \
    case 3: { enum { NV = 3 }; EACH_COUNT(mr, call) break; } \
    default: { enum { NV = 4 }; EACH_COUNT(mr, call) } \
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

/* How many of the rows that are left are done at once: blocks as equal as can be. */
INLINE int64_t block(int64_t left) {
    int64_t blocks = (left + ROWS - 1) / ROWS;
    return (left + blocks - 1) / blocks;
}

INLINE void forward(int half, int64_t steps, int64_t n, const int64_t *rows, int64_t first, int64_t last,
                    const Below *below, const void *packed, float *gates, void *h, float *c, float *squashed) {
    int64_t before = 0, now = 0; /* where the blocks begin: of h and c before character t, of all else at t */
    for (int64_t t = 0; t < steps; t++) {
        int64_t next = rows[0] + now, end = rows[t] < last ? rows[t] : last;
        for (int64_t j = 0; j < n; j += W)
            for (int64_t row = first, mr; row < end; row += mr) {
                int64_t old = (before + row) * n, at = now + row, new = (next + row) * n + j;
                mr = block(end - row);
                EACH_COUNT(mr, cells(half, M, n, j, at, below, place_of(half, h, old), place_of(half, packed, j * 4 * n),
                                     gates + at * 4 * n + j, c + old + j, c + new, place_of(half, h, new),
                                     squashed + at * n + j))
            }
        before = next;
        now += rows[t];
    }
}

INLINE void columns(int half, int mr, int nv, int64_t n, const void *change, const void *panel, float *dh) {
    vec sums[ROWS][4] = {{{0}}};
    int64_t k = half ? 2 * n : 4 * n;
    multiply(half, mr, nv, k, change, 1, k, panel, sums);
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

INLINE void backward(int half, int64_t steps, int64_t n, const int64_t *rows, int64_t first, int64_t last,
                     const void *above, const void *packed, const float *gates, const float *c, const float *squashed,
                     void *change, float *dh, float *dc) {
    int64_t now = 0;
    for (int64_t t = 0; t < steps; t++) now += rows[t];
    for (int64_t t = steps - 1; t >= 0; t--) {
        now -= rows[t];
        int64_t before = t ? rows[0] + now - rows[t - 1] : 0, end = rows[t] < last ? rows[t] : last;
        for (int64_t row = first; row < end; row++) {
            int64_t at = now + row;
            for (int64_t j = 0; j < n; j += W) {
                const void *of = place_of(half, above, at * n + j);
                vec of_h = load(dh + row * n + j) + (half ? load_half(of) : load(of)), out[4];
                blame(n, of_h, gates + at * 4 * n + j, c + (before + row) * n + j, squashed + at * n + j,
                      dc + row * n + j, out);
                for (int v = 0; v < 4; v++) {
                    void *into = place_of(half, change, at * 4 * n + v * n + j);
                    if (half) store_half(into, out[v]);
                    else store(into, out[v]);
                }
            }
        }
        for (int64_t j = 0; j < n; j += 4 * W) {
            const void *panel = place_of(half, packed, j * 4 * n);
            for (int64_t row = first, mr; row < end; row += mr) {
                const void *of = place_of(half, change, (now + row) * 4 * n);
                float *out = dh + row * n + j;
                mr = block(end - row);
                EACH_TILE(mr, (n - j) / W, columns(half, M, NV, n, of, panel, out))
            }
        }
    }
}

/* Two rows of numbers as pairs; nothing in place of a second row that is not there. */
INLINE void interleave(int64_t count, const uint16_t *one, const uint16_t *other, uint32_t *pairs) {
    if (other)
        for (int64_t i = 0; i < count; i++) pairs[i] = one[i] | (uint32_t)other[i] << 16;
    else
        for (int64_t i = 0; i < count; i++) pairs[i] = one[i];
}

#define PAIRS 384          /* pairs of rows at a time, so that those of b stay in the cache */
#define GROUP (8 * ROWS)   /* columns of a that are made pairs together */

INLINE void outer_tile(int mr, int nv, int64_t n, int64_t k, const uint32_t *a, const uint32_t *panel, float *out,
                       int fresh) {
    vec sums[ROWS][4];
#pragma GCC unroll 6
    for (int r = 0; r < mr; r++)
#pragma GCC unroll 4
        for (int v = 0; v < nv; v++) sums[r][v] = fresh ? all(0) : load(out + r * n + v * W);
    multiply(1, mr, nv, k, a, GROUP, 1, panel, sums);
#pragma GCC unroll 6
    for (int r = 0; r < mr; r++)
#pragma GCC unroll 4
        for (int v = 0; v < nv; v++) store(out + r * n + v * W, sums[r][v]);
}

/* Columns first to last of a (N, m), each summed over all N with those of b (N, n). */
static void outer(int64_t count, int64_t m, int64_t n, int64_t first, int64_t last, const uint16_t *a,
                  const uint16_t *b, float *out, uint32_t *room) {
    uint32_t *left = room, *right = room + PAIRS * GROUP;
    for (int64_t begin = 0; begin < count; begin += 2 * PAIRS) {
        int64_t rows = count - begin < 2 * PAIRS ? count - begin : 2 * PAIRS, k = (rows + 1) / 2;
        for (int64_t j = 0; j < n; j += 4 * W) { /* a panel after the other: (k, columns) */
            int64_t columns = n - j < 4 * W ? n - j : 4 * W;
            for (int64_t p = 0; p < k; p++) {
                const uint16_t *row = b + (begin + 2 * p) * n + j;
                interleave(columns, row, 2 * p + 1 < rows ? row + n : 0, right + j * k + p * columns);
            }
        }
        for (int64_t group = first; group < last; group += GROUP) {
            int64_t end = last < group + GROUP ? last : group + GROUP;
            for (int64_t p = 0; p < k; p++) {
                const uint16_t *row = a + (begin + 2 * p) * m + group;
                interleave(end - group, row, 2 * p + 1 < rows ? row + m : 0, left + p * GROUP);
            }
            for (int64_t i = group, mr; i < end; i += mr) {
                mr = block(end - i);
                for (int64_t j = 0; j < n; j += 4 * W) {
                    const uint32_t *of = left + i - group, *panel = right + j * k;
                    float *into = out + i * n + j;
                    EACH_TILE(mr, (n - j) / W, outer_tile(M, NV, n, k, of, panel, into, !begin))
                }
            }
        }
    }
}

#define EACH_SHARE(call) \
    _Pragma("omp parallel for num_threads(threads) schedule(static, 1)") \
    for (int64_t share = 0; share < threads; share++) { \
        int64_t first = first_of(share, threads, steps, rows), last = first_of(share + 1, threads, steps, rows); \
        call; \
    }

/* A batch of B = rows[0] rows and N characters forward through time. rows (T); projected, gates (N, 4n); packed
(n/W, n, 4, W); h, c (B+N, n), the first B of them given; squashed (N, n). */
void execlab_forward(int64_t threads, int64_t steps, int64_t n, const int64_t *rows, const float *projected,
                     const float *packed, float *gates, float *h, float *c, float *squashed) {
    Below below = {0, projected, 0};
    EACH_SHARE(forward(0, steps, n, rows, first, last, &below, packed, gates, h, c, squashed))
}

/* The same backward. above (N, n): what each h is blamed for; change (N, 4n): what each gate's input is blamed for;
dh, dc (B, n): of a row's last state on entry, of its first on return; packed: panels of up to 4 W columns of the weights
(4n, n), each (4n, columns). */
void execlab_backward(int64_t threads, int64_t steps, int64_t n, const int64_t *rows, const float *above,
                      const float *packed, const float *gates, const float *c, const float *squashed, float *change,
                      float *dh, float *dc) {
    EACH_SHARE(backward(0, steps, n, rows, first, last, above, packed, gates, c, squashed, change, dh, dc))
}

/* The same in halves. packed (n/W, n/2, 4, W, 2); h; and either ids (N) and a table (V, 4n) of floats, or projected
(N, 4n) and a bias (4n) of floats. */
void execlab_half_forward(int64_t threads, int64_t steps, int64_t n, const int64_t *rows, const int64_t *ids,
                          const void *projected, const float *bias, const uint16_t *packed, float *gates, uint16_t *h,
                          float *c, float *squashed) {
    Below below = {ids, projected, bias};
    EACH_SHARE(forward(1, steps, n, rows, first, last, &below, packed, gates, h, c, squashed))
}

/* above, change and packed, whose panels are (2n, columns, 2), in halves. */
void execlab_half_backward(int64_t threads, int64_t steps, int64_t n, const int64_t *rows, const uint16_t *above,
                           const uint16_t *packed, const float *gates, const float *c, const float *squashed,
                           uint16_t *change, float *dh, float *dc) {
    EACH_SHARE(backward(1, steps, n, rows, first, last, above, packed, gates, c, squashed, change, dh, dc))
}

/* Places of 4 bytes that execlab_half_outer wants for each thread. */
int64_t execlab_room(int64_t n) { return PAIRS * (n + GROUP); }

/* The gradient of weights (m, n), in floats, from halves: a (N, m), b (N, n). */
void execlab_half_outer(int64_t threads, int64_t count, int64_t m, int64_t n, const uint16_t *a, const uint16_t *b,
                        float *out, uint32_t *room) {
#pragma omp parallel for num_threads(threads) schedule(static, 1)
    for (int64_t share = 0; share < threads; share++)
        outer(count, m, n, share * m / threads, (share + 1) * m / threads, a, b, out, room + share * execlab_room(n));
}

/* out (V, m) += rows of a (N, m), in halves, each where ids (N) say, or all in the first. */
void execlab_half_gather(int64_t threads, int64_t count, int64_t m, const int64_t *ids, const uint16_t *a, float *out) {
#pragma omp parallel for num_threads(threads) schedule(static, 1)
    for (int64_t share = 0; share < threads; share++)
        for (int64_t at = 0; at < count; at++) {
            float *into = out + (ids ? ids[at] : 0) * m;
            for (int64_t j = share * (m / W) / threads * W; j < (share + 1) * (m / W) / threads * W; j += W)
                store(into + j, load(into + j) + load_half(a + at * m + j));
        }
}

/* Whether the processor multiplies halves, or floats do it. */
int64_t execlab_halves(void) {
#ifdef __AVX512BF16__
    return 1;
#else
    return 0;
#endif
}

/* Whether rows are really shared between threads. */
int64_t execlab_threaded(void) {
#ifdef _OPENMP
    return 1;
#else
    return 0;
#endif
}
