/* SPDX-License-Identifier: MIT
 * The signals that the control loop handles: SIGHUP, SIGUSR1, SIGUSR2, SIGTERM
 * and SIGINT.
 *
 * Until the loop has its handlers, their default action would end the process.
 * A process that starts therefore blocks them: the first three from the
 * beginning, and those that stop it from before its first socket listens, so
 * that they can still end it while it waits for files or for the process to
 * take over from.  A signal that was blocked is handled once the loop runs.
 */
#ifndef PROCESS_SIGNALS_H
#define PROCESS_SIGNALS_H

/* Blocks SIGHUP, SIGUSR1 and SIGUSR2.  Called first of all in main. */
void signals_hold(void);

/* Blocks SIGTERM and SIGINT as well.  Called before anything listens. */
void signals_hold_stops(void);

/* Unblocks all five, whoever has blocked them.  Called when they have their
 * handlers, or when the process will not serve. */
void signals_release(void);

#endif
