/* SPDX-License-Identifier: MIT
 * See switch.h.  Only what the callee has to keep is saved: the compiler takes
 * care of the rest at the call.
 */
#include "sim/switch.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#define STACK_SIZE (128 * 1024)

void *
switch_stack_new(void)
{
	char *stack = mmap(NULL, STACK_SIZE, PROT_READ | PROT_WRITE,
	    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (stack == MAP_FAILED)
		abort();
	return stack + STACK_SIZE;
}

#if defined(__x86_64__)

__asm__(".text\n"
        ".globl switch_stack\n"
        ".type switch_stack, @function\n"
        "switch_stack:\n"
        "	push %rbp\n"
        "	push %rbx\n"
        "	push %r12\n"
        "	push %r13\n"
        "	push %r14\n"
        "	push %r15\n"
        "	mov %rsp, (%rdi)\n"
        "	mov %rsi, %rsp\n"
        "	pop %r15\n"
        "	pop %r14\n"
        "	pop %r13\n"
        "	pop %r12\n"
        "	pop %rbx\n"
        "	pop %rbp\n"
        "	ret\n"
        ".size switch_stack, . - switch_stack\n");

/* At start() the stack must look as after a call: 8 off from 16. */
void *
switch_prepare(void *top, void (*start)(void))
{
	void **sp = (void **)top - 2;

	sp[0] = (void *)(uintptr_t)start;
	sp[1] = NULL;
	sp -= 6;
	memset(sp, 0, 6 * sizeof(*sp));
	return sp;
}

#elif defined(__aarch64__)

__asm__(".text\n"
        ".globl switch_stack\n"
        ".type switch_stack, %function\n"
        "switch_stack:\n"
        "	sub sp, sp, #160\n"
        "	stp x19, x20, [sp, #0]\n"
        "	stp x21, x22, [sp, #16]\n"
        "	stp x23, x24, [sp, #32]\n"
        "	stp x25, x26, [sp, #48]\n"
        "	stp x27, x28, [sp, #64]\n"
        "	stp x29, x30, [sp, #80]\n"
        "	stp d8, d9, [sp, #96]\n"
        "	stp d10, d11, [sp, #112]\n"
        "	stp d12, d13, [sp, #128]\n"
        "	stp d14, d15, [sp, #144]\n"
        "	mov x9, sp\n"
        "	str x9, [x0]\n"
        "	mov sp, x1\n"
        "	ldp x19, x20, [sp, #0]\n"
        "	ldp x21, x22, [sp, #16]\n"
        "	ldp x23, x24, [sp, #32]\n"
        "	ldp x25, x26, [sp, #48]\n"
        "	ldp x27, x28, [sp, #64]\n"
        "	ldp x29, x30, [sp, #80]\n"
        "	ldp d8, d9, [sp, #96]\n"
        "	ldp d10, d11, [sp, #112]\n"
        "	ldp d12, d13, [sp, #128]\n"
        "	ldp d14, d15, [sp, #144]\n"
        "	add sp, sp, #160\n"
        "	ret\n"
        ".size switch_stack, . - switch_stack\n");

void *
switch_prepare(void *top, void (*start)(void))
{
	void **sp = (void **)top - 20;

	memset(sp, 0, 20 * sizeof(*sp));
	sp[11] = (void *)(uintptr_t)start; /* x30 */
	return sp;
}

#else
#error "the simulator has no stack switch for this machine"
#endif
