/* The gradients of an LSTM's weights, of its biases and of the first layer's table. */

/* A vector of halves as the first or the second numbers of pairs. */
INLINE void put_half(int second, const uint16_t *from, uint32_t *to) {
    uvec numbers = __builtin_convertvector(*(const halves *)from, uvec);
    store_bits(to, second ? (uvec)load((const float *)to) | numbers << 16 : numbers);
}

/* What each character found (`before`), or what it was given from below, as panels of up to 4 W columns: (N, columns),
or ((N + 1) / 2, columns, 2) with nothing in place of a number N. */
INLINE void pack_states(int half, const Stack *s, int64_t l, int before, int64_t j) {
    const Layer *layer = s->layer + l;
    int64_t n = s->n, width = smaller(n - j, 4 * W), at = 0, begin = before ? 0 : s->batch;
    int64_t places = half ? (s->count + 1) / 2 : s->count;
    uint32_t *out = (uint32_t *)(before ? layer->before : layer->below) + places * j;
    for (int64_t t = 0; t < s->steps; t++) {
        const void *from = place_of(half, before ? layer->h : layer[-1].h, begin * n + j);
        for (int64_t row = 0; row < s->rows[t]; row++, at++, from = place_of(half, from, n)) {
            if (!half) {
                memcpy(out + at * width, from, 4 * width);
                continue;
            }
            for (int64_t i = 0; i < width; i += W) put_half(at % 2, (const uint16_t *)from + i, out + at / 2 * width + i);
        }
        begin += before && !t ? s->batch : s->rows[before ? t - 1 : t];
    }
}

#define CHUNK 768         /* characters at a time, so that their h stays in the cache */
#define GROUP (16 * ROWS) /* gates that an item does together, at most */

/* Gates of an item: many where h must be read from far away for each item, few where threads should share finely. */
INLINE int64_t group_of(const Stack *s) { return s->n > 256 ? GROUP : GROUP / 2; }

/* Gradients of a layer's weights: rows first to last of (4n, n), each summed over all N, and of what is below. */
INLINE void gradients(int half, const Stack *s, int64_t l, int64_t first, int64_t last) {
    const Layer *layer = s->layer + l;
    int64_t n = s->n, m = 4 * n, width = last - first, all_places = half ? (s->count + 1) / 2 : s->count;
    uint32_t left[CHUNK * GROUP];
    for (int64_t i = 0; i < (l ? 1 : s->vocabulary); i++) memset(layer->d_below + i * m + first, 0, 4 * width);
    for (int64_t begin = 0; begin < s->count; begin += CHUNK) {
        int64_t end = smaller(begin + CHUNK, s->count), places = half ? (end - begin + 1) / 2 : end - begin;
        for (int64_t at = begin; at < end; at++) {
            const void *from = place_of(half, layer->change, at * m + first);
            float *sum = layer->d_below + (l ? 0 : s->ids[at]) * m + first;
            for (int64_t i = 0; i < width; i += W) store(sum + i, load(sum + i) + load_any(half, place_of(half, from, i)));
            uint32_t *to = left + (half ? (at - begin) / 2 : at - begin) * GROUP;
            if (half)
                for (int64_t i = 0; i < width; i += W) put_half((at - begin) % 2, (const uint16_t *)from + i, to + i);
            else memcpy(to, from, 4 * width);
        }
        for (int which = 0; which < (l ? 2 : 1); which++) {
            const uint32_t *states = which ? layer->below : layer->before;
            float *out = which ? layer->d_ih : layer->d_hh;
            for (int64_t j = 0; j < n; j += 4 * W) {
                int64_t wide = smaller(n - j, 4 * W);
                const uint32_t *panel = states + all_places * j + (half ? begin / 2 : begin) * wide;
                for (int64_t i = 0, mr; i < width; i += mr) {
                    float *into = out + (first + i) * n + j;
                    mr = piece(width - i, ROWS);
                    tile(half, mr, wide / W, !begin, places, left + i, GROUP, 1, panel, wide, into, n);
                }
            }
        }
    }
}

static void pack_backward(void *context, int64_t item) {
    const Stack *s = context;
    int64_t panels = (s->n + 4 * W - 1) / (4 * W), l = item / panels, j = item % panels * 4 * W;
    const Layer *layer = s->layer + l;
    EITHER(s->half, pack_columns(HALF, s->n, j, layer->weight_hh, layer->panels_hh))
    EITHER(s->half, pack_states(HALF, s, l, 1, j))
    if (!l) return;
    EITHER(s->half, pack_columns(HALF, s->n, j, layer->weight_ih, layer->panels_ih))
    EITHER(s->half, pack_states(HALF, s, l, 0, j))
}

static void gradient_rows(void *context, int64_t item) {
    const Stack *s = context;
    int64_t group = group_of(s), groups = (4 * s->n + group - 1) / group;
    int64_t l = s->layers - 1 - item / groups, first = item % groups * group;
    EITHER(s->half, gradients(HALF, s, l, first, smaller(first + group, 4 * s->n)))
}
