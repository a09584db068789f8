/* Threads that share pieces of work and sleep in between.

A piece is taken from one counter, so a thread that has lost its core delays no more than the piece in its hands. Nobody
spins for longer than SPINS: on a busy machine a spinning thread takes the core that the late one waits for. What a
piece computes never depends on who does it. */

#if defined(__has_include)
#if __has_include(<pthread.h>)
#define THREADS 1
#endif
#endif

typedef void Work(void *context, int64_t item);

#ifdef THREADS
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

#define SPINS 2000      /* about 50 us */
#define MOST_WORKERS 1023
#define BITS 20         /* of a number of items */
#define ITEMS ((1 << BITS) - 1)

static struct {
    pthread_mutex_t mutex;
    pthread_cond_t wake, done;
    pid_t process;        /* a fork has none of the threads */
    int64_t workers, sleeping, limit;
    int running, waiting; /* whether a call is under way, and whether its caller sleeps */
    uint64_t ticket;      /* which call, how many items it has, and the next one: 24, 20 and 20 bits */
    int64_t finished;     /* items */
    Work *work;
    void *context;
} pool;

INLINE void relax(int64_t spins) {
#if defined(__x86_64__) || defined(__i386__)
    __builtin_ia32_pause();
#endif
    if (spins % 256 == 255) sched_yield();
}

INLINE int64_t items_of(uint64_t ticket) { return ticket >> BITS & ITEMS; }
INLINE int64_t next_of(uint64_t ticket) { return ticket & ITEMS; }
INLINE int has_work(int64_t worker) {
    uint64_t ticket = __atomic_load_n(&pool.ticket, __ATOMIC_ACQUIRE);
    return next_of(ticket) < items_of(ticket) && worker < __atomic_load_n(&pool.limit, __ATOMIC_RELAXED);
}

/* Do items while there are any. Whoever has taken one keeps its call, and so what it reads here, alive. */
static void work_on(int64_t worker) {
    while (has_work(worker)) {
        uint64_t ticket = __atomic_load_n(&pool.ticket, __ATOMIC_ACQUIRE);
        int64_t item = next_of(ticket), items = items_of(ticket);
        if (item >= items || worker >= __atomic_load_n(&pool.limit, __ATOMIC_RELAXED)) return;
        if (!__atomic_compare_exchange_n(&pool.ticket, &ticket, ticket + 1, 0, __ATOMIC_ACQ_REL, __ATOMIC_RELAXED))
            continue;
        pool.work(pool.context, item);
        if (__atomic_add_fetch(&pool.finished, 1, __ATOMIC_ACQ_REL) == items) {
            pthread_mutex_lock(&pool.mutex);
            if (pool.waiting) pthread_cond_signal(&pool.done);
            pthread_mutex_unlock(&pool.mutex);
        }
    }
}

static void *live(void *number) {
    int64_t worker = (int64_t)(intptr_t)number;
    for (;;) {
        for (int64_t spins = 0; spins < SPINS && !has_work(worker); spins++) relax(spins);
        pthread_mutex_lock(&pool.mutex);
        pool.sleeping++;
        while (!has_work(worker)) pthread_cond_wait(&pool.wake, &pool.mutex);
        pool.sleeping--;
        pthread_mutex_unlock(&pool.mutex);
        work_on(worker);
    }
    return 0;
}

/* Have so many workers, or as many as the system gives. Signals are for the threads that were there before. */
static void start_workers(int64_t wanted) {
    if (pool.process != getpid()) {
        pthread_mutex_init(&pool.mutex, 0);
        pthread_cond_init(&pool.wake, 0);
        pthread_cond_init(&pool.done, 0);
        pool.process = getpid();
        pool.workers = pool.sleeping = pool.waiting = 0;
        __atomic_store_n(&pool.ticket, 0, __ATOMIC_RELEASE);
    }
    sigset_t every, before;
    sigfillset(&every);
    if (pool.workers >= wanted || pthread_sigmask(SIG_SETMASK, &every, &before)) return;
    while (pool.workers < wanted) {
        pthread_t thread;
        if (pthread_create(&thread, 0, live, (void *)(intptr_t)(pool.workers + 1))) break;
        pthread_detach(thread);
        pool.workers++;
    }
    pthread_sigmask(SIG_SETMASK, &before, 0);
}

/* Do all items with at most so many threads, this one among them. If there is something to do meanwhile, this one does
that first. */
static void share_meanwhile(int64_t threads, int64_t items, Work *work, void *context, void (*meanwhile)(void)) {
    static pid_t holder; /* a fork may have happened during a call */
    int64_t limit = smaller(smaller(threads, items), MOST_WORKERS + 1);
    int free = 0;
    if (holder != getpid()) __atomic_store_n(&pool.running, 0, __ATOMIC_RELEASE), holder = getpid();
    if (limit < 2 || items > ITEMS ||
        !__atomic_compare_exchange_n(&pool.running, &free, 1, 0, __ATOMIC_ACQ_REL, __ATOMIC_RELAXED)) {
        if (meanwhile) meanwhile();
        for (int64_t item = 0; item < items; item++) work(context, item);
        return;
    }
    start_workers(limit - 1);
    uint64_t call = (pool.ticket >> 2 * BITS) + 1;
    pool.work = work;
    pool.context = context;
    __atomic_store_n(&pool.finished, 0, __ATOMIC_RELAXED);
    __atomic_store_n(&pool.limit, limit, __ATOMIC_RELAXED);
    __atomic_store_n(&pool.ticket, call << 2 * BITS | (uint64_t)items << BITS, __ATOMIC_RELEASE);
    pthread_mutex_lock(&pool.mutex);
    if (pool.sleeping) pthread_cond_broadcast(&pool.wake);
    pthread_mutex_unlock(&pool.mutex);
    if (meanwhile) meanwhile();
    work_on(0);
    for (int64_t spins = 0; spins < SPINS && __atomic_load_n(&pool.finished, __ATOMIC_ACQUIRE) < items; spins++)
        relax(spins);
    pthread_mutex_lock(&pool.mutex);
    pool.waiting = 1;
    while (__atomic_load_n(&pool.finished, __ATOMIC_ACQUIRE) < items) pthread_cond_wait(&pool.done, &pool.mutex);
    pool.waiting = 0;
    pthread_mutex_unlock(&pool.mutex);
    __atomic_store_n(&pool.running, 0, __ATOMIC_RELEASE);
}
#else
static void share_meanwhile(int64_t threads, int64_t items, Work *work, void *context, void (*meanwhile)(void)) {
    (void)threads;
    if (meanwhile) meanwhile();
    for (int64_t item = 0; item < items; item++) work(context, item);
}
#endif

static void share(int64_t threads, int64_t items, Work *work, void *context) {
    share_meanwhile(threads, items, work, context, 0);
}
