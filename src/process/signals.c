/* SPDX-License-Identifier: MIT
 * See signals.h.
 */
#include "process/signals.h"

#include <pthread.h>
#include <signal.h>

static void
add_stops(sigset_t *set)
{
	sigaddset(set, SIGTERM);
	sigaddset(set, SIGINT);
}

static void
add_others(sigset_t *set)
{
	sigaddset(set, SIGHUP);
	sigaddset(set, SIGUSR1);
	sigaddset(set, SIGUSR2);
}

void
signals_hold(void)
{
	sigset_t set;

	sigemptyset(&set);
	add_others(&set);
	pthread_sigmask(SIG_BLOCK, &set, NULL);
}

void
signals_hold_stops(void)
{
	sigset_t set;

	sigemptyset(&set);
	add_stops(&set);
	pthread_sigmask(SIG_BLOCK, &set, NULL);
}

void
signals_release(void)
{
	sigset_t set;

	sigemptyset(&set);
	add_stops(&set);
	add_others(&set);
	pthread_sigmask(SIG_UNBLOCK, &set, NULL);
}
