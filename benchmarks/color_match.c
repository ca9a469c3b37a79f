// color-match as a C loop that does the engine's work: it keeps 36 codes and a mask of 144 attempts
// a board, and gives outcomes, rewards and ends, with new boards in the step that ends an episode.
#include <stdint.h>
#include <string.h>

#define MOST_BOARDS 4096

typedef struct {
    uint8_t seen[180];
    uint8_t n_pieces, shape, color, bucket;
    int32_t attempts;
} Board;

static Board boards[MOST_BOARDS];
static uint8_t final[MOST_BOARDS][40];
static int32_t bucket_of[4];

static inline void deal(Board *b, const uint8_t *codes) {
    int n = 0;
    for (int cell = 0; cell < 36; cell++) {
        uint32_t mask = codes[cell] ? 0x01010101u : 0;
        b->seen[cell] = codes[cell];
        n += codes[cell] != 0;
        memcpy(b->seen + 36 + 4 * cell, &mask, 4);
    }
    b->n_pieces = n;
    b->shape = b->color = b->bucket = 0;
    b->attempts = 0;
}

void deal_all(int n, const uint8_t *deck, const int32_t *buckets) {
    memcpy(bucket_of, buckets, sizeof bucket_of);
    for (int i = 0; i < n; i++) deal(&boards[i], deck + 36 * i);
}

int step_all(int n, const int64_t *actions, const uint8_t *deck, int n_dealt, int horizon,
             int64_t *outcome, double *reward, uint8_t *terminated, uint8_t *truncated) {
    for (int i = 0; i < n; i++) {
        Board *b = &boards[i];
        int cell = actions[i] >> 2, bucket = actions[i] & 3, code = b->seen[cell];
        int attempts = ++b->attempts;
        terminated[i] = 0;
        truncated[i] = horizon && attempts >= horizon;
        if (code == 0) {
            outcome[i] = 3;
            reward[i] = -1;
            if (!truncated[i]) continue;
        } else if (bucket_of[(code - 1) >> 2] != bucket) {
            outcome[i] = 4;
            reward[i] = -1;
            if (!truncated[i]) continue;
        } else {
            uint32_t none = 0;
            outcome[i] = 0;
            reward[i] = 0;
            b->seen[cell] = 0;
            memcpy(b->seen + 36 + 4 * cell, &none, 4);
            b->shape = 1 + ((code - 1) >> 2);
            b->color = 1 + ((code - 1) & 3);
            b->bucket = 1 + bucket;
            terminated[i] = --b->n_pieces == 0;
            if (!terminated[i] && !truncated[i]) continue;
        }
        memcpy(final[i], b->seen, 36);
        final[i][36] = b->shape;
        final[i][37] = b->color;
        final[i][38] = b->bucket;
        deal(b, deck + 36 * n_dealt++);
    }
    return n_dealt;
}
