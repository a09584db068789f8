/* Gradient clipping, Muon and AdamW: what training/muon.py does, a matrix or a parameter per item. */

/* This thread's own memory for so many floats; it is kept. */
static float *scratch(int64_t floats) {
    static _Thread_local float *memory;
    static _Thread_local int64_t size;
    if (floats > size) {
        free(memory);
        size = multiple(floats, 1 << 14);
        memory = aligned_alloc(64, 4 * size);
        if (!memory) abort();
    }
    return memory;
}

typedef struct {
    float *parameter, *gradient, *momentum; /* (rows, columns), one block of a parameter */
    int64_t rows, columns;
} Matrix;

typedef struct {
    float *parameter, *gradient, *mean, *square;
    int64_t size;
} Rest;

typedef struct {
    int64_t half, iterations, matrices;
    const Matrix *matrix;
    const Rest *rest;
    float coefficients[3], rate, shrink, momentum; /* of Muon; shrink: 1 - rate * weight decay */
    float fast, slow, size, scale, keep;           /* of AdamW: betas, rate and its corrections */
} Update;

/* Three matmuls of Newton and Schulz on y (q, p), q >= p, whose columns become orthogonal: with S = y' y,
y (a + b S + c S S). S is symmetric, so only what is on and above the diagonal of vectors is computed, then mirrored. */
typedef struct {
    int64_t half, q, p;
    float *y, *next, *s, *polynomial; /* (q, p), (q, p), (p, p), (p, p) */
    void *left, *right;               /* halves: y by pairs of columns (q, p/2); a matrix by pairs of rows */
} Room;

/* A matrix (k, p) by pairs of rows: (k/2, p, 2). */
INLINE void pair_rows(int64_t k, int64_t p, const float *from, uint32_t *to) {
    for (int64_t i = 0; i < k; i += 2)
        for (int64_t j = 0; j < p; j += W) store_bits(to + i / 2 * p + j, pair(load(from + i * p + j), load(from + (i + 1) * p + j)));
}

/* out (p, p) = a' a of a (k, p), with k rows, or pairs of rows. */
static void symmetric(int half, int64_t k, int64_t p, const void *a, float *out) {
    for (int64_t begin = 0; begin < p; begin += W)
        for (int64_t v = begin / W, nv; v < p / W; v += nv) {
            nv = piece(p / W - v, 4);
            for (int64_t i = begin, mr; i < begin + W; i += mr) {
                mr = piece(begin + W - i, ROWS);
                tile(half, mr, nv, 1, k, (const float *)a + i, p, 1, (const float *)a + v * W, p, out + i * p + v * W, p);
            }
        }
}

/* What is below the diagonal of vectors, from what is above it. */
static void mirror(int64_t p, float *s) {
    for (int64_t i = 0; i < p; i += W)
        for (int64_t j = i + W; j < p; j += W) {
            vec block[W];
            for (int w = 0; w < W; w++) block[w] = load(s + (i + w) * p + j);
            transpose(block);
            for (int w = 0; w < W; w++) store(s + (j + w) * p + i, block[w]);
        }
}

INLINE void iterate(int half, const Update *update, const Room *room) {
    int64_t q = room->q, p = room->p;
    float a = update->coefficients[0], b = update->coefficients[1], c = update->coefficients[2];
    if (half) pair_rows(q, p, room->y, room->right);
    symmetric(half, half ? q / 2 : q, p, half ? room->right : room->y, room->s);
    mirror(p, room->s);
    if (half) pair_rows(p, p, room->s, room->right);
    symmetric(half, half ? p / 2 : p, p, half ? room->right : room->s, room->polynomial);
    for (int64_t i = 0; i < p; i++)
        for (int64_t j = i / W * W; j < p; j += W)
            store(room->polynomial + i * p + j,
                  b * load(room->s + i * p + j) + c * load(room->polynomial + i * p + j));
    if (!half)
        for (int64_t i = 0; i < p; i++) room->polynomial[i * p + i] += a;
    mirror(p, room->polynomial);
    if (half) {
        pair_rows(p, p, room->polynomial, room->right);
        for (int64_t i = 0; i < q * p; i += W) {
            store_half((uint16_t *)room->left + i, load(room->y + i));
            store(room->next + i, a * load(room->y + i)); /* what is large is not rounded */
        }
    }
    int64_t k = half ? p / 2 : p;
    const float *of = half ? room->left : room->y, *by = half ? room->right : room->polynomial;
    for (int64_t j = 0, nv; j < p; j += nv * W) {
        nv = piece((p - j) / W, 4);
        for (int64_t i = 0, mr; i < q; i += mr) {
            mr = piece(q - i, ROWS);
            tile(half, mr, nv, !half, k, of + i * k, 1, k, by + j, p, room->next + i * p + j, p);
        }
    }
}

/* Sums of squares of W numbers at a time: always in this order. */
static double squares(int64_t size, const float *numbers) {
    double sums[8] = {0}, total = 0;
    int64_t i = 0;
    for (; i + 8 <= size; i += 8)
        for (int w = 0; w < 8; w++) sums[w] += (double)numbers[i + w] * numbers[i + w];
    for (; i < size; i++) total += (double)numbers[i] * numbers[i];
    for (int w = 0; w < 8; w++) total += sums[w];
    return total;
}

static void muon(const Update *update, const Matrix *matrix) {
    int64_t rows = matrix->rows, columns = matrix->columns, wide = rows < columns;
    int64_t q = multiple(wide ? columns : rows, W), p = multiple(wide ? rows : columns, W);
    float *memory = scratch(4 * q * p + 2 * p * p);
    Room room = {update->half, q, p, memory, memory + q * p, memory + 2 * q * p, memory + 2 * q * p + p * p, 0, 0};
    room.left = room.polynomial + p * p;
    room.right = (float *)room.left + q * p;
    if (q * p != rows * columns) memset(room.y, 0, 4 * q * p);
    for (int64_t r = 0; r < rows; r++) {
        float *momentum = matrix->momentum + r * columns;
        const float *gradient = matrix->gradient + r * columns;
        float *y = room.y + (wide ? r : r * p);
        int64_t step = wide ? p : 1;
        for (int64_t i = 0; i < columns; i++) {
            float g = gradient[i], m = momentum[i] += update->momentum * (g - momentum[i]);
            y[i * step] = m + update->momentum * (g - m); /* Nesterov: a step ahead of the momentum */
        }
    }
    float inverse = (float)(1.0 / (__builtin_sqrt(squares(q * p, room.y)) + 1e-7));
    for (int64_t i = 0; i < q * p; i++) room.y[i] *= inverse;
    for (int64_t i = 0; i < update->iterations; i++) {
        EITHER(update->half, iterate(HALF, update, &room))
        float *y = room.y;
        room.y = room.next, room.next = y;
    }
    float rate = update->rate * (wide ? 1.0f : (float)__builtin_sqrt((double)rows / columns));
    for (int64_t r = 0; r < rows; r++) {
        float *parameter = matrix->parameter + r * columns;
        const float *y = room.y + (wide ? r : r * p);
        int64_t step = wide ? p : 1;
        for (int64_t i = 0; i < columns; i++) parameter[i] = parameter[i] * update->shrink - rate * y[i * step];
    }
}

static void adamw(const Update *update, const Rest *rest) {
    for (int64_t i = 0; i < rest->size; i++) {
        float g = rest->gradient[i];
        float mean = rest->mean[i] += update->fast * (g - rest->mean[i]);
        float square = rest->square[i] += update->slow * (g * g - rest->square[i]);
        float spread = __builtin_sqrtf(square * update->scale) + 1e-8f;
        rest->parameter[i] = rest->parameter[i] * update->keep - update->size * (mean / spread);
    }
}

static void update_item(void *context, int64_t item) {
    const Update *update = context;
    if (item < update->matrices) muon(update, update->matrix + item);
    else adamw(update, update->rest + item - update->matrices);
}

typedef struct {
    float *numbers;
    int64_t size;
    double sum;
    float scale;
} Piece;

static void square_item(void *context, int64_t item) {
    Piece *piece = (Piece *)context + item;
    piece->sum = squares(piece->size, piece->numbers);
}

static void scale_item(void *context, int64_t item) {
    Piece *piece = (Piece *)context + item;
    for (int64_t i = 0; i < piece->size; i++) piece->numbers[i] *= piece->scale;
}
