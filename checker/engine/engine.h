/* What a printed model and the search core share: states, the sink for successors, and what is counted. */
#ifndef FALSEWORK_ENGINE_H
#define FALSEWORK_ENGINE_H

#include <stddef.h>
#include <stdint.h>

#ifndef WORDS
#define WORDS 1
#endif

typedef uint64_t word;

/* The top of the first word is the core's: the slot is taken, two marks, and the level modulo four. */
#define TAKEN (1ULL << 63)
#define MARK_A (1ULL << 62)
#define MARK_B (1ULL << 61)
#define LEVEL_SHIFT 59
#define STATE_MASK ((1ULL << LEVEL_SHIFT) - 1)

typedef struct {
    word w[WORDS];
} state;

static inline int same_state(const state *a, const state *b) {
    word different = (a->w[0] ^ b->w[0]) & STATE_MASK;
    for (int i = 1; i < WORDS; i++) different |= a->w[i] ^ b->w[i];
    return different == 0;
}

static inline uint64_t mix(uint64_t x) {
    x ^= x >> 32;
    x *= 0xD6E8FEB86659FD93ULL;
    x ^= x >> 32;
    x *= 0xD6E8FEB86659FD93ULL;
    x ^= x >> 32;
    return x;
}

static inline uint64_t hash_of(const state *s) {
    uint64_t h = mix(s->w[0] & STATE_MASK);
    for (int i = 1; i < WORDS; i++) h = mix(h ^ s->w[i]);
    return h;
}

/* What a step does. FIRED leads to `t`; the others lead nowhere, or nowhere new. */
enum { OFF = 0, FIRED = 1, STAYED = 2, CUT = 3, FAULT = 4, OUTSIDE = 5, BROKEN = 6 };

/* What one thread counts, by instance, by place and by premise; and the properties that the last step broke. */
typedef struct {
    uint64_t *fired, *stayed, *cut, *cuts, *premises;
    int *broken;
    int broken_count, at_fault;
} counts;

typedef struct {
    state *items;
    size_t used, room;
} box;

/* Whose part of the table the state belongs to: told by the low half of its hash, its place there by the high. */
static inline unsigned owner_of(uint64_t hash, unsigned owners) {
    return owners == 1 ? 0 : (unsigned)(((hash & 0xffffffffULL) * owners) >> 32);
}

/* Something that breaks a property, met while a state is expanded. */
typedef void (*noted)(void *context, int property, const state *source);

/* --- what the printed model supplies --- */

typedef int (*step_function)(const state *s, state *t, counts *c);

extern const unsigned model_instances;  /* labels, in order */
extern const unsigned model_properties; /* invariants of states and steps, in order */
extern const unsigned model_witnesses;
extern const unsigned model_cuts;
extern const unsigned model_premises;
extern const step_function model_steps[];

/* Every step of the state: successors from `out` on, which is answered as it stands after them, the rest to `note`.
 * *on is 0 where no step was enabled. */
state *model_expand(const state *s, state *out, counts *c, int *on, noted note, void *context);
/* The state invariants that are false there are written to `broken`; answers how many. *fault: one is at fault. */
int model_judge(const state *s, int *broken, int *fault);
/* Whether the witness is true there: 0, 1, or 2 at fault. */
int model_witnessed(const state *s, unsigned witness);
void model_count_premises(const state *s, counts *c);
/* 1 where the system may stay, 0 where it may not, 2 at fault. */
int model_terminal(const state *s);

/* Properties past the model's own. */
#define DEADLOCK ((int)model_properties)
#define DOMAIN_LEFT ((int)model_properties + 1)
#define AT_FAULT ((int)model_properties + 2)
#define ALL_PROPERTIES (model_properties + 3)

#endif
