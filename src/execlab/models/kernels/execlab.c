/* What is fast on a CPU, compiled for this processor's own vectors: an LSTM's forward and backward pass, gradient
clipping, and the optimizer. The same machine gives the same bits, however many threads share the work. */

#define _GNU_SOURCE
#include "vectors.h"
#include "pool.h"
#include "lstm.h"
#include "gradients.h"
#include "optimizer.h"

/* Floats per vector: the number of cells must be a multiple of it. */
int64_t execlab_width(void) { return W; }

/* Whether the processor multiplies halves, or floats do it. */
int64_t execlab_halves(void) {
#ifdef __AVX512BF16__
    return 1;
#else
    return 0;
#endif
}

/* Whether work is really shared between threads. */
int64_t execlab_threaded(void) {
#ifdef THREADS
    return 1;
#else
    return 0;
#endif
}

static Stack stack(int64_t threads, const int64_t *sizes, void *const *arrays, Layer *layer) {
    Stack s = {sizes[0], sizes[1], sizes[2], sizes[3], sizes[4], 0, arrays[0], arrays[1], arrays[2], 0, 0, layer};
    s.batch = s.rows[0];
    for (int64_t t = 0; t < s.steps; t++) s.count += s.rows[t];
    s.items = shares(threads, &s);
    return s;
}

/* sizes, arrays and layer: as the structs of lstm.h begin; meanwhile: what the caller has to do, or nothing. */
void execlab_forward(int64_t threads, const int64_t *sizes, void *const *arrays, Layer *layer,
                     void (*meanwhile)(void)) {
    Stack s = stack(threads, sizes, arrays, layer);
    share(threads, s.layers * (s.n / W), pack_forward, &s);
    share_meanwhile(threads, s.items, forward_rows, &s, meanwhile);
}

void execlab_backward(int64_t threads, const int64_t *sizes, void *const *arrays, Layer *layer) {
    Stack s = stack(threads, sizes, arrays, layer);
    share(threads, s.layers * ((s.n + 4 * W - 1) / (4 * W)), pack_backward, &s);
    share(threads, s.items, backward_rows, &s);
    share(threads, s.layers * ((4 * s.n + group_of(&s) - 1) / group_of(&s)), gradient_rows, &s);
}

/* Scale arrays of numbers down to a common norm, if theirs is larger; gives what it was. The arrays are cut into pieces
that do not depend on the number of threads. */
double execlab_clip(int64_t threads, int64_t count, float *const *arrays, const int64_t *sizes, double limit) {
    enum { SIZE = 1 << 13 };
    int64_t pieces = 0;
    for (int64_t i = 0; i < count; i++) pieces += (sizes[i] + SIZE - 1) / SIZE;
    Piece *piece = malloc((pieces + 1) * sizeof *piece), *next = piece;
    if (!piece) abort();
    for (int64_t i = 0; i < count; i++)
        for (int64_t begin = 0; begin < sizes[i]; begin += SIZE)
            *next++ = (Piece){arrays[i] + begin, smaller(SIZE, sizes[i] - begin), 0, 1};
    share(threads, pieces, square_item, piece);
    double total = 0;
    for (int64_t i = 0; i < pieces; i++) total += piece[i].sum;
    double norm = __builtin_sqrt(total), scale = limit / (norm + 1e-6);
    if (!(scale >= 1)) {
        for (int64_t i = 0; i < pieces; i++) piece[i].scale = (float)scale;
        share(threads, pieces, scale_item, piece);
    }
    free(piece);
    return norm;
}

/* arrays: of every matrix parameter, gradient and momentum; then of the rest parameter, gradient, mean and square.
sizes: blocks, rows and columns of every matrix, then the size of each of the rest. numbers: as `Update` ends. */
void execlab_update(int64_t threads, int64_t half, int64_t iterations, int64_t matrices, int64_t others,
                    float *const *arrays, const int64_t *sizes, const float *numbers) {
    int64_t blocks = 0, done = 0;
    for (int64_t i = 0; i < matrices; i++) blocks += sizes[3 * i];
    Matrix *matrix = malloc((blocks + 1) * sizeof *matrix);
    Rest *rest = malloc((others + 1) * sizeof *rest);
    if (!matrix || !rest) abort();
    for (int64_t i = 0; i < matrices; i++, arrays += 3, sizes += 3)
        for (int64_t block = 0; block < sizes[0]; block++) {
            int64_t at = block * sizes[1] * sizes[2];
            matrix[done++] = (Matrix){arrays[0] + at, arrays[1] + at, arrays[2] + at, sizes[1], sizes[2]};
        }
    for (int64_t i = 0; i < others; i++, arrays += 4)
        rest[i] = (Rest){arrays[0], arrays[1], arrays[2], arrays[3], sizes[i]};
    Update update = {half, iterations, blocks, matrix, rest, {numbers[0], numbers[1], numbers[2]}, numbers[3],
                     numbers[4], numbers[5], numbers[6], numbers[7], numbers[8], numbers[9], numbers[10]};
    share(threads, blocks + others, update_item, &update);
    free(matrix);
    free(rest);
}
