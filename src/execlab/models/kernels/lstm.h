/* A deep LSTM through time and back: what recurrence.py does, layer by layer.

Rows drop out as their samples end: character t is read by the first rows[t] rows, never more than the one before, and
the blocks of all characters lie one after the other. Rows do not see each other, so an item is some rows, taken through
all of time and all layers: threads meet once each way. A matmul is done a few rows and a panel of columns at a time, so
that sums stay in registers; forward, a panel holds the four gates of the same cells, and the cell is finished before
anything is stored.

With bfloat16, h, the weights and the gradients of the gates' inputs have that precision where they are multiplied. */

/* One layer's arrays, n cells, B rows, N characters. In `any` the numbers are halves or floats. */
typedef struct {
    const float *weight_ih, *weight_hh, *bias; /* (4n, n), (4n, n), (4n); in the first layer weight_hh alone */
    const float *h0, *c0;                      /* (B, n) */
    void *h;                                   /* any (B + N, n) */
    float *gates, *c, *squashed;               /* (N, 4n), (B + N, n), (N, n) */
    float *last_h, *last_c;                    /* (B, n) */
    void *panels_ih, *panels_hh;               /* any (4n, n): the weights in the order in which they are read */
    float *above;                              /* (N, n): gradient of h */
    float *dh, *dc;                            /* (B, n): gradient of the last state on entry, of the first on return */
    void *change;                              /* any (N, 4n): gradient of the gates' inputs */
    void *before, *below;                      /* any (K, n), pairs of halves: h before and of the layer below, in panels */
    float *d_ih, *d_hh, *d_below;              /* gradients; the last one of the bias (4n) or the table (V, 4n) */
} Layer;

typedef struct {
    int64_t half, layers, n, steps, vocabulary, items;
    const int64_t *rows, *ids; /* (T), (N) */
    const float *table;        /* (V, 4n): what a character is to the gates of the first layer */
    int64_t batch, count;      /* B, N */
    Layer *layer;
} Stack;

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

/* The first row of a share, so that all shares have about as many characters. */
static int64_t first_of(const Stack *s, int64_t share) {
    int64_t before = 0, row = 0;
    for (int64_t length = s->steps; row < s->batch && before * s->items < s->count * share; row++) {
        while (s->rows[length - 1] <= row) length--;
        before += length;
    }
    return row;
}

/* Shares of rows: small, so that a late thread delays little, unless the weights do not stay in a core's cache. */
static int64_t shares(int64_t threads, const Stack *s) {
    int64_t wanted = 4 * s->n * s->n * (s->half ? 2 : 4) > 512 << 10 ? threads : 4 * threads;
    return smaller(threads == 1 ? 1 : wanted, (s->batch + 2) / 3);
}

/* What comes from the layer below, of mr rows and a vector of cells, becomes what the gates begin with. */
INLINE void project(int half, int mr, int64_t n, int64_t j, const float *bias, const void *h, const void *panel,
                    float *gates) {
    vec sums[ROWS][4];
#pragma GCC unroll 6
    for (int r = 0; r < mr; r++)
#pragma GCC unroll 4
        for (int v = 0; v < 4; v++) sums[r][v] = load(bias + v * n + j);
    int64_t k = half ? n / 2 : n;
    multiply(half, mr, 4, k, h, 1, k, panel, 4 * W, sums);
#pragma GCC unroll 6
    for (int r = 0; r < mr; r++)
#pragma GCC unroll 4
        for (int v = 0; v < 4; v++) store(gates + (r * 4 + v) * n, sums[r][v]);
}

/* A vector of cells in mr rows: the matmul with the weights, then `finish`. */
INLINE void cells(int half, int mr, int64_t n, int64_t j, const float *table, const int64_t *ids, const void *before,
                  const void *panel, float *gates, const float *c_before, float *c, void *h, float *squashed) {
    vec sums[ROWS][4];
#pragma GCC unroll 6
    for (int r = 0; r < mr; r++) {
        const float *from = ids ? table + ids[r] * 4 * n + j : gates + r * 4 * n;
#pragma GCC unroll 4
        for (int v = 0; v < 4; v++) sums[r][v] = load(from + v * n);
    }
    int64_t k = half ? n / 2 : n;
    multiply(half, mr, 4, k, before, 1, k, panel, 4 * W, sums);
#pragma GCC unroll 6
    for (int r = 0; r < mr; r++) {
        vec out = finish(n, sums[r], gates + r * 4 * n, c_before + r * n, c + r * n, squashed + r * n);
        store_any(half, place_of(half, h, r * n), out);
    }
}

INLINE void forward_layer(int half, const Stack *s, int64_t l, int64_t first, int64_t last) {
    const Layer *layer = s->layer + l;
    int64_t n = s->n, before = 0, now = 0; /* where blocks begin: of h and c before character t, of all else at t */
    for (int64_t i = first * n; i < last * n; i += W) {
        store_any(half, place_of(half, layer->h, i), load(layer->h0 + i));
        store(layer->c + i, load(layer->c0 + i));
    }
    for (int64_t j = 0; l && j < n; j += W, now = 0)
        for (int64_t t = 0; t < s->steps && s->rows[t] > first; now += s->rows[t++])
            for (int64_t row = first, end = smaller(s->rows[t], last), mr; row < end; row += mr) {
                int64_t at = now + row;
                const void *h = place_of(half, layer[-1].h, (s->batch + at) * n);
                const void *panel = place_of(half, layer->panels_ih, j * 4 * n);
                mr = piece(end - row, ROWS);
                EACH_COUNT(mr, project(half, M, n, j, layer->bias, h, panel, layer->gates + at * 4 * n + j))
            }
    for (int64_t t = 0; t < s->steps && s->rows[t] > first; now += s->rows[t++]) {
        int64_t next = s->batch + now, end = smaller(s->rows[t], last);
        for (int64_t j = 0; j < n; j += W)
            for (int64_t row = first, mr; row < end; row += mr) {
                int64_t old = (before + row) * n, at = now + row, new = (next + row) * n + j;
                const void *panel = place_of(half, layer->panels_hh, j * 4 * n);
                mr = piece(end - row, ROWS);
                EACH_COUNT(mr, cells(half, M, n, j, s->table, l ? 0 : s->ids + at, place_of(half, layer->h, old), panel,
                                     layer->gates + at * 4 * n + j, layer->c + old + j, layer->c + new,
                                     place_of(half, layer->h, new), layer->squashed + at * n + j))
            }
        for (int64_t row = t + 1 < s->steps ? s->rows[t + 1] : 0; row < end; row++)
            for (int64_t j = 0; j < n && row >= first; j += W) {
                store(layer->last_h + row * n + j, load_any(half, place_of(half, layer->h, (next + row) * n + j)));
                store(layer->last_c + row * n + j, load(layer->c + (next + row) * n + j));
            }
        before = next;
    }
}

/* What the gates' inputs of one vector in one row are to blame for; dc moves on to the step before. */
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

/* What rows from `row` to `end` of gates were to blame for, times the weights: the gradient of what they had read. */
INLINE void columns(int half, int64_t n, int64_t j, int64_t row, int64_t end, const void *change, const void *panels,
                    float *out) {
    int64_t k = half ? 2 * n : 4 * n, width = smaller(n - j, 4 * W);
    const void *panel = place_of(half, panels, j * 4 * n);
    for (int64_t mr; row < end; row += mr) {
        const void *of = place_of(half, change, row * 4 * n);
        mr = piece(end - row, ROWS);
        tile(half, mr, width / W, 1, k, of, 1, k, panel, width, out + row * n + j, n);
    }
}

INLINE void backward_layer(int half, const Stack *s, int64_t l, int64_t first, int64_t last) {
    const Layer *layer = s->layer + l, *next = layer + 1;
    int64_t n = s->n, now = 0;
    for (int64_t j = 0; l + 1 < s->layers && j < n; j += 4 * W, now = 0)
        for (int64_t t = 0; t < s->steps && s->rows[t] > first; now += s->rows[t++])
            columns(half, n, j, now + first, now + smaller(s->rows[t], last), next->change, next->panels_ih,
                    layer->above);
    for (int64_t t = 0; t < s->steps; t++) now += s->rows[t];
    for (int64_t t = s->steps - 1; t >= 0; t--) {
        now -= s->rows[t];
        int64_t before = t ? s->batch + now - s->rows[t - 1] : 0, end = smaller(s->rows[t], last);
        for (int64_t row = first; row < end; row++) {
            int64_t at = now + row;
            for (int64_t j = 0; j < n; j += W) {
                vec of_h = load(layer->dh + row * n + j) + load(layer->above + at * n + j), out[4];
                blame(n, of_h, layer->gates + at * 4 * n + j, layer->c + (before + row) * n + j,
                      layer->squashed + at * n + j, layer->dc + row * n + j, out);
                for (int v = 0; v < 4; v++)
                    store_any(half, place_of(half, layer->change, (at * 4 + v) * n + j), out[v]);
            }
        }
        for (int64_t j = 0; j < n; j += 4 * W)
            columns(half, n, j, first, end, place_of(half, layer->change, now * 4 * n), layer->panels_hh, layer->dh);
    }
}

/* Weights (4n, n) as panels of the four gates of the same cells: (n/W, n, 4, W), or (n/W, n/2, 4, W, 2). */
INLINE void pack_gates(int half, int64_t n, int64_t j, const float *weight, void *panels) {
    float *out = place_of(half, panels, j * 4 * n);
    for (int v = 0; v < 4; v++)
        for (int64_t k = 0; k < n; k += W) {
            vec block[W];
            for (int w = 0; w < W; w++) block[w] = load(weight + (v * n + j + w) * n + k);
            transpose(block);
            for (int w = 0; w < W; w += 1 + half)
                if (half) store_bits((uint32_t *)out + ((k + w) / 2 * 4 + v) * W, pair(block[w], block[w + 1]));
                else store(out + ((k + w) * 4 + v) * W, block[w]);
        }
}

/* Weights (4n, n) as panels of up to 4 W columns, each (4n, columns), or (2n, columns, 2). */
INLINE void pack_columns(int half, int64_t n, int64_t j, const float *weight, void *panels) {
    int64_t width = smaller(n - j, 4 * W);
    float *out = place_of(half, panels, j * 4 * n);
    for (int64_t k = 0; k < 4 * n; k += 1 + half)
        for (int64_t i = 0; i < width; i += W) {
            const float *from = weight + k * n + j + i;
            if (half) store_bits((uint32_t *)out + k / 2 * width + i, pair(load(from), load(from + n)));
            else store(out + k * width + i, load(from));
        }
}

static void pack_forward(void *context, int64_t item) {
    const Stack *s = context;
    int64_t panels = s->n / W, l = item / panels, j = item % panels * W;
    const Layer *layer = s->layer + l;
    EITHER(s->half, pack_gates(HALF, s->n, j, layer->weight_hh, layer->panels_hh))
    if (!l) return;
    EITHER(s->half, pack_gates(HALF, s->n, j, layer->weight_ih, layer->panels_ih))
}

static void forward_rows(void *context, int64_t item) {
    const Stack *s = context;
    for (int64_t l = 0; l < s->layers; l++)
        EITHER(s->half, forward_layer(HALF, s, l, first_of(s, item), first_of(s, item + 1)))
}

static void backward_rows(void *context, int64_t item) {
    const Stack *s = context;
    for (int64_t l = s->layers - 1; l >= 0; l--)
        EITHER(s->half, backward_layer(HALF, s, l, first_of(s, item), first_of(s, item + 1)))
}
