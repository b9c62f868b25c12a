/* Two-phase commit searched by hand: one word a state, breadth first, one thread, the slots fetched a batch
 * ahead. MANAGERS LOG2_SLOTS: prints the states and transitions. It knows no traces, no coverage and no
 * growth: the table is as large as it is told to be.
 *
 * A state, from below: two bits a manager (0 works, 1 is prepared, 2 has committed, 3 has aborted), then a bit
 * each for whom the coordinator has heard, a bit each for the votes that are under way, and the orders to
 * commit and to abort. */
#define _GNU_SOURCE
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <time.h>

typedef uint64_t word;

enum { BATCH = 256, MOST_STEPS = 64 };
#define TAKEN (1ULL << 63)

static unsigned managers;
static word *slots, mask, lows, everyone;
static unsigned shift;

static void *zeroes(size_t words) {
    const int flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE;
    void *made = mmap(NULL, words * 8, PROT_READ | PROT_WRITE, flags, -1, 0);
    if (made == MAP_FAILED) exit(1);
    madvise(made, words * 8, MADV_HUGEPAGE);
    return made;
}

static inline word place(word s) {
    s ^= s >> 30;
    s *= 0xBF58476D1CE4E5B9ULL;
    s ^= s >> 27;
    s *= 0x94D049BB133111EBULL;
    return (s ^ s >> 31) >> shift;
}

/* The successors of s from `out` on; answers where they end. */
static inline word *expand(word s, word *out) {
    const word heard = s >> 2 * managers & everyone, votes = s >> 3 * managers & everyone;
    const word commit = 1ULL << 4 * managers, abandon = commit << 1;
    const int is_open = !(s & (commit | abandon));
    if (is_open && heard == everyone) *out++ = s | commit;
    if (is_open) *out++ = s | abandon;
    for (unsigned i = 0; i < managers; i++) {
        const word both = 3ULL << 2 * i;
        if (is_open && votes >> i & 1) *out++ = s | 1ULL << (2 * managers + i);
        if (!(s & both)) {
            *out++ = s | 1ULL << 2 * i | 1ULL << (3 * managers + i);
            *out++ = s | both;
        }
        if (s & commit) *out++ = (s & ~both) | 2ULL << 2 * i;
        if (s & abandon) *out++ = s | both;
    }
    return out;
}

static inline int agrees(word s) {
    const word high = s >> 1 & lows;
    return !(high & s) || !(high & ~s);
}

/* Whether the state is new, which it is no longer afterwards. */
static inline int insert(word s, word at) {
    for (; slots[at]; at = (at + 1) & mask)
        if (slots[at] == (s | TAKEN)) return 0;
    slots[at] = s | TAKEN;
    return 1;
}

int main(int argc, char **argv) {
    if (argc != 3) return 2;
    managers = (unsigned)atoi(argv[1]);
    const unsigned bits = (unsigned)atoi(argv[2]);
    shift = 64 - bits;
    mask = (1ULL << bits) - 1;
    everyone = (1ULL << managers) - 1;
    lows = ((1ULL << 2 * managers) - 1) & 0x5555555555555555ULL;
    slots = zeroes(1ULL << bits);
    word *level = zeroes(1ULL << bits), *next = zeroes(1ULL << bits);
    static word out[BATCH + MOST_STEPS], places[BATCH + MOST_STEPS];
    size_t waiting = 1, states = 1, transitions = 0, broken = 0;
    insert(level[0] = 0, place(0));
    while (waiting) {
        size_t found = 0;
        for (size_t done = 0; done < waiting;) {
            word *end = out;
            while (done < waiting && end < out + BATCH) {
                word *begin = end;
                end = expand(level[done++], end);
                for (; begin < end; begin++)
                    __builtin_prefetch(&slots[places[begin - out] = place(*begin)], 1, 1);
            }
            transitions += (size_t)(end - out);
            for (word *s = out; s < end; s++) {
                if (!insert(*s, places[s - out])) continue;
                broken += !agrees(*s);
                next[found++] = *s;
            }
        }
        word *swapped = level;
        level = next;
        next = swapped;
        waiting = found;
        states += found;
    }
    if (broken) return 3;
    const double seconds = (double)clock() / CLOCKS_PER_SEC;
    printf("{\"states\": %zu, \"transitions\": %zu, \"search\": %.4f}\n", states, transitions, seconds);
    return 0;
}
