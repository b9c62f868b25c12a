/* The set of states seen: open addressing, exact, grown in place.
 *
 * A state's place rises with its hash, so a larger table holds the same states in the same order, further apart: growth
 * walks from the end to the start and moves each state up, without a second table. */
#ifndef FALSEWORK_TABLE_H
#define FALSEWORK_TABLE_H

#include "engine.h"

typedef struct {
    state *slots;
    size_t room;   /* places that a hash may name; as many again as `spill` lie behind them */
    size_t mapped; /* bytes */
    size_t used;
} table;

enum { SPILL = 4096 };
enum { MEMORY_FULL = 0, MEMORY_REFUSED = -1 };

/* Ends the run without a verdict: the program itself went wrong, or the machine refuses memory. */
_Noreturn void fatal(const char *why);
_Noreturn void no_memory(void);

int table_open(table *t, size_t room);
void table_close(table *t);
/* Makes the table larger until it has room for `more` states: 1, or MEMORY_FULL, or MEMORY_REFUSED. */
int table_reserve(table *t, size_t more, size_t *mapped_total, size_t limit);

static inline size_t place_of(const table *t, uint64_t hash) {
    return (size_t)(((unsigned __int128)hash * t->room) >> 64);
}

/* The slot that holds the state, or the free one where it belongs. */
static inline state *table_find(const table *t, const state *s, uint64_t hash) {
    state *at = t->slots + place_of(t, hash);
    while (at->w[0] & TAKEN) {
        if (same_state(at, s)) return at;
        at++;
    }
    return at;
}

#endif
