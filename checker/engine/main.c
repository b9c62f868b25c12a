/* The program around a search: what it is asked on the command line and on its input, and one line of JSON. */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#ifdef __linux__
#include <sys/prctl.h>
#endif

#include "search.h"

_Noreturn void fatal(const char *why) {
    fprintf(stderr, "fatal: %s\n", why);
    exit(3);
}

_Noreturn void no_memory(void) {
    fprintf(stderr, "out of memory\n");
    exit(4);
}

/* Whoever started the search may be killed: nobody would read the result then. */
static void end_with_parent(void) {
#ifdef __linux__
    pid_t parent = getppid();
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent) exit(3);
#endif
}

/* So many zeroes, on cache lines that nothing else is on. */
static void *counters(size_t n) {
    size_t bytes = (n * sizeof(uint64_t) / LINE + 1) * LINE;
    void *made = aligned_alloc(LINE, bytes);
    if (made == NULL) no_memory();
    return memset(made, 0, bytes);
}

static void open_outlet(outlet *out, unsigned owners, size_t most) {
    out->to = counters(owners * sizeof(batch) / sizeof(uint64_t));
    out->order = malloc(most);
    if (out->order == NULL) no_memory();
    for (unsigned o = 0; o < owners; o++) {
        out->to[o].items = malloc(most * sizeof(hashed));
        if (out->to[o].items == NULL) no_memory();
    }
}

static void open_part(search *all, unsigned number) {
    part *p = &all->parts[number];
    p->all = all;
    p->number = number;
    if (!table_open(&p->seen, 1 << 12)) no_memory();
    size_t most = all->batch + model_instances + 1;
    box_reserve(&p->fresh, most);
    p->recent = counters(RECENT * WORDS);
    for (int turn = 0; turn < 2; turn++) open_outlet(&p->out[turn], all->threads, most);
    p->count.fired = counters(model_instances);
    p->count.stayed = counters(model_instances);
    p->count.cut = counters(model_instances);
    p->count.cuts = counters(model_cuts);
    p->count.premises = counters(model_premises);
    p->count.broken = counters(2 * ALL_PROPERTIES);
    p->found = counters(ALL_PROPERTIES * sizeof(finding) / sizeof(uint64_t));
    p->witnessed = counters(model_witnesses);
    for (unsigned f = 0; f < ALL_PROPERTIES; f++) p->found[f].depth = -1;
    for (unsigned w = 0; w < model_witnesses; w++) p->witnessed[w] = -1;
}

/* The initial states: their number, then their words, in hexadecimal. */
static void read_starts(search *all) {
    size_t n;
    if (scanf("%zu", &n) != 1) fatal("no initial states were given");
    for (size_t i = 0; i < n; i++) {
        state s;
        for (int k = 0; k < WORDS; k++) {
            unsigned long long w;
            if (scanf("%llx", &w) != 1) fatal("an initial state was cut short");
            s.w[k] = w;
        }
        box_add(&all->starts, &s);
    }
}

static uint64_t sum(const search *all, size_t field, size_t at) {
    uint64_t total = 0;
    for (unsigned t = 0; t < all->threads; t++)
        total += (*(uint64_t *const *)((const char *)&all->parts[t].count + field))[at];
    return total;
}

static void print_sums(const search *all, const char *name, size_t field, size_t n) {
    printf("\"%s\":[", name);
    for (size_t i = 0; i < n; i++) printf(i ? ",%llu" : "%llu", (unsigned long long)sum(all, field, i));
    printf("],");
}

static void print_trace(const char *key, unsigned number, trace found, int *comma) {
    if (found.length < 0) return;
    printf("%s{\"%s\":%u,\"start\":%ld,\"steps\":[", *comma ? "," : "", key, number, found.start);
    for (long i = 0; i < found.length; i++) printf(i ? ",%u" : "%u", found.steps[i]);
    printf("]}");
    *comma = 1;
    free(found.steps);
}

/* One line, whole or not at all: what waits, what was fired, and the levels that no line told before. */
void report_progress(const search *all) {
    static time_t last;
    static size_t told;
    time_t now = time(NULL);
    if (now == last) return;
    last = now;
    uint64_t fired = 0;
    for (unsigned i = 0; i < model_instances; i++) fired += sum(all, offsetof(counts, fired), i);
    fprintf(stderr, "progress %zu %llu", search_waiting(all), (unsigned long long)fired);
    for (; told < all->levels; told++) fprintf(stderr, " %llu", (unsigned long long)all->level_sizes[told]);
    fprintf(stderr, "\n");
}

static void print_result(search *all, const char *witnesses) {
    printf("{\"states\":%zu,\"levels\":[", all->states);
    for (size_t i = 0; i < all->levels; i++) printf(i ? ",%llu" : "%llu", (unsigned long long)all->level_sizes[i]);
    printf("],");
    print_sums(all, "fired", offsetof(counts, fired), model_instances);
    print_sums(all, "stayed", offsetof(counts, stayed), model_instances);
    print_sums(all, "cut", offsetof(counts, cut), model_instances);
    print_sums(all, "cuts", offsetof(counts, cuts), model_cuts);
    print_sums(all, "premises", offsetof(counts, premises), model_premises);
    printf("\"witnesses\":[");
    for (unsigned w = 0; w < model_witnesses; w++) printf(w ? ",%ld" : "%ld", all->parts[0].witnessed[w]);
    printf("],\"stopped\":");
    printf(all->stopped ? "\"%s\"" : "null", all->stopped);
    printf(",\"waiting\":%zu,\"found\":[", search_waiting(all));
    int comma = 0;
    for (unsigned f = 0; f < ALL_PROPERTIES; f++) print_trace("property", f, trace_to_property(all, (int)f), &comma);
    printf("],\"reached\":[");
    comma = 0;
    for (unsigned w = 0; w < model_witnesses; w++)
        if (witnesses[0] == 'y') print_trace("witness", w, trace_to_witness(all, w), &comma);
    size_t mapped = 0;
    for (unsigned t = 0; t < all->threads; t++) mapped += all->parts[t].seen.mapped;
    printf("],\"table_bytes\":%zu,\"threads\":%u}\n", mapped, all->threads);
}

/* Successors that a thread puts out at once. Alone: what stays in the cache. Threads meet after each batch, and the
 * longer it is the less one waits for another; but every thread has room for one to each. */
static size_t batch_for(unsigned threads) {
    size_t most = threads == 1 ? 1 << 11 : threads <= 4 ? 1 << 16 : threads <= 8 ? 1 << 15 : 1 << 14;
    return WORDS <= 16 ? most : most * 16 / WORDS + 1; /* wide states take no more room than those of 16 words */
}

/* THREADS MAX_STATES MAX_DEPTH MEMORY_BYTES EVERY PROGRESS WITNESS_TRACES */
int main(int argc, char **argv) {
    if (argc == 1) return printf("%d\n", WORDS) < 0; /* asked whether it runs at all */
    if (argc != 8) fatal("seven arguments are expected");
    static char line[1 << 16];
    setvbuf(stderr, line, _IOLBF, sizeof line);
    end_with_parent();
    search all = {0};
    all.threads = (unsigned)strtoul(argv[1], NULL, 10);
    if (all.threads < 1 || all.threads > MOST_THREADS) fatal("between 1 and 64 threads are expected");
    all.max_states = strtoull(argv[2], NULL, 10);
    all.max_depth = strtol(argv[3], NULL, 10);
    all.memory = strtoull(argv[4], NULL, 10);
    all.every = atoi(argv[5]);
    all.progress = atoi(argv[6]);
    all.batch = batch_for(all.threads);
    all.parts = counters(all.threads * sizeof(part) / sizeof(uint64_t));
    for (unsigned t = 0; t < all.threads; t++) open_part(&all, t);
    read_starts(&all);
    search_run(&all);
    print_result(&all, argv[7]);
    if (fflush(stdout) || ferror(stdout)) fatal("the result could not be written");
    return 0;
}
