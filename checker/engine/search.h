/* One search: its parts, one for each thread, and what it finds. */
#ifndef FALSEWORK_SEARCH_H
#define FALSEWORK_SEARCH_H

#include "meeting.h"
#include "table.h"

/* Where a property is first broken: in how many steps, in which states, or by steps from which states. */
typedef struct {
    long depth; /* -1: not broken */
    box states, sources;
} finding;

/* On the way to the part that owns it; on the way back `hash` is 1 where the state was new there, else 0. */
typedef struct {
    uint64_t hash;
    state s;
} hashed;

typedef struct {
    hashed *items;
    size_t used;
} batch;

enum { RECENT = WORDS <= 16 ? 1 << 12 : 1 << 8, MOST_THREADS = 64, LINE = 128 };

typedef struct search search;

/* What is put out at one turn: by owner, and the owners in order. */
typedef struct {
    batch *to;
    unsigned char *order;
    size_t used;
    size_t expanded; /* how many states it comes from */
    int more, full;  /* whether the part has more to expand, and whether it had no room before */
} outlet;

/* What one thread owns, on cache lines of its own: a part of the table, a share of the level, its counts. */
typedef struct {
    _Alignas(LINE) search *all;
    unsigned number;
    table seen;
    box level, next;
    box fresh;     /* successors of the states that were expanded last */
    outlet out[2]; /* the same without most repetitions; one is filled while the other is read */
    state *recent; /* states that were put out last, by the low bits of their hash */
    counts count;
    finding *found;
    long *witnessed; /* depth, or -1 */
    size_t taken;    /* states of its level that a thread has claimed */
    const state *at, *end; /* what it has claimed itself and not yet expanded */
    size_t lost;           /* states that were expanded in vain, for there was no room */
    const char *no_room;   /* why it could not grow, or NULL */
} part;

struct search {
    unsigned threads;
    part *parts;
    meeting meeting;
    long depth; /* of the level that is being expanded */
    size_t states, mapped, batch;
    uint64_t *level_sizes;
    size_t levels;
    box starts;
    const char *no_room; /* why a part could not grow, or NULL */
    int quit;
    size_t left; /* states of a level that memory ended before they were expanded */
    const char *stopped; /* the bound that ended the search, or NULL */
    void (*job)(part *);
    /* bounds; 0 or -1: none */
    size_t max_states, memory;
    long max_depth;
    int every, progress;
};

void box_add(box *b, const state *s);
void box_reserve(box *b, size_t more);
part *part_of(search *all, const state *s);
state *lookup(search *all, const state *s);
void note_found(void *context, int property, const state *source);
finding *found_at(part *p, int property, long depth);

void search_run(search *all);
size_t search_waiting(const search *all);

/* The least shortest trace to the first violation of a property: the start's number, then instances. */
typedef struct {
    long length;
    long start;
    uint32_t *steps;
} trace;

trace trace_to_property(search *all, int property);
trace trace_to_witness(search *all, unsigned witness);

#endif
