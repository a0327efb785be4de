/* SPDX-License-Identifier: MIT
 * Coroutine switches without a system call.
 */
#ifndef SIM_SWITCH_H
#define SIM_SWITCH_H

/* Saves the caller's registers on its stack, that stack's pointer in *from, and
 * goes on where the stack `to` was left. */
void switch_stack(void **from, void *to);

/* Returns a new stack: its end, aligned to 16.  Aborts when out of memory. */
void *switch_stack_new(void);

/* Returns the pointer of an unused stack: the first switch to it calls start(),
 * which must not return.  top: the stack's end. */
void *switch_prepare(void *top, void (*start)(void));

#endif
