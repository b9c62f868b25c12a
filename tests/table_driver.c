/* Drives the table of states alone: fills it, lets it grow, and looks every state up again.
 *
 * random COUNT          drawn states
 * given                 the states on standard input, as words
 * cluster COUNT PLACE   states whose hashes all lie at that place of 2^32, beside as many drawn ones
 * It prints how many states there are, how many places, and the longest run of taken slots. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "table.h"

_Noreturn void fatal(const char *why) {
    fprintf(stderr, "fatal: %s\n", why);
    exit(3);
}

_Noreturn void no_memory(void) { exit(4); }

static void expect(int holds, const char *what) {
    if (holds) return;
    fprintf(stderr, "not so: %s\n", what);
    exit(9);
}

static uint64_t seed = 20261130;

static uint64_t draw(void) { /* xorshift: another mixture than the table's own */
    seed ^= seed << 13;
    seed ^= seed >> 7;
    seed ^= seed << 17;
    return seed;
}

/* What `mix` makes into x: each of its steps undone, the last first. */
static uint64_t unmix(uint64_t x) {
    uint64_t inverse = 1, factor = 0xD6E8FEB86659FD93ULL;
    for (int i = 0; i < 6; i++) inverse *= 2 - factor * inverse;
    x ^= x >> 32;
    x *= inverse;
    x ^= x >> 32;
    x *= inverse;
    x ^= x >> 32;
    return x;
}

static state drawn(void) {
    state s;
    for (int i = 0; i < WORDS; i++) s.w[i] = draw();
    s.w[0] &= STATE_MASK;
    return s;
}

/* A state whose hash begins with these 32 bits, and which is none of the others of another number. */
static state placed(uint32_t place, uint32_t number) {
    state s = drawn();
    for (uint64_t low = (uint64_t)number << 10;; low++) {
        uint64_t before = unmix((uint64_t)place << 32 | (low & 0xffffffffULL));
        word last = WORDS == 1 ? 0 : mix(s.w[0]);
        for (int i = 1; i < WORDS - 1; i++) last = mix(last ^ s.w[i]);
        s.w[WORDS - 1] = before ^ last;
        if (WORDS > 1 || before <= STATE_MASK) return s;
    }
}

static size_t total, limit;

/* 1 where it is new, as the search finds out. */
static int enter(table *t, const state *s, word tag) {
    int room = table_reserve(t, 1, &total, limit);
    expect(room == 1, "there is room");
    state *at = table_find(t, s, hash_of(s));
    if (at->w[0] & TAKEN) return 0;
    if (at >= t->slots + t->room + SPILL - 2) fatal("the table of states is full at its end");
    *at = *s;
    at->w[0] |= TAKEN | tag;
    t->used++;
    return 1;
}

static void fill(table *t, const state *all, size_t n) {
    size_t entered = 0;
    for (size_t i = 0; i < n; i++) entered += (size_t)enter(t, &all[i], (word)(i & 3) << LEVEL_SHIFT);
    for (size_t i = 0; i < n; i++) expect(!enter(t, &all[i], 0), "a state is entered once");
    expect(t->used == entered, "what was entered is counted");
    for (size_t i = 0; i < n; i++) {
        const state *at = table_find(t, &all[i], hash_of(&all[i]));
        expect((at->w[0] & TAKEN) && same_state(at, &all[i]), "every state is found again");
    }
}

static void count(const table *t) {
    size_t taken = 0, run = 0, longest = 0;
    for (size_t i = 0; i < t->room + SPILL; i++) {
        run = t->slots[i].w[0] & TAKEN ? run + 1 : 0;
        taken += run > 0;
        longest = run > longest ? run : longest;
    }
    expect(taken == t->used, "a state stands in one place only");
    printf("%zu %zu %zu\n", taken, t->room, longest);
}

static state *all_of(int argc, char **argv, size_t *n) {
    if (!strcmp(argv[1], "given")) {
        size_t room = 1 << 20;
        state *all = calloc(room, sizeof *all);
        *n = fread(all, sizeof *all, room, stdin);
        return all;
    }
    size_t half = strtoull(argv[2], NULL, 10);
    int clustered = argc > 3;
    *n = half * (clustered ? 2 : 1);
    state *all = calloc(*n, sizeof *all);
    for (size_t i = 0; i < *n; i++)
        all[i] = clustered && (i & 1) ? placed((uint32_t)strtoull(argv[3], NULL, 10), (uint32_t)i) : drawn();
    return all;
}

int main(int argc, char **argv) {
    size_t n;
    state *all = all_of(argc, argv, &n);
    table t;
    expect(table_open(&t, 1 << 12), "a table is opened");
    total = t.mapped;
    fill(&t, all, n);
    count(&t);
    limit = total;
    int ended = 0;
    for (size_t more = 1; ended == 0 && more < 1u << 20; more *= 2)
        ended = table_reserve(&t, more, &total, limit) - 1;
    expect(ended == MEMORY_FULL - 1, "growth ends at the limit");
    expect(total == limit && t.mapped == total, "and nothing has changed then");
    for (size_t i = 0; i < n; i++)
        expect(table_find(&t, &all[i], hash_of(&all[i]))->w[0] >= TAKEN, "nor is lost");
    table_close(&t);
    free(all);
    return 0;
}
