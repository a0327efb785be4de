/* SPDX-License-Identifier: MIT
 * Simulated descriptors, as the keeper and the alarms of shards use them:
 * hooks.h leads here.  A set has timers only, and is edge-triggered.
 */
#ifndef SIM_DESCRIPTORS_H
#define SIM_DESCRIPTORS_H

#include <poll.h>
#include <sys/types.h>
#include <time.h>

/* Forgets all descriptors of the schedule before. */
void sim_close_all(void);

int sim_eventfd(void);
/* Fails by chance. */
int sim_timerfd(void);
int sim_epoll(void);
int sim_close(int fd);

/* Adds 1 to the eventfd. */
ssize_t sim_write_event(int fd, const char *function, int line);
ssize_t sim_read_event(int fd, const char *function, int line);
int sim_timerfd_set(
    int fd, const struct itimerspec *in, const char *function, int line);
/* Puts a timer into the set.  Fails by chance. */
int sim_epoll_add(int set, int fd);
/* Returns how many timers have gone off since the last call. */
int sim_epoll_take(int set, int max, const char *function, int line);
int sim_ppoll(struct pollfd fds[], nfds_t n, const struct timespec *limit,
    const char *function, int line);

#endif
