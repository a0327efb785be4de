/* SPDX-License-Identifier: MIT
 * Force-included before every source of the core that the simulator is built
 * from: each operation that other threads could notice becomes a schedule
 * point, and what would ask the kernel asks the simulator (sim.h).
 *
 * The operation itself follows its point without another one in between, so a
 * schedule is an interleaving of whole operations: sequential consistency.
 * What weaker orders would allow is ThreadSanitizer's subject, not this one's.
 */
#ifndef SIM_HOOKS_H
#define SIM_HOOKS_H

#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/resource.h>
#include <sys/timerfd.h>
#include <time.h>
#include <unistd.h>

/* Simulated threads share the real thread whose locks would be counted. */
#undef LFPROXY_LOCK_CHECKS

#include "base/atomics.h"
#include "sim/descriptors.h"
#include "sim/sim.h"

#undef atomic_load_relaxed
#undef atomic_load_acquire
#undef atomic_load_seq
#undef atomic_store_relaxed
#undef atomic_store_release
#undef atomic_add_relaxed
#undef atomic_sub_relaxed
#undef atomic_add_acq_rel
#undef atomic_sub_acq_rel
#undef atomic_and_acq_rel
#undef atomic_or_acq_rel
#undef atomic_swap_acq_rel
#undef atomic_swap_seq
#undef atomic_cas_acq_rel
#undef atomic_cas_relaxed
#undef atomic_add_seq
#undef atomic_cas_seq
#undef atomic_bump_own
#undef cpu_relax

#define SIM_AT(op) sim_point(op, __func__, __LINE__)

/* An operation on a shared word.  The cost model (cost/cache.h) charges it to
 * the thread by where the word's cache line is. */
#ifdef SIM_COSTS
#include "sim/cost/cache.h"
#define SIM_READ(op, p)  cache_read(p)
#define SIM_WRITE(op, p) cache_write(p)
#else
#define SIM_READ(op, p)  SIM_AT(op)
#define SIM_WRITE(op, p) SIM_AT(op)
#endif

#define SIM_LOAD(p)                                                            \
	(SIM_READ("load", p), __atomic_load_n((p), __ATOMIC_SEQ_CST))
#define SIM_STORE(p, v)                                                        \
	(SIM_WRITE("store", p), __atomic_store_n((p), (v), __ATOMIC_SEQ_CST))
#define SIM_SWAP(p, v)                                                         \
	(SIM_WRITE("swap", p), __atomic_exchange_n((p), (v), __ATOMIC_SEQ_CST))
#define SIM_ADD(p, v)                                                          \
	(SIM_WRITE("add", p), __atomic_fetch_add((p), (v), __ATOMIC_SEQ_CST))
#define SIM_SUB(p, v)                                                          \
	(SIM_WRITE("sub", p), __atomic_fetch_sub((p), (v), __ATOMIC_SEQ_CST))
#define SIM_CAS(p, expected, v)                                                \
	(SIM_WRITE("cas", p), __atomic_compare_exchange_n((p), (expected),     \
	                          (v), 0, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST))

#define atomic_load_relaxed(p)      SIM_LOAD(p)
#define atomic_load_acquire(p)      SIM_LOAD(p)
#define atomic_load_seq(p)          SIM_LOAD(p)
#define atomic_store_relaxed(p, v)  SIM_STORE(p, v)
#define atomic_store_release(p, v)  SIM_STORE(p, v)
#define atomic_add_relaxed(p, v)    SIM_ADD(p, v)
#define atomic_sub_relaxed(p, v)    SIM_SUB(p, v)
#define atomic_add_acq_rel(p, v)    SIM_ADD(p, v)
#define atomic_sub_acq_rel(p, v)    SIM_SUB(p, v)
#define atomic_add_seq(p, v)        SIM_ADD(p, v)
#define atomic_swap_acq_rel(p, v)   SIM_SWAP(p, v)
#define atomic_swap_seq(p, v)       SIM_SWAP(p, v)
#define atomic_cas_acq_rel(p, e, v) SIM_CAS(p, e, v)
#define atomic_cas_relaxed(p, e, v) SIM_CAS(p, e, v)
#define atomic_cas_seq(p, e, v)     SIM_CAS(p, e, v)
#define atomic_and_acq_rel(p, v)                                               \
	(SIM_WRITE("and", p), __atomic_fetch_and((p), (v), __ATOMIC_SEQ_CST))
#define atomic_or_acq_rel(p, v)                                                \
	(SIM_WRITE("or", p), __atomic_fetch_or((p), (v), __ATOMIC_SEQ_CST))
/* A thread's own statistics decide nothing: no point. */
#define atomic_bump_own(p, v) ((void)(*(p) += (v)))
#define cpu_relax()           SIM_AT("relax")

#define pthread_mutex_init(m, attr) sim_mutex_init(m)
#define pthread_mutex_destroy(m)    ((void)(m))
#define pthread_mutex_lock(m)       sim_mutex_lock((m), __func__, __LINE__)
#define pthread_mutex_unlock(m)     sim_mutex_unlock(m)
#define pthread_cond_init(c, attr)  ((void)(c))
#define pthread_cond_destroy(c)     ((void)(c))
#define pthread_cond_signal(c)      sim_cond_signal(c)
#define pthread_cond_broadcast(c)   sim_cond_broadcast(c)
#define pthread_cond_wait(c, m)                                                \
	sim_cond_wait((c), (m), NULL, __func__, __LINE__)
#define pthread_cond_timedwait(c, m, end)                                      \
	sim_cond_wait((c), (m), (end), __func__, __LINE__)
#define pthread_create(id, attr, main, arg)                                    \
	((void)(attr), sim_thread_create((id), (main), (arg)))
#define pthread_join(id, ret)                         sim_thread_join(id)
#define pthread_sigmask(how, set, old)                ((void)(set), (void)(old))
#define pthread_setname_np(id, name)                  ((void)(name))
#define pthread_self()                                ((pthread_t)0)
#define pthread_attr_setaffinity_np(attr, size, cpus) ((void)(cpus))
#define pthread_setaffinity_np(id, size, cpus)        ((void)(cpus), 0)
#define sched_yield()                                 sim_yield(__func__, __LINE__)
#define sched_getaffinity(pid, size, cpus)            sim_cpus(cpus)
#define getrusage(who, usage)                         ((usage)->ru_nivcsw = 0, 0)
#define sched_setscheduler(tid, class, param)                                  \
	((void)(param), sim_set_class((tid), (class), __func__, __LINE__))
#define getpriority(which, who) sim_nice(who)
#define setpriority(which, who, nice)                                          \
	sim_set_nice((int)(who), (nice), __func__, __LINE__)
/* A thread's CPU time is not simulated: it stands still. */
#define clock_gettime(clock, ts)                                               \
	sim_clock((ts), (clock) != CLOCK_THREAD_CPUTIME_ID)
#define syscall(...) sim_syscall(__func__, __LINE__, __VA_ARGS__)

#define eventfd(n, flags)            sim_eventfd()
#define timerfd_create(clock, flags) sim_timerfd()
#define timerfd_settime(fd, flags, in, before)                                 \
	sim_timerfd_set((fd), (in), __func__, __LINE__)
#define epoll_create1(flags) sim_epoll()
#define epoll_ctl(set, op, fd, event)                                          \
	((void)(event), sim_epoll_add((set), (fd)))
#define epoll_wait(set, events, max, limit_ms)                                 \
	((void)(events), sim_epoll_take((set), (max), __func__, __LINE__))
#define ppoll(fds, n, limit, mask)                                             \
	sim_ppoll((fds), (n), (limit), __func__, __LINE__)
#define read(fd, bytes, n)                                                     \
	((void)(bytes), sim_read_event((fd), __func__, __LINE__))
#define write(fd, bytes, n)                                                    \
	((void)(bytes), sim_write_event((fd), __func__, __LINE__))
#define close(fd) sim_close(fd)

/* Last, for the operations in it are points by now. */
#include "lf/claim.h"

static inline enum claim_answer
sim_claim_post(struct claim *claim, uint32_t generation, uint32_t bits)
{
	static const char *const notes[] = {
	    [CLAIM_STALE] = "posts, stale, bits",
	    [CLAIM_LEFT] = "posts, left to the owner, bits",
	    [CLAIM_TAKEN] = "posts and claims, bits",
	};
	enum claim_answer answer = claim_post(claim, generation, bits);

	sim_note(notes[answer], bits);
	return answer;
}

#define claim_post sim_claim_post

#endif
