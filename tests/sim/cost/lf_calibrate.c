/* SPDX-License-Identifier: MIT
 * lf_calibrate: measures what lf_cost has to know about this machine, and
 * prints the lines of its file, but for the lab's own load and server.
 *
 * Each figure is the lower quartile of its samples: whatever else the machine
 * does only adds.  Takes two CPUs for some seconds.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "base/atomics.h"
#include "sim/cost/costs.h"

#define SAMPLES 400
#define LOOPS   20000u
#define PAIRS   64 /* connections of a client with a server, through a proxy */
#define ROUNDS  150
#define MESSAGE 64
/* Not measured: as Linux's sched_migration_cost_ns, below which an idle CPU
 * does not look for work. */
#define BALANCE_NS 500000u

static int cpus[2]; /* the first two that may be used */
static uint64_t clock_cost_ns;

static void
die(const char *what)
{
	fprintf(stderr, "lf_calibrate: %s: %s\n", what, strerror(errno));
	exit(1);
}

static uint64_t
now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * 1000000000u + (uint64_t)ts.tv_nsec;
}

static void
run_on(int cpu)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	if (sched_setaffinity(0, sizeof(set), &set) < 0)
		die("sched_setaffinity");
}

static void
find_cpus(void)
{
	cpu_set_t set;
	int n = 0;

	if (sched_getaffinity(0, sizeof(set), &set) < 0)
		die("sched_getaffinity");
	for (int c = 0; c < CPU_SETSIZE && n < 2; c++)
		if (CPU_ISSET(c, &set))
			cpus[n++] = c;
	if (n == 2)
		return;
	fprintf(stderr, "lf_calibrate: two CPUs are needed\n");
	exit(1);
}

static int
compare_samples(const void *a, const void *b)
{
	const uint64_t *x = a, *y = b;

	return *x < *y ? -1 : *x > *y;
}

static uint64_t
lower_quartile(uint64_t *samples, size_t n)
{
	qsort(samples, n, sizeof(*samples), compare_samples);
	return samples[n / 4];
}

static uint64_t
without(uint64_t ns, uint64_t part_ns)
{
	return ns > part_ns ? ns - part_ns : 0;
}

/* The time of one of LOOPS rounds of a statement. */
#define TIME_LOOP(ret, statement)                                              \
	do {                                                                   \
		uint64_t samples_[15];                                         \
                                                                               \
		for (int s_ = 0; s_ < 15; s_++) {                              \
			uint64_t from_ = now_ns();                             \
                                                                               \
			for (unsigned i_ = 0; i_ < LOOPS; i_++) {              \
				statement;                                     \
			}                                                      \
			samples_[s_] = (now_ns() - from_) * 10 / LOOPS;        \
		}                                                              \
		*(ret) = (lower_quartile(samples_, 15) + 5) / 10;              \
	} while (0)

/* -- words and lines -- */

static uint64_t word CACHE_LINE_ALIGNED;
static uint32_t futex_word CACHE_LINE_ALIGNED;
static uint64_t woken_ns CACHE_LINE_ALIGNED;

static uint64_t *
aligned_word(void)
{
	return &word;
}

static void *
pong(void *arg)
{
	(void)arg;
	run_on(cpus[1]);
	for (uint64_t i = 0; i < LOOPS * 5ull; i++) {
		while (atomic_load_acquire(&word) != 2 * i + 1)
			cpu_relax();
		atomic_store_release(&word, 2 * i + 2);
	}
	return NULL;
}

static uint64_t
measure_transfer(void)
{
	uint64_t samples[5 * LOOPS / 1000], from_ns = 0;
	pthread_t thread;

	atomic_store_relaxed(&word, 0u);
	if (pthread_create(&thread, NULL, pong, NULL) != 0)
		die("pthread_create");
	for (uint64_t i = 0; i < LOOPS * 5ull; i++) {
		if (i % 1000 == 0)
			from_ns = now_ns();
		atomic_store_release(&word, 2 * i + 1);
		while (atomic_load_acquire(&word) != 2 * i + 2)
			cpu_relax();
		if (i % 1000 == 999)
			samples[i / 1000] = (now_ns() - from_ns) / 2000;
	}
	pthread_join(thread, NULL);
	return lower_quartile(samples, sizeof(samples) / sizeof(samples[0]));
}

/* -- waking -- */

static long
futex(int op, uint32_t value)
{
	return syscall(SYS_futex, &futex_word, op, value, NULL, NULL, 0);
}

static void
spin_ns(uint64_t ns)
{
	uint64_t until_ns = now_ns() + ns;

	while (now_ns() < until_ns)
		;
}

struct sleeper {
	int cpu;
	uint64_t delay_ns[SAMPLES];
};

static void *
sleeper_main(void *arg)
{
	struct sleeper *s = arg;

	run_on(s->cpu);
	for (uint32_t i = 0; i < SAMPLES; i++) {
		while (atomic_load_acquire(&futex_word) == 2 * i)
			(void)futex(FUTEX_WAIT_PRIVATE, 2 * i);
		s->delay_ns[i] = now_ns() - atomic_load_acquire(&woken_ns);
		atomic_store_release(&futex_word, 2 * i + 2);
	}
	return NULL;
}

/* A call, for the waker, and the delay until the other thread runs. */
static void
measure_wake(int cpu, uint64_t *ret_call_ns, uint64_t *ret_delay_ns)
{
	struct sleeper s = {.cpu = cpu};
	uint64_t call_ns[SAMPLES];
	pthread_t thread;

	atomic_store_relaxed(&futex_word, 0u);
	if (pthread_create(&thread, NULL, sleeper_main, &s) != 0)
		die("pthread_create");
	for (uint32_t i = 0; i < SAMPLES; i++) {
		uint64_t from_ns;

		while (atomic_load_acquire(&futex_word) != 2 * i)
			sched_yield();
		/* The other thread sleeps by now, and its CPU does, too. */
		if (cpu == cpus[0])
			nanosleep(&(struct timespec){.tv_nsec = 50000}, NULL);
		else
			spin_ns(50000);
		from_ns = now_ns();
		atomic_store_release(&woken_ns, from_ns);
		atomic_store_release(&futex_word, 2 * i + 1);
		(void)futex(FUTEX_WAKE_PRIVATE, 1);
		call_ns[i] = without(now_ns() - from_ns, clock_cost_ns);
	}
	pthread_join(thread, NULL);
	*ret_call_ns = lower_quartile(call_ns, SAMPLES);
	*ret_delay_ns = lower_quartile(s.delay_ns, SAMPLES);
}

static void
take_turns(uint32_t mine)
{
	for (uint32_t i = 0; i < LOOPS; i++) {
		uint32_t value;

		while ((value = atomic_load_acquire(&futex_word)) % 2 != mine)
			(void)futex(FUTEX_WAIT_PRIVATE, value);
		atomic_store_release(&futex_word, value + 1);
		(void)futex(FUTEX_WAKE_PRIVATE, 1);
	}
}

static void *
switch_main(void *arg)
{
	(void)arg;
	run_on(cpus[0]);
	take_turns(1);
	return NULL;
}

/* Two threads on one CPU, each waking the other and going to sleep. */
static uint64_t
measure_switch(void)
{
	pthread_t thread;
	uint64_t from_ns;

	atomic_store_relaxed(&futex_word, 0u);
	if (pthread_create(&thread, NULL, switch_main, NULL) != 0)
		die("pthread_create");
	from_ns = now_ns();
	take_turns(0);
	pthread_join(thread, NULL);
	return (now_ns() - from_ns) / (2 * LOOPS);
}

/* Two threads want the same CPU: how long one keeps it from the other. */
static void *
hog_main(void *arg)
{
	(void)arg;
	run_on(cpus[0]);
	while (atomic_load_relaxed(&futex_word) == 0)
		;
	return NULL;
}

static uint64_t
measure_slice(void)
{
	uint64_t samples[60], last_ns = now_ns();
	pthread_t thread;

	atomic_store_relaxed(&futex_word, 0u);
	if (pthread_create(&thread, NULL, hog_main, NULL) != 0)
		die("pthread_create");
	for (unsigned n = 0; n < 60;) {
		uint64_t at_ns = now_ns();

		if (at_ns - last_ns > 200000)
			samples[n++] = at_ns - last_ns;
		last_ns = at_ns;
	}
	atomic_store_relaxed(&futex_word, 1u);
	pthread_join(thread, NULL);
	return lower_quartile(samples, 60);
}

/* -- epoll -- */

static void
measure_epoll(
    uint64_t *ret_wait_ns, uint64_t *ret_event_ns, uint64_t *ret_write_ns)
{
	int set = epoll_create1(0), fds[PAIRS];
	uint64_t empty[SAMPLES], full[SAMPLES], write_ns[SAMPLES], one = 1;
	struct epoll_event events[PAIRS];

	for (int i = 0; i < PAIRS; i++) {
		struct epoll_event e = {.events = EPOLLIN | EPOLLET};

		fds[i] = eventfd(0, EFD_NONBLOCK);
		if (epoll_ctl(set, EPOLL_CTL_ADD, fds[i], &e) < 0)
			die("epoll_ctl");
	}
	for (int s = 0; s < SAMPLES; s++) {
		uint64_t from_ns = now_ns();

		(void)epoll_wait(set, events, PAIRS, 0);
		empty[s] = without(now_ns() - from_ns, clock_cost_ns);
		from_ns = now_ns();
		for (int i = 0; i < PAIRS; i++)
			if (write(fds[i], &one, sizeof(one)) < 0)
				die("write");
		write_ns[s] = (now_ns() - from_ns) / PAIRS;
		from_ns = now_ns();
		if (epoll_wait(set, events, PAIRS, 0) != PAIRS)
			die("epoll_wait");
		full[s] = without(now_ns() - from_ns, clock_cost_ns);
	}
	for (int i = 0; i < PAIRS; i++)
		close(fds[i]);
	close(set);
	*ret_wait_ns = lower_quartile(empty, SAMPLES);
	*ret_event_ns =
	    without(lower_quartile(full, SAMPLES), *ret_wait_ns) / PAIRS;
	*ret_write_ns = lower_quartile(write_ns, SAMPLES);
}

/* -- turns: TCP over loopback -- */

/* A client's end and a server's, and the proxy's ends of both. */
struct pair {
	int client, at_client, at_server, server;
};

struct bench {
	int cpu, listener, set, far_set;
	struct sockaddr_in address;
	struct pair pairs[PAIRS];
	uint64_t turn_ns; /* the result of run_turns */
};

static int
new_socket(void)
{
	int one = 1, fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

	if (fd < 0 ||
	    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one)) < 0)
		die("socket");
	return fd;
}

static void
watch(int set, int fd)
{
	struct epoll_event e = {
	    .events = EPOLLIN | EPOLLRDHUP | EPOLLET, .data.fd = fd};

	if (epoll_ctl(set, EPOLL_CTL_ADD, fd, &e) < 0)
		die("epoll_ctl");
}

static int
connect_to(struct bench *b, int *ret_far)
{
	int fd = new_socket();

	if (connect(fd, (struct sockaddr *)&b->address, sizeof(b->address)) < 0)
		die("connect");
	*ret_far = accept4(b->listener, NULL, NULL, SOCK_CLOEXEC);
	if (*ret_far < 0)
		die("accept");
	return fd;
}

static void
bench_open(struct bench *b)
{
	socklen_t len = sizeof(b->address);

	b->address = (struct sockaddr_in){
	    .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	b->listener = new_socket();
	b->set = epoll_create1(0);
	b->far_set = epoll_create1(0);
	if (bind(b->listener, (struct sockaddr *)&b->address, len) < 0 ||
	    listen(b->listener, 128) < 0 ||
	    getsockname(b->listener, (struct sockaddr *)&b->address, &len) < 0)
		die("listen");
	for (int i = 0; i < PAIRS; i++) {
		struct pair *p = &b->pairs[i];

		p->client = connect_to(b, &p->at_client);
		p->at_server = connect_to(b, &p->server);
		watch(b->set, p->at_client);
		watch(b->set, p->at_server);
		watch(b->far_set, p->client);
		watch(b->far_set, p->server);
	}
}

static void
bench_close(struct bench *b)
{
	for (int i = 0; i < PAIRS; i++) {
		close(b->pairs[i].client);
		close(b->pairs[i].at_client);
		close(b->pairs[i].at_server);
		close(b->pairs[i].server);
	}
	close(b->listener);
	close(b->set);
	close(b->far_set);
}

static void
drain_set(int set)
{
	struct epoll_event events[2 * PAIRS];

	(void)epoll_wait(set, events, 2 * PAIRS, 0);
}

/* A round: all clients send, the proxy passes all requests on, the servers
 * read.  Returns the time of the proxy's part for each. */
static uint64_t
run_round(struct bench *b)
{
	char text[MESSAGE * 4] = {0};
	uint64_t from_ns, ns;
	bool failed = false;

	for (int i = 0; i < PAIRS; i++)
		failed |= write(b->pairs[i].client, text, MESSAGE) != MESSAGE;
	drain_set(b->set);
	from_ns = now_ns();
	for (int i = 0; i < PAIRS; i++) {
		failed |= recv(b->pairs[i].at_client, text, sizeof(text), 0) !=
		          MESSAGE;
		failed |=
		    send(b->pairs[i].at_server, text, MESSAGE, 0) != MESSAGE;
	}
	ns = now_ns() - from_ns;
	drain_set(b->far_set);
	for (int i = 0; i < PAIRS; i++)
		failed |=
		    read(b->pairs[i].server, text, sizeof(text)) != MESSAGE;
	if (failed)
		die("loopback");
	return ns / PAIRS;
}

static void *
run_turns(void *arg)
{
	struct bench *b = arg;
	uint64_t samples[ROUNDS];

	run_on(b->cpu);
	for (int r = 0; r < ROUNDS; r++)
		samples[r] = run_round(b);
	b->turn_ns = lower_quartile(samples, ROUNDS);
	return NULL;
}

/* The same on two CPUs at once, with sockets of their own. */
static uint64_t
measure_beside(struct bench *b, struct bench *other)
{
	pthread_t thread;

	if (pthread_create(&thread, NULL, run_turns, other) != 0)
		die("pthread_create");
	(void)run_turns(b);
	pthread_join(thread, NULL);
	return (b->turn_ns + other->turn_ns) / 2;
}

/* Each round on the other CPU. */
static uint64_t
measure_moving(struct bench *b)
{
	uint64_t samples[ROUNDS];

	for (int r = 0; r < ROUNDS; r++) {
		run_on(cpus[r % 2]);
		samples[r] = run_round(b);
	}
	run_on(cpus[0]);
	return lower_quartile(samples, ROUNDS);
}

/* The system calls of the proxy for a connection: it accepts it; connects to
 * the server, registers both ends, and closes both in the end. */
static void
measure_connection(
    struct bench *b, uint64_t *ret_accept_ns, uint64_t *ret_connect_ns)
{
	uint64_t accept_ns[ROUNDS], connect_ns[ROUNDS];

	for (int r = 0; r < ROUNDS; r++) {
		struct pair p = {.client = new_socket()};
		uint64_t from_ns;
		int one = 1;

		if (connect(p.client, (struct sockaddr *)&b->address,
		        sizeof(b->address)) < 0)
			die("connect");
		from_ns = now_ns();
		p.at_client = accept4(
		    b->listener, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
		(void)setsockopt(
		    p.at_client, IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one));
		accept_ns[r] = now_ns() - from_ns;
		from_ns = now_ns();
		p.at_server = new_socket();
		if (connect(p.at_server, (struct sockaddr *)&b->address,
		        sizeof(b->address)) < 0)
			die("connect");
		watch(b->set, p.at_client);
		watch(b->set, p.at_server);
		connect_ns[r] = now_ns() - from_ns;
		p.server = accept4(b->listener, NULL, NULL, SOCK_CLOEXEC);
		from_ns = now_ns();
		close(p.at_server);
		close(p.at_client);
		connect_ns[r] += now_ns() - from_ns;
		close(p.client);
		close(p.server);
	}
	*ret_accept_ns = lower_quartile(accept_ns, ROUNDS);
	*ret_connect_ns = lower_quartile(connect_ns, ROUNDS);
}

static void *
compute_main(void *arg)
{
	uint64_t *ret_ns = arg, ns;

	run_on(cpus[1]);
	TIME_LOOP(&ns, for (volatile int j = 0; j < 100; j++));
	*ret_ns = ns;
	return NULL;
}

/* How much longer the same computation takes beside another: two CPUs may
 * share a core.  In thousandths. */
static uint64_t
measure_sharing(void)
{
	uint64_t alone_ns, beside_ns, other_ns;
	pthread_t thread;

	TIME_LOOP(&alone_ns, for (volatile int j = 0; j < 100; j++));
	if (pthread_create(&thread, NULL, compute_main, &other_ns) != 0)
		die("pthread_create");
	TIME_LOOP(&beside_ns, for (volatile int j = 0; j < 100; j++));
	pthread_join(thread, NULL);
	return beside_ns * 1000 / alone_ns;
}

static uint64_t
thread_cpu_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &ts);
	return (uint64_t)ts.tv_sec * 1000000000u + (uint64_t)ts.tv_nsec;
}

/* CPU time of a timer's expiry. */
static uint64_t
measure_timer(void)
{
	uint64_t from_ns = thread_cpu_ns();

	for (int i = 0; i < 200; i++)
		nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
	return (thread_cpu_ns() - from_ns) / 200;
}

static void
print_turns(void)
{
	static struct bench benches[2];
	struct bench *b = &benches[0];
	uint64_t alone_ns, beside_ns, moving_ns, accept_ns, connect_ns;
	uint64_t sharing = measure_sharing();
	char from[160];

	for (int i = 0; i < 2; i++) {
		benches[i].cpu = cpus[i];
		bench_open(&benches[i]);
	}
	(void)run_turns(b);
	alone_ns = b->turn_ns;
	beside_ns = measure_beside(b, &benches[1]);
	moving_ns = measure_moving(b);
	costs_print("turn", alone_ns,
	    "recv and send of 64 bytes, TCP over loopback, 64 connections");
	snprintf(from, sizeof(from),
	    "assumed; turns on two CPUs at once take %.2f as long (computing: "
	    "%.2f)",
	    (double)beside_ns / (double)alone_ns, (double)sharing / 1000);
	costs_print("turn_serial", 0, from);
	costs_print("turn_move", without(moving_ns, alone_ns),
	    "each round of turns on the other CPU, beyond turn");
	measure_connection(b, &accept_ns, &connect_ns);
	costs_print(
	    "accept", accept_ns, "accept and setsockopt, over loopback");
	costs_print("connect", connect_ns,
	    "socket, connect, two epoll_ctl, two close, over loopback");
	bench_close(b);
	bench_close(&benches[1]);
}

static void
print_words(void)
{
	uint64_t *w = aligned_word(), load_ns, write_ns, relax_ns;

	TIME_LOOP(&load_ns, (void)*(volatile uint64_t *)w);
	TIME_LOOP(&write_ns, (void)atomic_add_acq_rel(w, 1u));
	TIME_LOOP(&relax_ns, cpu_relax());
	TIME_LOOP(&clock_cost_ns, (void)now_ns());
	costs_print("load", load_ns > 0 ? load_ns : 1, "a loop of loads");
	costs_print("write", write_ns, "a loop of fetch-and-add");
	costs_print("line_transfer", measure_transfer(),
	    "half a round trip of a word between two CPUs");
	costs_print("relax", relax_ns, "a loop of cpu_relax");
	costs_print("clock", clock_cost_ns, "a loop of clock_gettime");
}

static void
print_waking(void)
{
	uint64_t call_ns, queued_ns, delay_ns, unused_ns, switch_ns, system_ns;

	TIME_LOOP(&system_ns, (void)futex(FUTEX_WAKE_PRIVATE, 1));
	measure_wake(cpus[1], &call_ns, &delay_ns);
	measure_wake(cpus[0], &queued_ns, &unused_ns);
	switch_ns = without(measure_switch(), queued_ns);
	costs_print("system_call", system_ns, "futex wake, no thread waits");
	costs_print(
	    "wake_call", call_ns, "futex wake of a thread whose CPU is idle");
	costs_print(
	    "wake_queued", queued_ns, "futex wake of a thread of the same CPU");
	costs_print("wake_delay", without(delay_ns, switch_ns),
	    "from that call until the thread runs, less thread_switch");
	costs_print("thread_switch", switch_ns,
	    "two threads on one CPU wake each other, less wake_queued");
	costs_print("guard", without(measure_timer(), switch_ns),
	    "CPU time of a timer's expiry, less thread_switch");
	costs_print("slice", measure_slice(),
	    "how long one of two threads keeps a CPU from the other");
	costs_print("balance", BALANCE_NS,
	    "assumed: as sched_migration_cost_ns of Linux");
}

int
main(int argc, char **argv)
{
	uint64_t wait_ns, event_ns, write_ns;

	(void)argv;
	if (argc > 1) {
		fputs("usage: lf_calibrate\n", stderr);
		return 2;
	}
	find_cpus();
	run_on(cpus[0]);
	print_words();
	print_waking();
	measure_epoll(&wait_ns, &event_ns, &write_ns);
	costs_print("wait_call", wait_ns, "epoll_wait, nothing ready");
	costs_print(
	    "wait_event", event_ns, "epoll_wait with 64 events, for each");
	costs_print("event_write", write_ns,
	    "eventfd in an epoll set, no thread waits");
	print_turns();
	return 0;
}
