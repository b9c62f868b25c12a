/* The search: a level at a time, each thread inserting the states that its part of the table owns. */
#include "search.h"

#include <stdlib.h>
#include <string.h>

enum { AHEAD = 12 }; /* states whose slots are under way from memory */

static size_t room_for(const box *b, size_t more) {
    size_t room = b->room ? b->room : 1024;
    while (room < b->used + more) room *= 2;
    return room;
}

/* Room for so many more; 0 where memory does not allow. */
static int box_grow(box *b, size_t more) {
    size_t room = room_for(b, more);
    if (room == b->room) return 1;
    state *items = realloc(b->items, room * sizeof *items);
    if (items == NULL) return 0;
    b->items = items;
    b->room = room;
    return 1;
}

void box_reserve(box *b, size_t more) {
    if (b->used + more > b->room && !box_grow(b, more)) no_memory();
}

void box_add(box *b, const state *s) {
    box_reserve(b, 1);
    b->items[b->used++] = *s;
}

part *part_of(search *all, const state *s) {
    return &all->parts[owner_of(hash_of(s), all->threads)];
}

state *lookup(search *all, const state *s) {
    state *at = table_find(&part_of(all, s)->seen, s, hash_of(s));
    return at->w[0] & TAKEN ? at : NULL;
}

/* The record of the property's first violation, or NULL where it was broken earlier. */
finding *found_at(part *p, int property, long depth) {
    finding *f = &p->found[property];
    if (f->depth < 0) f->depth = depth;
    return f->depth == depth ? f : NULL;
}

void note_found(void *context, int property, const state *source) {
    part *p = context;
    long depth = p->all->depth + (property != DEADLOCK);
    finding *f = found_at(p, property, depth);
    if (f == NULL) return;
    box *into = property == DEADLOCK ? &f->states : &f->sources;
    if (into->used == 0 || !same_state(&into->items[into->used - 1], source)) box_add(into, source);
}

/* --- one level ----------------------------------------------------------------------------------- */

static void insert_one(part *p, const state *s, uint64_t hash, word tag) {
    state *at = table_find(&p->seen, s, hash);
    if (at->w[0] & TAKEN) return;
    if (at >= p->seen.slots + p->seen.room + SPILL - 2) fatal("the table of states is full at its end");
    *at = *s;
    at->w[0] |= TAKEN | tag;
    p->seen.used++;
    p->next.items[p->next.used++] = *s;
}

/* The states of a batch enter the part's table, each slot fetched ahead of its use. */
static void insert_batch(part *p, const batch *b, word tag) {
    const table *seen = &p->seen;
    for (size_t i = 0; i < b->used + AHEAD; i++) {
        if (i < b->used) __builtin_prefetch(seen->slots + place_of(seen, b->items[i].hash), 1, 1);
        if (i >= AHEAD) insert_one(p, &b->items[i - AHEAD].s, b->items[i - AHEAD].hash, tag);
    }
}

/* The successors go to the parts that own them, but those that went there a moment ago: neighbours of a level have
 * most of theirs in common. Written without a branch on that, for nothing foretells it. */
static inline void sift(part *p, unsigned owners) {
    size_t used[MOST_THREADS] = {0};
    for (size_t i = 0; i < p->fresh.used; i++) {
        const state *s = &p->fresh.items[i];
        uint64_t hash = hash_of(s);
        state *last = &p->recent[hash & (RECENT - 1)];
        unsigned owner = owner_of(hash, owners);
        hashed *to = &p->out[owner].items[used[owner]];
        to->hash = hash;
        to->s = *s;
        used[owner] += !(last->w[0] & TAKEN) | !same_state(last, s);
        *last = *s;
        last->w[0] |= TAKEN;
    }
    for (unsigned o = 0; o < owners; o++) p->out[o].used = used[o];
}

static void expand_some(part *p) {
    search *all = p->all;
    state *to = p->fresh.items, *full = to + all->batch;
    p->begun = p->done;
    while (p->done < p->level.used && to < full) {
        const state *s = &p->level.items[p->done++];
        int on;
        to = model_expand(s, to, &p->count, &on, note_found, p);
        if (!on) {
            int stays = model_terminal(s);
            if (stays == 0) note_found(p, DEADLOCK, s);
            if (stays == 2 && found_at(p, AT_FAULT, all->depth)) box_add(&p->found[AT_FAULT].states, s);
        }
        if (p->count.at_fault) {
            p->count.at_fault = 0;
            note_found(p, AT_FAULT, s);
        }
    }
    p->fresh.used = (size_t)(to - p->fresh.items);
    if (all->threads == 1) sift(p, 1);
    else sift(p, all->threads);
}

/* What the part holds, in bytes: all that grows with the search. */
static size_t held(const part *p) {
    size_t states = p->level.room + p->next.room;
    for (unsigned f = 0; f < ALL_PROPERTIES; f++) states += p->found[f].states.room + p->found[f].sources.room;
    return p->seen.mapped + states * sizeof(state);
}

/* Room for so many successors, within the part's share of the memory: 1, or why there is none. */
static int reserve(part *p, size_t coming) {
    size_t own = held(p), share = p->all->memory / p->all->threads;
    int room = table_reserve(&p->seen, coming, &own, share);
    if (room <= 0) return room;
    own += (room_for(&p->next, coming) - p->next.room) * sizeof(state);
    if (share != 0 && own > share) return MEMORY_FULL;
    return box_grow(&p->next, coming) ? 1 : MEMORY_REFUSED;
}

static void insert_all(part *p) {
    search *all = p->all;
    word tag = (word)((all->depth + 1) & 3) << LEVEL_SHIFT;
    size_t coming = 0;
    for (unsigned from = 0; from < all->threads; from++) coming += all->parts[from].out[p->number].used;
    int room = reserve(p, coming);
    if (room <= 0) {
        __atomic_store_n(&all->no_room, room == MEMORY_FULL ? "memory" : "refused", __ATOMIC_RELAXED);
        return;
    }
    for (unsigned from = 0; from < all->threads; from++) insert_batch(p, &all->parts[from].out[p->number], tag);
}

/* Counts the new states' premises and judges them; those that break something leave the level. */
static void judge_next(part *p) {
    search *all = p->all;
    long depth = all->depth + 1;
    size_t kept = 0;
    for (size_t i = 0; i < p->next.used; i++) {
        const state *s = &p->next.items[i];
        int fault = 0, broken = model_judge(s, p->count.broken, &fault);
        model_count_premises(s, &p->count);
        for (int b = 0; b < broken; b++) {
            finding *f = found_at(p, p->count.broken[b], depth);
            if (f != NULL) box_add(&f->states, s);
        }
        for (unsigned w = 0; w < model_witnesses; w++) {
            if (p->witnessed[w] >= 0 && p->witnessed[w] < depth) continue;
            int answer = model_witnessed(s, w);
            if (answer) p->witnessed[w] = depth;
            if (answer == 2) fault = 1;
        }
        if (fault) {
            finding *f = found_at(p, AT_FAULT, depth);
            if (f != NULL) box_add(&f->states, s);
        }
        if (!broken) p->next.items[kept++] = *s;
    }
    p->next.used = kept;
}

/* --- threads ------------------------------------------------------------------------------------- */

static void *work(void *context) {
    part *p = context;
    for (;;) {
        pthread_barrier_wait(&p->all->barrier);
        if (p->all->quit) return NULL;
        p->all->job(p);
        pthread_barrier_wait(&p->all->barrier);
    }
}

static void everyone(search *all, void (*job)(part *)) {
    if (all->threads == 1) {
        job(&all->parts[0]);
        return;
    }
    all->job = job;
    pthread_barrier_wait(&all->barrier);
    job(&all->parts[0]);
    pthread_barrier_wait(&all->barrier);
}

static int level_done(const search *all) {
    for (unsigned t = 0; t < all->threads; t++)
        if (all->parts[t].done < all->parts[t].level.used) return 0;
    return 1;
}

static void share_witnesses(search *all) {
    for (unsigned w = 0; w < model_witnesses; w++) {
        long least = -1;
        for (unsigned t = 0; t < all->threads; t++) {
            long d = all->parts[t].witnessed[w];
            if (d >= 0 && (least < 0 || d < least)) least = d;
        }
        for (unsigned t = 0; t < all->threads; t++) all->parts[t].witnessed[w] = least;
    }
}

size_t search_waiting(const search *all) {
    size_t waiting = 0;
    for (unsigned t = 0; t < all->threads; t++) waiting += all->parts[t].level.used - all->parts[t].done;
    return waiting + all->left;
}

/* Closes the level that was just inserted; answers whether another one is to be expanded. */
static int next_level(search *all) {
    size_t states = 0;
    everyone(all, judge_next);
    share_witnesses(all);
    all->depth++;
    for (unsigned t = 0; t < all->threads; t++) {
        part *p = &all->parts[t];
        states += p->seen.used;
        box level = p->level;
        p->level = p->next;
        p->next = level;
        p->next.used = p->done = 0;
    }
    if (states > all->states) {
        all->level_sizes = realloc(all->level_sizes, (all->levels + 1) * sizeof *all->level_sizes);
        if (all->level_sizes == NULL) no_memory();
        all->level_sizes[all->levels++] = states - all->states;
        all->states = states;
    }
    int broken = 0, fault = 0;
    for (unsigned t = 0; t < all->threads; t++)
        for (unsigned f = 0; f < ALL_PROPERTIES; f++)
            if (all->parts[t].found[f].depth >= 0) *((int)f == AT_FAULT ? &fault : &broken) = 1;
    return search_waiting(all) > 0 && !all->no_room && !fault && !(broken && !all->every);
}

static const char *stopped(const search *all) {
    if (all->no_room) return all->no_room;
    if (all->max_depth >= 0 && (long)all->levels - 1 >= all->max_depth) return "max-depth";
    return all->max_states && all->states > all->max_states ? "max-states" : NULL;
}

void report_progress(const search *all);

void search_run(search *all) {
    pthread_t threads[64];
    if (all->threads > 1) {
        pthread_barrier_init(&all->barrier, NULL, all->threads);
        for (unsigned t = 1; t < all->threads; t++)
            if (pthread_create(&threads[t], NULL, work, &all->parts[t])) fatal("a thread cannot be started");
    }
    all->depth = -1;
    for (size_t i = 0; i < all->starts.used; i++) {
        const state *s = &all->starts.items[i];
        part *p = part_of(all, s);
        if (table_reserve(&p->seen, 1, &(size_t){0}, 0) <= 0) no_memory();
        box_reserve(&p->next, 1);
        insert_one(p, s, hash_of(s), 0);
    }
    while (next_level(all) && (all->stopped = stopped(all)) == NULL) {
        if (all->progress) report_progress(all);
        while (!level_done(all) && !all->no_room) {
            everyone(all, expand_some);
            everyone(all, insert_all);
        }
        for (unsigned t = 0; t < all->threads && all->no_room; t++)
            all->left += all->parts[t].level.used - all->parts[t].begun;
    }
    if (all->no_room) all->stopped = all->no_room;
    all->quit = 1;
    if (all->threads > 1) {
        pthread_barrier_wait(&all->barrier);
        for (unsigned t = 1; t < all->threads; t++) pthread_join(threads[t], NULL);
    }
}
