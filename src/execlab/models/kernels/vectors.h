/* Vectors of floats, bfloat16 beside them, and the small matmul that everything else is made of.

Where `half` is 1, what is multiplied is in bfloat16, two numbers to a float's place along the sum; sums are floats.
Every sum is in one fixed order, however many rows or columns a tile has: so results do not depend on how the work was
cut into pieces. */

#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#ifdef __AVX512BF16__
#include <immintrin.h>
#endif

/* W: floats per vector; ROWS: rows whose sums (4 vectors each) fit into the registers. */
#if defined(__AVX512F__)
#define W 16
#define ROWS 6
#elif defined(__AVX__)
#define W 8
#define ROWS 3
#elif defined(__ARM_NEON)
#define W 4
#define ROWS 6
#else
#define W 4
#define ROWS 3
#endif

typedef float vec __attribute__((vector_size(4 * W)));
typedef float loose __attribute__((vector_size(4 * W), aligned(4)));
typedef int32_t ivec __attribute__((vector_size(4 * W)));
typedef uint32_t uvec __attribute__((vector_size(4 * W)));
typedef uint32_t uloose __attribute__((vector_size(4 * W), aligned(4)));
typedef uint16_t halves __attribute__((vector_size(2 * W), aligned(2)));

#define INLINE static inline __attribute__((always_inline))

INLINE vec load(const float *p) { return *(const loose *)p; }
INLINE void store(float *p, vec v) { *(loose *)p = v; }
INLINE void store_bits(uint32_t *p, uvec v) { *(uloose *)p = v; }
INLINE vec all(float x) { return x - (vec){0}; }
INLINE vec choose(ivec mask, vec yes, vec no) { return (vec)((mask & (ivec)yes) | (~mask & (ivec)no)); }
INLINE int64_t smaller(int64_t a, int64_t b) { return a < b ? a : b; }
INLINE int64_t multiple(int64_t n, int64_t of) { return (n + of - 1) / of * of; }

/* bfloat16 is the upper half of a float; to the nearest, ties to even. */
INLINE uvec halve(vec v) {
    uvec bits = (uvec)v, rounded = (bits + 0x7fff + ((bits >> 16) & 1)) >> 16, nan = (uvec)(v != v);
    return (nan & 0x7fc0) | (~nan & rounded);
}
INLINE vec load_half(const uint16_t *p) { return (vec)(__builtin_convertvector(*(const halves *)p, uvec) << 16); }
INLINE void store_half(uint16_t *p, vec v) { *(halves *)p = __builtin_convertvector(halve(v), halves); }
INLINE uvec pair(vec low, vec high) { return halve(low) | halve(high) << 16; }

/* Where number `at` of an array of floats, or of halves, is; and a vector there. */
INLINE void *place_of(int half, const void *numbers, int64_t at) { return (char *)numbers + at * (half ? 2 : 4); }
INLINE vec load_any(int half, const void *p) { return half ? load_half(p) : load(p); }
INLINE void store_any(int half, void *p, vec v) {
    if (half) store_half(p, v);
    else store(p, v);
}

/* sum + the products of both halves of x with those of every place of y. */
INLINE vec dot(vec sum, uint32_t x, uvec y) {
#ifdef __AVX512BF16__
    return (vec)_mm512_dpbf16_ps((__m512)sum, (__m512bh)(x - (uvec){0}), (__m512bh)y);
#else
    vec low = (vec)((x << 16) - (uvec){0}), high = (vec)((x & 0xffff0000) - (uvec){0});
    return sum + low * (vec)(y << 16) + high * (vec)(y & 0xffff0000);
#endif
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

/* Loaded once: gcc would rather load it again for every row, and then loads are the bottleneck. */
#ifdef __AVX__
#define KEEP(b) SETTLE(b)
#else
#define KEEP(b)
#endif

/* sums[r][v] += a[r][0..k) times nv vectors of columns. Number j of row r of a is at j * step + r * stride, and the
columns of j at b + j * width; k, step, stride and width count pairs of numbers where they are half as long. */
INLINE void multiply(int half, int mr, int nv, int64_t k, const void *a, int64_t step, int64_t stride, const void *b,
                     int64_t width, vec sums[ROWS][4]) {
    for (int64_t j = 0; j < k; j++) {
        const float *columns = (const float *)b + j * width;
#if W == 8
        /* 16 registers: 12 sums, a number of each of 3 rows, one vector of columns. */
        vec x[ROWS];
#pragma GCC unroll 3
        for (int r = 0; r < mr && !half; r++) {
            x[r] = all(((const float *)a)[j * step + r * stride]);
            KEEP(x[r]);
        }
#pragma GCC unroll 4
        for (int v = 0; v < nv; v++) {
            vec y = load(columns + v * W);
            KEEP(y);
#pragma GCC unroll 3
            for (int r = 0; r < mr; r++)
                sums[r][v] = half ? dot(sums[r][v], ((const uint32_t *)a)[j * step + r * stride], (uvec)y)
                                  : sums[r][v] + x[r] * y;
        }
#else
        vec y[4];
#pragma GCC unroll 4
        for (int v = 0; v < nv; v++) {
            y[v] = load(columns + v * W);
            KEEP(y[v]);
        }
#pragma GCC unroll 6
        for (int r = 0; r < mr; r++) {
            float x = ((const float *)a)[j * step + r * stride];
            uint32_t both = ((const uint32_t *)a)[j * step + r * stride];
#pragma GCC unroll 4
            for (int v = 0; v < nv; v++) sums[r][v] = half ? dot(sums[r][v], both, (uvec)y[v]) : sums[r][v] + x * y[v];
        }
#endif
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

/* How many of the rows, or vectors, that are left are done at once: pieces as equal as can be. */
INLINE int64_t piece(int64_t left, int64_t most) {
    int64_t pieces = (left + most - 1) / most;
    return (left + pieces - 1) / pieces;
}

INLINE void fixed_tile(int half, int mr, int nv, int fresh, int64_t k, const void *a, int64_t step, int64_t stride,
                       const void *b, int64_t width, float *out, int64_t out_stride) {
    vec sums[ROWS][4];
#pragma GCC unroll 6
    for (int r = 0; r < mr; r++)
#pragma GCC unroll 4
        for (int v = 0; v < nv; v++) sums[r][v] = fresh ? all(0) : load(out + r * out_stride + v * W);
    multiply(half, mr, nv, k, a, step, stride, b, width, sums);
#pragma GCC unroll 6
    for (int r = 0; r < mr; r++)
#pragma GCC unroll 4
        for (int v = 0; v < nv; v++) store(out + r * out_stride + v * W, sums[r][v]);
}

/* A tile of a matmul: at most ROWS rows and 4 vectors of columns of out are, or unless fresh grow by, a times b. */
#define TILE(half, nv) EACH_COUNT(mr, fixed_tile(half, M, nv, fresh, k, a, step, stride, b, width, out, out_stride))
static __attribute__((noinline)) void tile(int half, int64_t mr, int64_t nv, int fresh, int64_t k, const void *a,
                                           int64_t step, int64_t stride, const void *b, int64_t width, float *out,
                                           int64_t out_stride) {
    switch (2 * nv + half) {
    case 2: TILE(0, 1) break;
    case 3: TILE(1, 1) break;
    case 4: TILE(0, 2) break;
    case 5: TILE(1, 2) break;
    case 6: TILE(0, 3) break;
    case 7: TILE(1, 3) break;
    case 8: TILE(0, 4) break;
    default: TILE(1, 4)
    }
}

/* Numbers of two vectors by turns: from their lower halves, or from their upper ones. */
#if defined(__clang__) || __GNUC__ >= 12
#define SHUFFLE(a, b, ...) __builtin_shufflevector(a, b, __VA_ARGS__)
#else
#define SHUFFLE(a, b, ...) __builtin_shuffle(a, b, (ivec){__VA_ARGS__})
#endif
#if W == 16
#define LOWER(a, b) SHUFFLE(a, b, 0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5, 21, 6, 22, 7, 23)
#define UPPER(a, b) SHUFFLE(a, b, 8, 24, 9, 25, 10, 26, 11, 27, 12, 28, 13, 29, 14, 30, 15, 31)
#elif W == 8
#define LOWER(a, b) SHUFFLE(a, b, 0, 8, 1, 9, 2, 10, 3, 11)
#define UPPER(a, b) SHUFFLE(a, b, 4, 12, 5, 13, 6, 14, 7, 15)
#else
#define LOWER(a, b) SHUFFLE(a, b, 0, 4, 1, 5)
#define UPPER(a, b) SHUFFLE(a, b, 2, 6, 3, 7)
#endif

/* A block of W vectors becomes its transpose: every round is a perfect shuffle of rows and columns. */
INLINE void transpose(vec block[W]) {
    vec other[W];
#pragma GCC unroll 4
    for (int round = 1; round < W; round *= 2) {
#pragma GCC unroll 16
        for (int i = 0; i < W / 2; i++) {
            other[2 * i] = LOWER(block[i], block[i + W / 2]);
            other[2 * i + 1] = UPPER(block[i], block[i + W / 2]);
        }
#pragma GCC unroll 16
        for (int i = 0; i < W; i++) block[i] = other[i];
    }
}

/* A call with a constant HALF. */
#define EITHER(half, call) \
    if (half) { enum { HALF = 1 }; call; } \
    else { enum { HALF = 0 }; call; }
