#define _GNU_SOURCE
#include "table.h"

#include <string.h>
#include <sys/mman.h>

enum { SMALL = 8 << 20 }; /* bytes */

static size_t bytes_for(size_t room) { return (room + SPILL) * sizeof(state); }

int table_open(table *t, size_t room) {
    t->room = room;
    t->used = 0;
    t->mapped = bytes_for(room);
    t->slots = mmap(NULL, t->mapped, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (t->slots == MAP_FAILED) {
        t->slots = NULL;
        return 0;
    }
#ifdef MADV_HUGEPAGE
    if (t->mapped >= 1u << 22) madvise(t->slots, t->mapped, MADV_HUGEPAGE);
#endif
    return 1;
}

void table_close(table *t) {
    if (t->slots != NULL) munmap(t->slots, t->mapped);
    t->slots = NULL;
}

static state *extend(table *t, size_t bytes) {
#ifdef __linux__
    state *moved = mremap(t->slots, t->mapped, bytes, MREMAP_MAYMOVE);
    return moved == MAP_FAILED ? NULL : moved;
#else
    state *moved = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (moved == MAP_FAILED) return NULL;
    memcpy(moved, t->slots, t->mapped);
    munmap(t->slots, t->mapped);
    return moved;
#endif
}

/* The free slot where a state belongs that is known to be absent. */
static state *free_from(const table *t, uint64_t hash) {
    state *at = t->slots + place_of(t, hash);
    while (at->w[0] & TAKEN) at++;
    return at;
}

enum { ASIDE = 4 * SPILL, MOST_ASIDE = 2 * ASIDE };
enum { BLOCK = WORDS <= 128 ? 256 : 32768 / WORDS + 1 }; /* states on the stack: at most some 256 kB */

/* Free places must be seen by a search from a state's own place on, so a state may only move up past
 * places that are already final. Near the start the distances are too small for that, and in a long
 * cluster a state's new place may lie below its old one: those few states are put aside and enter at the
 * end, when all others are final. A state is at least a third of its own place further up after growth, so
 * past ASIDE only a cluster of ASIDE / 4 places less a block holds such states; at 13/16 full the longest
 * of 10^9 well-mixed hashes is below 2,000. The hash maps states of one word one to one, so that many of
 * them near one place are made on purpose.
 *
 * Nothing enters past the end: of the states from any place on, the new table has at most as many beyond
 * its last place as the old one had, give or take one for rounding, and the last two slots of a table stay
 * free. */
static int spread(table *t, size_t old_room, state *aside) {
    state taken[BLOCK + 1];
    uint64_t hashes[BLOCK];
    size_t end = old_room + SPILL, low = end < ASIDE ? end : ASIDE, kept = 0;
    while (end > 0) {
        size_t size = end < BLOCK ? end : BLOCK, n = 0;
        end -= size;
        for (size_t i = size; i-- > 0;) { /* without a branch on what nothing foretells */
            taken[n] = t->slots[end + i];
            n += (t->slots[end + i].w[0] & TAKEN) != 0;
        }
        memset(&t->slots[end], 0, size * sizeof *taken);
        for (size_t i = 0; i < n; i++) hashes[i] = hash_of(&taken[i]);
        for (size_t i = 0; i < n; i++) {
            if (end >= low && place_of(t, hashes[i]) >= end + size) {
                *free_from(t, hashes[i]) = taken[i];
                continue;
            }
            if (kept == MOST_ASIDE) return 0;
            aside[kept++] = taken[i];
        }
    }
    for (size_t i = 0; i < kept; i++) *free_from(t, hash_of(&aside[i])) = aside[i];
    return 1;
}

/* Twice as large while that is little, then by a third: growth costs time, and empty places cost memory. */
static size_t larger(size_t room) { return bytes_for(room) < SMALL ? 2 * room : room + room / 3; }

static int too_full(const table *t, size_t more) { return (t->used + more) * 16 > t->room * 13; }

static int grow(table *t, size_t more, size_t *mapped_total, size_t limit, state *aside) {
    while (too_full(t, more)) {
        size_t room = larger(t->room), bytes = bytes_for(room), old_room = t->room;
        if (limit != 0 && *mapped_total + (bytes - t->mapped) > limit) return MEMORY_FULL;
        state *moved = extend(t, bytes);
        if (moved == NULL) return MEMORY_REFUSED;
#ifdef MADV_HUGEPAGE
        if (bytes >= 1u << 22) madvise(moved, bytes, MADV_HUGEPAGE);
#endif
        *mapped_total += bytes - t->mapped;
        t->slots = moved;
        t->mapped = bytes;
        t->room = room;
        if (!spread(t, old_room, aside)) fatal("the table of states grew out of order");
    }
    return 1;
}

int table_reserve(table *t, size_t more, size_t *mapped_total, size_t limit) {
    if (!too_full(t, more)) return 1;
    size_t bytes = MOST_ASIDE * sizeof(state);
    state *aside = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (aside == MAP_FAILED) return MEMORY_REFUSED;
    int grown = grow(t, more, mapped_total, limit, aside);
    munmap(aside, bytes);
    return grown;
}
