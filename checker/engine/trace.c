/* Traces without parents: backwards through the levels to the start, then forwards by the least step. */
#include "search.h"

#include <stdlib.h>
#include <string.h>

/* Counts that nobody reads: what a trace executes is not counted again. */
static counts idle(void) {
    counts c = {0};
    c.fired = calloc(model_instances + 1, sizeof *c.fired);
    c.stayed = calloc(model_instances + 1, sizeof *c.stayed);
    c.cut = calloc(model_instances + 1, sizeof *c.cut);
    c.cuts = calloc(model_cuts + 1, sizeof *c.cuts);
    c.premises = calloc(model_premises + 1, sizeof *c.premises);
    c.broken = calloc(2 * ALL_PROPERTIES, sizeof *c.broken);
    if (!c.fired || !c.stayed || !c.cut || !c.cuts || !c.premises || !c.broken) no_memory();
    return c;
}

static void drop(counts *c) {
    free(c->fired), free(c->stayed), free(c->cut), free(c->cuts), free(c->premises), free(c->broken);
}

static void ignore(void *context, int property, const state *source) {
    (void)context, (void)property, (void)source;
}

static void mark(search *all, const box *b, word bit, int on) {
    for (size_t i = 0; i < b->used; i++) {
        state *at = lookup(all, &b->items[i]);
        if (at == NULL) continue;
        at->w[0] = on ? at->w[0] | bit : at->w[0] & ~bit;
    }
}

static int marked(search *all, const state *s, word bit) {
    state *at = lookup(all, s);
    return at != NULL && (at->w[0] & bit);
}

static int of_level(word first, long level) { return (first >> LEVEL_SHIFT & 3) == ((word)level & 3); }

/* --- deep searches: the states by level, so that the table is not read once for each ------------- */

enum { DEEP = 64 };

static box *listed; /* or NULL, where the table is read */

static void list(search *all, const state *s, long level) {
    state *at = lookup(all, s);
    if (at == NULL || at->w[0] & MARK_B || !of_level(at->w[0], level)) return;
    at->w[0] |= MARK_B;
    box_add(&listed[level], s);
}

/* The same search again. A state has its level modulo four and is listed where it is first met, so in its own level. */
static void list_levels(search *all) {
    listed = calloc(all->levels + 1, sizeof *listed);
    if (listed == NULL) no_memory();
    counts c = idle();
    box out = {0};
    box_reserve(&out, model_instances + 1);
    for (size_t i = 0; i < all->starts.used; i++) list(all, &all->starts.items[i], 0);
    for (long level = 0; level + 1 < (long)all->levels; level++) {
        for (size_t i = 0; i < listed[level].used; i++) {
            int on, fault = 0;
            const state *s = &listed[level].items[i];
            if (model_judge(s, c.broken, &fault)) continue;
            const state *end = model_expand(s, out.items, &c, &on, ignore, NULL);
            for (const state *k = out.items; k < end; k++) list(all, k, level + 1);
        }
    }
    free(out.items);
    drop(&c);
}

/* --- backwards ----------------------------------------------------------------------------------- */

typedef struct {
    search *all;
    word bit;
    counts c;
    box out, *into;
} reading;

static void read_state(reading *r, const state *s) {
    int on, hit = 0, fault = 0;
    const state *end = model_expand(s, r->out.items, &r->c, &on, ignore, NULL);
    for (const state *k = r->out.items; k < end && !hit; k++) hit = marked(r->all, k, r->bit);
    if (hit && model_judge(s, r->c.broken, &fault) == 0) box_add(r->into, s);
}

static void read_table(reading *r, const table *seen, long level) {
    for (size_t i = 0; i < seen->room + SPILL; i++) {
        state s = seen->slots[i];
        if (!(s.w[0] & TAKEN) || !of_level(s.w[0], level)) continue;
        s.w[0] &= STATE_MASK;
        read_state(r, &s);
    }
}

/* The unbroken states of the level with a step into the marked ones are added to `into`. */
static void predecessors(search *all, long level, word bit, box *into) {
    reading r = {all, bit, idle(), {0}, into};
    box_reserve(&r.out, model_instances + 1);
    if (listed == NULL && level > DEEP) list_levels(all);
    if (listed != NULL)
        for (size_t i = 0; i < listed[level].used; i++) read_state(&r, &listed[level].items[i]);
    else
        for (unsigned t = 0; t < all->threads; t++) read_table(&r, &all->parts[t].seen, level);
    free(r.out.items);
    drop(&r.c);
}

/* For each level up to `depth`, the states from which the remaining steps lead to the last box. */
static void backwards(search *all, box *chain, long depth) {
    for (long level = depth - 1; level >= 0; level--) {
        mark(all, &chain[level + 1], MARK_A, 1);
        predecessors(all, level, MARK_A, &chain[level]);
        mark(all, &chain[level + 1], MARK_A, 0);
    }
}

static long first_start(search *all, const box *among) {
    mark(all, among, MARK_A, 1);
    size_t i = 0;
    while (i < all->starts.used && !marked(all, &all->starts.items[i], MARK_A)) i++;
    mark(all, among, MARK_A, 0);
    if (i == all->starts.used) fatal("no start leads to the violation");
    return (long)i;
}

/* The least step from *s into the box; *s is afterwards where it led. */
static uint32_t step_into(search *all, state *s, const box *wanted, counts *c) {
    mark(all, wanted, MARK_A, 1);
    for (uint32_t i = 0; i < model_instances; i++) {
        state t;
        if (model_steps[i](s, &t, c) == FIRED && marked(all, &t, MARK_A)) {
            mark(all, wanted, MARK_A, 0);
            *s = t;
            return i;
        }
    }
    fatal("a step of the trace cannot be found again");
}

static trace walk(search *all, box *chain, long depth, long room, state *end) {
    trace found = {depth, first_start(all, &chain[0]), calloc((size_t)room + 1, sizeof(uint32_t))};
    if (found.steps == NULL) no_memory();
    counts c = idle();
    *end = all->starts.items[found.start];
    for (long level = 0; level < depth; level++) found.steps[level] = step_into(all, end, &chain[level + 1], &c);
    drop(&c);
    return found;
}

static int broke(const counts *c, int property) {
    for (int b = 0; b < c->broken_count; b++)
        if (c->broken[b] == property) return 1;
    return 0;
}

static int judged(const state *s, int property) {
    int *broken = calloc(ALL_PROPERTIES, sizeof *broken), fault = 0, hit = 0;
    if (broken == NULL) no_memory();
    int n = model_judge(s, broken, &fault);
    for (int b = 0; b < n; b++) hit |= broken[b] == property;
    free(broken);
    return property == AT_FAULT ? fault : hit;
}

/* Whether the step that was just tried breaks the property. */
static int breaks(int outcome, const counts *c, const state *after, int property) {
    if (property == DOMAIN_LEFT) return outcome == OUTSIDE;
    if (property == AT_FAULT && (outcome == FAULT || c->at_fault)) return 1;
    if (outcome != FIRED && outcome != BROKEN) return 0;
    return (outcome == BROKEN && broke(c, property)) || judged(after, property);
}

static box gathered(search *all, int property, long depth, int sources) {
    box all_of = {0};
    for (unsigned t = 0; t < all->threads; t++) {
        finding *f = &all->parts[t].found[property];
        const box *b = sources ? &f->sources : &f->states;
        for (size_t i = 0; f->depth == depth && i < b->used; i++) box_add(&all_of, &b->items[i]);
    }
    return all_of;
}

static void forget(box *chain, long count) {
    for (long level = 0; level < count; level++) free(chain[level].items);
    free(chain);
}

static trace to_states(search *all, box last, long depth) {
    box *chain = calloc((size_t)depth + 1, sizeof *chain);
    if (chain == NULL) no_memory();
    chain[depth] = last;
    backwards(all, chain, depth);
    state end;
    trace found = walk(all, chain, depth, depth, &end);
    forget(chain, depth + 1);
    return found;
}

trace trace_to_property(search *all, int property) {
    long depth = -1;
    for (unsigned t = 0; t < all->threads; t++) {
        long d = all->parts[t].found[property].depth;
        if (d >= 0 && (depth < 0 || d < depth)) depth = d;
    }
    if (depth < 0) return (trace){-1, 0, NULL};
    box states = gathered(all, property, depth, 0), last = gathered(all, property, depth, 1);
    if (depth == 0 || property == DEADLOCK || (property == AT_FAULT && last.used == 0)) {
        free(last.items);
        return to_states(all, states, depth);
    }
    box *chain = calloc((size_t)depth, sizeof *chain);
    if (chain == NULL) no_memory();
    mark(all, &states, MARK_A, 1);
    if (states.used) predecessors(all, depth - 1, MARK_A, &last);
    mark(all, &states, MARK_A, 0);
    chain[depth - 1] = last;
    backwards(all, chain, depth - 1);
    state end;
    trace found = walk(all, chain, depth - 1, depth, &end);
    counts c = idle();
    uint32_t i = 0;
    for (; i < model_instances; i++) {
        state t;
        c.at_fault = c.broken_count = 0;
        int outcome = model_steps[i](&end, &t, &c);
        if (breaks(outcome, &c, &t, property)) break;
    }
    if (i == model_instances) fatal("the last step of the trace cannot be found again");
    found.steps[depth - 1] = i;
    found.length = depth;
    drop(&c);
    free(states.items);
    forget(chain, depth);
    return found;
}

trace trace_to_witness(search *all, unsigned witness) {
    long depth = all->parts[0].witnessed[witness];
    if (depth < 0) return (trace){-1, 0, NULL};
    box last = {0};
    for (unsigned t = 0; t < all->threads; t++) {
        table *seen = &all->parts[t].seen;
        for (size_t i = 0; i < seen->room + SPILL; i++) {
            state s = seen->slots[i];
            if (!(s.w[0] & TAKEN) || (s.w[0] >> LEVEL_SHIFT & 3) != ((word)depth & 3)) continue;
            s.w[0] &= STATE_MASK;
            if (model_witnessed(&s, witness)) box_add(&last, &s);
        }
    }
    return to_states(all, last, depth);
}
