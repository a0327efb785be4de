/* SPDX-License-Identifier: MIT
 * Simulated threads: coroutines of one real thread, a scheduler that draws the
 * next one from a seed, and time that only passes when it is told to.
 *
 * The core is compiled with hooks.h, which makes each of its operations on
 * shared words, and each call that could block, a schedule point.  Whatever
 * happens in a schedule follows from its seed alone.
 *
 * Three strategies.  Random: after some steps (a mean that the seed chooses,
 * from 1 to some hundred) any runnable thread goes on.  PCT: the runnable
 * thread of the highest priority goes on, and at d points chosen beforehand the
 * running one falls behind all others; it finds a bug that needs d of these
 * with a probability that can be stated (Burckhardt, Kothari, Musuvathi,
 * Nagarakatte, "A randomized scheduler with probabilistic guarantees of finding
 * bugs", 2010).  Delays: a thread goes on until it waits, and then the next
 * one, except at the few points that the seed names; nothing else is left to
 * chance, so all schedules with a number of delays can be tried one by one
 * (Emmi, Qadeer, Rakamaric, "Delay-bounded scheduling", 2011).
 */
#ifndef SIM_SIM_H
#define SIM_SIM_H

#include <pthread.h>
#include <sched.h>
#include <stdbool.h>
#include <stdint.h>
#include <time.h>

enum sim_strategy { SIM_MIXED, SIM_RANDOM, SIM_PCT, SIM_DELAYS };

/* For SIM_DELAYS a seed is a list of delays, the first one in its lowest bits.
 * A delay is a point, counted from the one before it, or from the beginning of
 * the search, and how many runnable threads are passed over there. */
#define SIM_DELAYS_MAX 4

static inline uint64_t
sim_delay(unsigned place, uint64_t point, unsigned threads)
{
	return (point << 3 | threads) << 16 * place;
}

struct sim_options {
	uint64_t seed;
	const char *plan; /* its name, for a failure's last line, or NULL */
	enum sim_strategy strategy;
	uint64_t steps_max; /* more is a failure: something turns in circles */
	bool trace;         /* print every step as it is taken */
	/* No preemption, nothing by chance, and notes are printed: for golden
	 * traces. */
	bool single;
	/* What the last lines of a failure say about the state; may be NULL. */
	void (*describe)(void);
	/* Called while no thread can run, before time moves on; may be NULL. */
	void (*idle)(void);
};

/* Runs main(arg) as the first thread; returns when it does.  All threads that
 * it started must have ended. */
void sim_run(
    const struct sim_options *options, void *(*main)(void *arg), void *arg);

/* Steps taken by the present schedule. */
uint64_t sim_steps(void);
uint64_t sim_now_ns(void);
/* Of every step of all schedules so far: the same seeds, the same digest. */
uint64_t sim_digest(void);

/* Begins or ends the part of a schedule in which points for delays are counted:
 * those at which several threads could go on. */
void sim_search(bool on);
/* The number of threads of which one was chosen at the seed's last delay; 0 if
 * the schedule ended before that. */
unsigned sim_choices(void);

/* From the seed, for whatever a schedule has to decide. */
uint32_t sim_random(uint32_t n); /* 0 to n - 1 */

/* Prints what is wrong, the seed, the last steps and the state, and ends the
 * process with status 1. */
_Noreturn void sim_fail(const char *fmt, ...)
    __attribute__((format(printf, 1, 2)));

/* A line in the trace, beside those of the steps. */
void sim_note(const char *what, int64_t value);

/* The calling thread is known by this name and number from here on; role, if
 * not NULL, is a word that says what it does, as names has it. */
void sim_call_me(const char *name, unsigned number, const uint32_t *role,
    const char *(*role_name)(uint32_t role));

/* Returns the role of the calling thread as sim_call_me has named it, or NULL.
 */
const char *sim_role(void);

/* The number of the calling thread among those of the schedule, from 0. */
unsigned sim_self(void);
/* Threads that are blocked on this address. */
unsigned sim_blocked_on(const void *address);

void sim_sleep(uint64_t ns);

/* Whether threads may return from a higher nice value; at first they may. */
void sim_let_return(bool may);
/* Whether the thread, 0: the calling one, is in SCHED_IDLE. */
bool sim_is_idle(int tid);

/* While paused there are no schedule points and no steps: for checks. */
void sim_pause(bool paused);

/* For hooks.h. */
extern int64_t sim_budget;
void sim_point_slow(void);
void sim_record(const char *op, const char *function, int line);

static inline void
sim_point(const char *op, const char *function, int line)
{
	if (--sim_budget <= 0)
		sim_point_slow();
	sim_record(op, function, line);
}

void sim_mutex_init(pthread_mutex_t *mutex);
void sim_mutex_lock(pthread_mutex_t *mutex, const char *function, int line);
void sim_mutex_unlock(pthread_mutex_t *mutex);
int sim_cond_wait(pthread_cond_t *cond, pthread_mutex_t *mutex,
    const struct timespec *end, const char *function, int line);
void sim_cond_signal(pthread_cond_t *cond);
void sim_cond_broadcast(pthread_cond_t *cond);
int sim_thread_create(pthread_t *id, void *(*main)(void *arg), void *arg);
void sim_thread_join(pthread_t id);
void sim_yield(const char *function, int line);
int sim_cpus(cpu_set_t *cpus);
/* The time, or 0 for a clock that stands still. */
int sim_clock(struct timespec *ts, bool passes);
/* tid 0: the calling thread. */
int sim_set_class(int tid, int class, const char *function, int line);
int sim_set_nice(int tid, int nice, const char *function, int line);
int sim_nice(int tid);
long sim_syscall(const char *function, int line, long number, ...);

#endif
