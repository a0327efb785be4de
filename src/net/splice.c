/* SPDX-License-Identifier: MIT
 * See splice.h.
 */
#include "net/splice.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/ensure.h"
#include "base/fault.h"

#define RETRY_NS 100000000ull

void
splice_pool_init(struct splice_pool *pool, uint32_t max)
{
	*pool = (struct splice_pool){0};
	lock_init(&pool->lock);
	pool->pipes = calloc(max, sizeof(*pool->pipes));
	if (!pool->pipes)
		return;
	pool->max = max;
	for (uint32_t i = max; i > 0; i--) {
		pool->pipes[i - 1].next = pool->closed;
		pool->closed = &pool->pipes[i - 1];
	}
}

static void
pipe_close(struct splice_pipe *pipe)
{
	close(pipe->read_fd);
	close(pipe->write_fd);
}

void
splice_pool_fini(struct splice_pool *pool)
{
	while (pool->idle) {
		struct splice_pipe *pipe = pool->idle;

		pool->idle = pipe->next;
		pipe_close(pipe);
	}
	free(pool->pipes);
	lock_fini(&pool->lock);
}

static uint32_t
page_size(void)
{
	return (uint32_t)sysconf(_SC_PAGESIZE);
}

/* Sets the largest size that the kernel grants, and returns it.  A size above
 * fs.pipe-max-size, or beyond the user's pages, is refused with EPERM. */
static uint32_t
enlarge(int fd)
{
	uint32_t least = SPLICE_PIPE_PAGES * page_size();
	int got = -1;

	for (uint32_t size = SPLICE_PIPE_MAX; got < 0 && size >= least;
	     size /= 2)
		got = fcntl(fd, F_SETPIPE_SZ, (int)size);
	if (got < 0)
		got = fcntl(fd, F_GETPIPE_SZ);
	return got < 0 ? 0 : (uint32_t)got;
}

/* Opens the pipe.  Returns false on failure, and when the pipe is too small to
 * be useful: a user above the limit of pages gets pipes of two pages. */
static bool
pipe_open(struct splice_pipe *pipe)
{
	int fds[2];

	if (fault_fails(FAULT_PIPE) || pipe2(fds, O_NONBLOCK | O_CLOEXEC) < 0)
		return false;
	*pipe = (struct splice_pipe){
	    .read_fd = fds[0], .write_fd = fds[1], .size = enlarge(fds[1])};
	if (pipe->size >= SPLICE_PIPE_PAGES * page_size())
		return true;
	pipe_close(pipe);
	return false;
}

static void
set_idle_n(struct splice_pool *pool, uint32_t n)
{
	atomic_store_relaxed(&pool->idle_n, n);
	if (n < pool->idle_least)
		pool->idle_least = n;
}

/* Returns an idle pipe, a pipe that the caller has to open (*ret_open), or
 * NULL. */
static struct splice_pipe *
take_locked(struct splice_pool *pool, uint64_t now_ns, bool *ret_open)
{
	struct splice_pipe *pipe = pool->idle;

	*ret_open = false;
	if (pipe) {
		pool->idle = pipe->next;
		set_idle_n(pool, pool->idle_n - 1);
		return pipe;
	}
	pipe = pool->closed;
	if (!pipe || now_ns < pool->retry_ns) {
		atomic_store_relaxed(&pool->refused, pool->refused + 1);
		return NULL;
	}
	pool->closed = pipe->next;
	atomic_store_relaxed(&pool->open, pool->open + 1);
	*ret_open = true;
	return pipe;
}

static void
closed_locked(struct splice_pool *pool, struct splice_pipe *pipe)
{
	atomic_store_relaxed(&pool->bytes, pool->bytes - pipe->size);
	pipe->size = 0;
	pipe->next = pool->closed;
	pool->closed = pipe;
	atomic_store_relaxed(&pool->open, pool->open - 1);
}

static void
opened_locked(struct splice_pool *pool, const struct splice_pipe *pipe)
{
	atomic_store_relaxed(&pool->bytes, pool->bytes + pipe->size);
	atomic_store_relaxed(&pool->made, pool->made + 1);
	if (pipe->size < SPLICE_PIPE_MAX)
		atomic_store_relaxed(&pool->small, pool->small + 1);
}

static void
refused_locked(
    struct splice_pool *pool, struct splice_pipe *pipe, uint64_t now_ns)
{
	pool->retry_ns = now_ns + RETRY_NS;
	pipe->size = 0;
	closed_locked(pool, pipe);
	atomic_store_relaxed(&pool->refused, pool->refused + 1);
}

struct splice_pipe *
splice_pool_take(struct splice_pool *pool, uint64_t now_ns)
{
	struct splice_pipe *pipe;
	bool to_open, opened;

	lock_acquire(&pool->lock);
	pipe = take_locked(pool, now_ns, &to_open);
	lock_release(&pool->lock);
	if (!to_open)
		return pipe;
	opened = pipe_open(pipe);
	lock_acquire(&pool->lock);
	if (opened)
		opened_locked(pool, pipe);
	else
		refused_locked(pool, pipe, now_ns);
	lock_release(&pool->lock);
	return opened ? pipe : NULL;
}

/* Returns a record of the pool, or an extra one if all are taken. */
static struct splice_pipe *
take_record(struct splice_pool *pool)
{
	struct splice_pipe *pipe;

	lock_acquire(&pool->lock);
	pipe = pool->closed;
	if (pipe)
		pool->closed = pipe->next;
	lock_release(&pool->lock);
	return pipe ? pipe : malloc(sizeof(*pipe));
}

struct splice_pipe *
splice_pool_adopt(
    struct splice_pool *pool, int read_fd, int write_fd, uint32_t held)
{
	struct splice_pipe *pipe = take_record(pool);
	int size = fcntl(write_fd, F_GETPIPE_SZ);

	if (!pipe) {
		close(read_fd);
		close(write_fd);
		return NULL;
	}
	*pipe = (struct splice_pipe){.read_fd = read_fd,
	    .write_fd = write_fd,
	    .size = size > 0 ? (uint32_t)size : 0,
	    .held = held};
	lock_acquire(&pool->lock);
	atomic_store_relaxed(&pool->open, pool->open + 1);
	opened_locked(pool, pipe);
	lock_release(&pool->lock);
	return pipe;
}

static bool
is_extra(const struct splice_pool *pool, const struct splice_pipe *pipe)
{
	return pipe < pool->pipes || pipe >= pool->pipes + pool->max;
}

static void
give_extra(struct splice_pool *pool, struct splice_pipe *pipe)
{
	pipe_close(pipe);
	lock_acquire(&pool->lock);
	atomic_store_relaxed(&pool->bytes, pool->bytes - pipe->size);
	atomic_store_relaxed(&pool->open, pool->open - 1);
	lock_release(&pool->lock);
	free(pipe);
}

void
splice_pool_give(struct splice_pool *pool, struct splice_pipe *pipe)
{
	bool used = pipe->held > 0;

	if (is_extra(pool, pipe)) {
		give_extra(pool, pipe);
		return;
	}

	if (used)
		pipe_close(pipe);
	lock_acquire(&pool->lock);
	if (used) {
		closed_locked(pool, pipe);
	} else {
		pipe->next = pool->idle;
		pool->idle = pipe;
		set_idle_n(pool, pool->idle_n + 1);
	}
	lock_release(&pool->lock);
}

static struct splice_pipe *
surplus_locked(struct splice_pool *pool)
{
	struct splice_pipe *pipe = pool->idle;

	if (pool->idle_least == 0) {
		pool->idle_least = pool->idle_n;
		return NULL;
	}
	ENSURE(pipe);
	pool->idle_least--;
	pool->idle = pipe->next;
	atomic_store_relaxed(&pool->idle_n, pool->idle_n - 1);
	return pipe;
}

void
splice_pool_trim(struct splice_pool *pool)
{
	struct splice_pipe *pipe;

	if (atomic_load_relaxed(&pool->open) == 0)
		return;
	for (;;) {
		lock_acquire(&pool->lock);
		pipe = surplus_locked(pool);
		lock_release(&pool->lock);
		if (!pipe)
			break;
		pipe_close(pipe);
		lock_acquire(&pool->lock);
		closed_locked(pool, pipe);
		lock_release(&pool->lock);
	}
}

struct splice_status
splice_pool_status(const struct splice_pool *pool)
{
	struct splice_status status = {
	    .max = pool->max,
	    .open = atomic_load_relaxed(&pool->open),
	    .idle = atomic_load_relaxed(&pool->idle_n),
	    .made = atomic_load_relaxed(&pool->made),
	    .small = atomic_load_relaxed(&pool->small),
	    .refused = atomic_load_relaxed(&pool->refused),
	    .bytes = atomic_load_relaxed(&pool->bytes),
	};

	/* Other threads change both numbers between the two reads. */
	if (status.idle > status.open)
		status.idle = status.open;
	status.pages = status.bytes / page_size();
	return status;
}

static ssize_t
splice_between(int from, int to, size_t size)
{
	ssize_t n;

	do
		n = splice(from, NULL, to, NULL, size,
		    SPLICE_F_MOVE | SPLICE_F_NONBLOCK);
	while (n < 0 && errno == EINTR);
	return n < 0 ? -errno : n;
}

ssize_t
splice_in(struct splice_pipe *pipe, int fd, size_t size)
{
	ssize_t n = splice_between(fd, pipe->write_fd, size);

	pipe->held += n > 0 ? (uint32_t)n : 0;
	return n;
}

ssize_t
splice_out(struct splice_pipe *pipe, int fd)
{
	ssize_t n = splice_between(pipe->read_fd, fd, pipe->held);

	pipe->held -= n > 0 ? (uint32_t)n : 0;
	return n;
}
