/* The search: a level at a time, each thread inserting the states that its part of the table owns. */
#include "search.h"

#include <stdlib.h>
#include <string.h>

enum {
    AHEAD = 12,  /* states whose slots are under way from memory */
    CLAIM = 256, /* states of a level that a thread takes at once */
};

static size_t room_for(const box *b, size_t more) {
    size_t room = b->room ? b->room : 4; /* a deep search has many boxes of few states */
    while (room < b->used + more) room *= 2;
    return room;
}

/* Room for so many in all, if not more; 0 where memory does not allow. */
static int box_grow(box *b, size_t room) {
    if (room <= b->room) return 1;
    state *items = realloc(b->items, room * sizeof *items);
    if (items == NULL) return 0;
    b->items = items;
    b->room = room;
    return 1;
}

void box_reserve(box *b, size_t more) {
    if (b->used + more > b->room && !box_grow(b, room_for(b, more))) no_memory();
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

/* Whether the state was new to the part's table. */
static int insert_one(part *p, const state *s, uint64_t hash, word tag) {
    state *at = table_find(&p->seen, s, hash);
    if (at->w[0] & TAKEN) return 0;
    if (at >= p->seen.slots + p->seen.room + SPILL - 2) fatal("the table of states is full at its end");
    *at = *s;
    at->w[0] |= TAKEN | tag;
    p->seen.used++;
    return 1;
}

/* The states of a batch enter the part's table, each slot fetched ahead of its use. */
static void insert_batch(part *p, batch *b, word tag) {
    const table *seen = &p->seen;
    for (size_t i = 0; i < b->used + AHEAD; i++) {
        if (i < b->used) __builtin_prefetch(seen->slots + place_of(seen, b->items[i].hash), 1, 1);
        if (i < AHEAD) continue;
        hashed *now = &b->items[i - AHEAD];
        now->hash = (uint64_t)insert_one(p, &now->s, now->hash, tag);
    }
}

/* The successors go to the parts that own them, but those that went there a moment ago: neighbours of a level
 * have most of theirs in common. Written without a branch on that, for nothing foretells it. */
static inline void sift(part *p, outlet *out, unsigned owners) {
    size_t used[MOST_THREADS] = {0}, all = 0;
    for (size_t i = 0; i < p->fresh.used; i++) {
        const state *s = &p->fresh.items[i];
        uint64_t hash = hash_of(s);
        state *last = &p->recent[hash & (RECENT - 1)];
        unsigned owner = owner_of(hash, owners);
        hashed *to = &out->to[owner].items[used[owner]];
        to->hash = hash;
        to->s = *s;
        out->order[all] = (unsigned char)owner;
        int other = !(last->w[0] & TAKEN) | !same_state(last, s);
        used[owner] += (size_t)other;
        all += (size_t)other;
        *last = *s;
        last->w[0] |= TAKEN;
    }
    for (unsigned o = 0; o < owners; o++) out->to[o].used = used[o];
    out->used = all;
}

/* Whether there was something left to claim: of the part's own share of the level, else of another's. */
static int claim(part *p) {
    for (unsigned i = 0; i < p->all->threads; i++) {
        part *from = &p->all->parts[(p->number + i) % p->all->threads];
        size_t used = from->level.used;
        if (__atomic_load_n(&from->taken, __ATOMIC_RELAXED) >= used) continue;
        size_t begin = __atomic_fetch_add(&from->taken, CLAIM, __ATOMIC_RELAXED);
        if (begin >= used) continue;
        p->at = from->level.items + begin;
        p->end = from->level.items + (used - begin < CLAIM ? used : begin + CLAIM);
        return 1;
    }
    return 0;
}

static void expand_one(part *p, const state *s, state **to) {
    int on;
    *to = model_expand(s, *to, &p->count, &on, note_found, p);
    if (!on) {
        int stays = model_terminal(s);
        if (stays == 0) note_found(p, DEADLOCK, s);
        if (stays == 2 && found_at(p, AT_FAULT, p->all->depth)) box_add(&p->found[AT_FAULT].states, s);
    }
    if (p->count.at_fault) {
        p->count.at_fault = 0;
        note_found(p, AT_FAULT, s);
    }
}

static void expand_some(part *p, outlet *out) {
    state *to = p->fresh.items, *full = to + p->all->batch;
    for (out->expanded = 0; to < full && !p->no_room; out->expanded++) {
        if (p->at == p->end && !claim(p)) break;
        expand_one(p, p->at++, &to);
    }
    p->fresh.used = (size_t)(to - p->fresh.items);
    if (p->all->threads == 1) sift(p, out, 1);
    else sift(p, out, p->all->threads);
    out->more = p->at < p->end || __atomic_load_n(&p->taken, __ATOMIC_RELAXED) < p->level.used;
    out->full = p->no_room != NULL;
}

/* What the part holds, in bytes: all that grows with the search. */
static size_t held(const part *p) {
    size_t states = p->level.room + p->next.room;
    for (const finding *f = p->found; f < p->found + ALL_PROPERTIES; f++)
        states += f->states.room + f->sources.room;
    return p->seen.mapped + states * sizeof(state);
}

/* Room for what comes to the table and for what comes back, within the part's share of the memory: 1, or why
 * there is none. What comes back has room all the same, if no more than it needs: others may have had some. */
static int reserve(part *p, size_t coming, size_t back) {
    size_t own = held(p), share = p->all->memory / p->all->threads, wanted = room_for(&p->next, back);
    int room = table_reserve(&p->seen, coming, &own, share);
    own += (wanted - p->next.room) * sizeof(state);
    if (room > 0 && share != 0 && own > share) room = MEMORY_FULL;
    return box_grow(&p->next, room > 0 ? wanted : p->next.used + back) ? room : MEMORY_REFUSED;
}

static void insert_all(part *p, int turn) {
    search *all = p->all;
    word tag = (word)((all->depth + 1) & 3) << LEVEL_SHIFT;
    size_t coming = 0;
    for (unsigned from = 0; from < all->threads; from++)
        coming += all->parts[from].out[turn].to[p->number].used;
    int room = reserve(p, coming, p->out[turn].used + 1);
    if (room <= 0) p->no_room = room == MEMORY_FULL ? "memory" : "refused";
    for (unsigned from = 0; from < all->threads; from++) {
        batch *b = &all->parts[from].out[turn].to[p->number];
        if (room > 0) insert_batch(p, b, tag);
        else for (size_t i = 0; i < b->used; i++) b->items[i].hash = 0;
    }
}

/* The new ones of what was put out, in its order, join the next level: neighbours stay neighbours. */
static void collect(part *p, outlet *out) {
    size_t seen[MOST_THREADS] = {0}, used = p->next.used;
    if (used + out->used >= p->next.room) out->used = 0; /* memory was refused: the search ends without them */
    for (size_t i = 0; i < out->used; i++) {
        unsigned owner = out->order[i];
        const hashed *back = &out->to[owner].items[seen[owner]++];
        p->next.items[used] = back->s;
        used += back->hash;
    }
    p->next.used = used;
    out->used = 0;
}

static void meet(search *all) {
    if (all->threads > 1) meeting_wait(&all->meeting);
}

/* The level is expanded and what it leads to inserted, a batch at a time. Threads meet once a batch, between
 * the two: whoever comes to the next meeting has read what was put out before this one. */
static void search_level(part *p) {
    search *all = p->all;
    for (int turn = 0;; turn = 1 - turn) {
        int more = 0, full = 0;
        expand_some(p, &p->out[turn]);
        meet(all);
        for (unsigned t = 0; t < all->threads; t++) {
            more |= all->parts[t].out[turn].more;
            full |= all->parts[t].out[turn].full;
        }
        collect(p, &p->out[1 - turn]);
        p->lost = p->out[turn].expanded + (full ? p->out[1 - turn].expanded : 0);
        if (full) {
            p->out[turn].used = 0;
            return;
        }
        insert_all(p, turn);
        if (more) continue;
        meet(all);
        collect(p, &p->out[turn]);
        return;
    }
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
        meeting_wait(&p->all->meeting);
        if (p->all->quit) return NULL;
        p->all->job(p);
        meeting_wait(&p->all->meeting);
    }
}

static void everyone(search *all, void (*job)(part *)) {
    if (all->threads == 1) {
        job(&all->parts[0]);
        return;
    }
    all->job = job;
    meeting_wait(&all->meeting);
    job(&all->parts[0]);
    meeting_wait(&all->meeting);
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

/* States of the level whose successors are not all in the table. */
static size_t not_expanded(const search *all) {
    size_t states = 0;
    for (unsigned t = 0; t < all->threads; t++) {
        const part *p = &all->parts[t];
        states += p->taken < p->level.used ? p->level.used - p->taken : 0;
        states += (size_t)(p->end - p->at) + p->lost;
    }
    return states;
}

size_t search_waiting(const search *all) {
    size_t waiting = all->left;
    for (unsigned t = 0; t < all->threads; t++) waiting += all->parts[t].level.used;
    return waiting;
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
        p->next.used = p->taken = p->lost = 0;
        p->at = p->end = NULL;
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
        meeting_open(&all->meeting, all->threads);
        for (unsigned t = 1; t < all->threads; t++)
            if (pthread_create(&threads[t], NULL, work, &all->parts[t])) no_memory();
    }
    all->depth = -1;
    for (size_t i = 0; i < all->starts.used; i++) {
        const state *s = &all->starts.items[i];
        part *p = part_of(all, s);
        if (table_reserve(&p->seen, 1, &(size_t){0}, 0) <= 0) no_memory();
        box_reserve(&p->next, 1);
        if (insert_one(p, s, hash_of(s), 0)) p->next.items[p->next.used++] = *s;
    }
    while (next_level(all) && (all->stopped = stopped(all)) == NULL) {
        if (all->progress) report_progress(all);
        everyone(all, search_level);
        for (unsigned t = 0; t < all->threads; t++)
            if (all->parts[t].no_room) all->no_room = all->parts[t].no_room;
        if (all->no_room) all->left = not_expanded(all);
    }
    if (all->no_room) all->stopped = all->no_room;
    all->quit = 1;
    if (all->threads > 1) {
        meeting_wait(&all->meeting);
        for (unsigned t = 1; t < all->threads; t++) pthread_join(threads[t], NULL);
    }
}
