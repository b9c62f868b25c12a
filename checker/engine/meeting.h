/* Where the threads of a search wait for each other.
 *
 * They meet after every batch, and mostly within microseconds: to sleep and be woken takes longer than that, so whoever
 * is early looks on for a while first. Then it sleeps, for threads may outnumber the cores. */
#ifndef FALSEWORK_MEETING_H
#define FALSEWORK_MEETING_H

#include <pthread.h>
#include <unistd.h>

typedef struct {
    unsigned expected, arrived, turn, looks;
    pthread_mutex_t lock;
    pthread_cond_t turned;
} meeting;

enum { LOOKS = 1 << 14 }; /* some hundred microseconds */

static inline void meeting_open(meeting *m, unsigned expected) {
    m->expected = expected;
    m->arrived = m->turn = 0;
    m->looks = (long)expected <= sysconf(_SC_NPROCESSORS_ONLN) ? LOOKS : 0; /* else a look keeps another from coming */
    pthread_mutex_init(&m->lock, NULL);
    pthread_cond_init(&m->turned, NULL);
}

static inline void look_away(void) {
#if defined(__x86_64__) || defined(__i386__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    __asm__ volatile("yield");
#endif
}

/* Returns once all are here. What each wrote before, all may read after. */
static inline void meeting_wait(meeting *m) {
    unsigned turn = __atomic_load_n(&m->turn, __ATOMIC_RELAXED);
    if (__atomic_add_fetch(&m->arrived, 1, __ATOMIC_ACQ_REL) == m->expected) {
        __atomic_store_n(&m->arrived, 0, __ATOMIC_RELAXED);
        pthread_mutex_lock(&m->lock);
        __atomic_store_n(&m->turn, turn + 1, __ATOMIC_RELEASE);
        pthread_cond_broadcast(&m->turned);
        pthread_mutex_unlock(&m->lock);
        return;
    }
    for (unsigned looks = 0; looks < m->looks; looks++) {
        if (__atomic_load_n(&m->turn, __ATOMIC_ACQUIRE) != turn) return;
        look_away();
    }
    pthread_mutex_lock(&m->lock);
    while (__atomic_load_n(&m->turn, __ATOMIC_ACQUIRE) == turn) pthread_cond_wait(&m->turned, &m->lock);
    pthread_mutex_unlock(&m->lock);
}

#endif
