/* SPDX-License-Identifier: MIT
 * See syscalls.h.
 */
#include "process/syscalls.h"

#include <stddef.h>

/* gcc defines macros for sanitizers, clang has features. */
#ifndef __has_feature
#define __has_feature(feature) 0
#endif
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__) ||           \
    __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define SANITIZED 1
#else
#define SANITIZED 0
#endif

/* clang-format off */
const char *const syscalls_allowed[] = {
    /* Calls that every program needs. */
    "arch_prctl", "brk", "cacheflush", "execve", "execveat", "exit",
    "exit_group", "futex", "futex_requeue", "futex_time64", "futex_wait",
    "futex_waitv", "futex_wake", "get_robust_list", "get_thread_area",
    "getrandom", "madvise", "map_shadow_stack", "membarrier", "mmap", "mmap2",
    "mprotect", "mremap", "mseal", "munmap", "restart_syscall",
    "riscv_flush_icache", "riscv_hwprobe", "rseq", "set_robust_list",
    "set_thread_area", "set_tid_address", "set_tls", "swapcontext", "uprobe",
    "uretprobe",

    /* The clock and timers. */
    "alarm", "clock_getres", "clock_getres_time64", "clock_gettime",
    "clock_gettime64", "clock_nanosleep", "clock_nanosleep_time64",
    "getitimer", "gettimeofday", "nanosleep", "setitimer", "time",
    "timer_create", "timer_delete", "timer_getoverrun", "timer_gettime",
    "timer_gettime64", "timer_settime", "timer_settime64", "timerfd_create",
    "timerfd_gettime", "timerfd_gettime64", "timerfd_settime",
    "timerfd_settime64", "times",

    /* Descriptors. */
    "_llseek", "_newselect", "close", "close_range", "copy_file_range", "dup",
    "dup2", "dup3", "epoll_create", "epoll_create1", "epoll_ctl",
    "epoll_ctl_old", "epoll_pwait", "epoll_pwait2", "epoll_wait",
    "epoll_wait_old", "eventfd", "eventfd2", "fcntl", "fcntl64", "flock",
    "io_cancel", "io_destroy", "io_getevents", "io_pgetevents",
    "io_pgetevents_time64", "io_setup", "io_submit", "ioctl", "lseek",
    "memfd_create", "pipe", "pipe2", "poll", "ppoll", "ppoll_time64",
    "pread64", "preadv", "preadv2", "pselect6", "pselect6_time64", "pwrite64",
    "pwritev", "pwritev2", "read", "readv", "select", "sendfile",
    "sendfile64", "signalfd", "signalfd4", "splice", "tee", "vmsplice",
    "write", "writev",

    /* Sockets. */
    "accept", "accept4", "bind", "connect", "getpeername", "getsockname",
    "getsockopt", "listen", "recv", "recvfrom", "recvmmsg", "recvmmsg_time64",
    "recvmsg", "send", "sendmmsg", "sendmsg", "sendto", "setsockopt",
    "shutdown", "socketcall", "socketpair",

    /* Files. */
    "access", "arm_fadvise64_64", "cachestat", "chdir", "chmod", "creat",
    "faccessat", "faccessat2", "fadvise64", "fadvise64_64", "fallocate",
    "fchdir", "fchmod", "fchmodat", "fchmodat2", "fdatasync", "fgetxattr",
    "file_getattr", "file_setattr", "flistxattr", "fremovexattr", "fsetxattr",
    "fstat", "fstat64", "fstatat64", "fstatfs", "fstatfs64", "fsync",
    "ftruncate", "ftruncate64", "futimesat", "getcwd", "getdents",
    "getdents64", "getxattr", "getxattrat", "inotify_add_watch",
    "inotify_init", "inotify_init1", "inotify_rm_watch", "lgetxattr", "link",
    "linkat", "listxattr", "listxattrat", "llistxattr", "lremovexattr",
    "lsetxattr", "lstat", "lstat64", "mkdir", "mkdirat", "mknod", "mknodat",
    "msync", "name_to_handle_at", "newfstatat", "oldfstat", "oldlstat",
    "oldstat", "open", "openat", "openat2", "readahead", "readdir",
    "readlink", "readlinkat", "removexattr", "removexattrat", "rename",
    "renameat", "renameat2", "rmdir", "setxattr", "setxattrat", "stat",
    "stat64", "statfs", "statfs64", "statx", "symlink", "symlinkat", "sync",
    "sync_file_range", "sync_file_range2", "syncfs", "truncate", "truncate64",
    "umask", "unlink", "unlinkat", "utime", "utimensat", "utimensat_time64",
    "utimes",

    /* Gives a socket of `admin` or `listen` its owner. */
    "chown", "chown32", "fchown", "fchown32", "fchownat", "lchown",
    "lchown32",

    /* Processes and signals. */
    "fork", "getpgid", "getpgrp", "getpid", "getppid", "getrusage", "getsid",
    "gettid", "kill", "pause", "pidfd_open", "pidfd_send_signal", "prctl",
    "rt_sigaction", "rt_sigpending", "rt_sigprocmask", "rt_sigqueueinfo",
    "rt_sigreturn", "rt_sigsuspend", "rt_sigtimedwait",
    "rt_sigtimedwait_time64", "rt_tgsigqueueinfo", "setpgid", "setsid",
    "sigaction", "sigaltstack", "signal", "sigpending", "sigprocmask",
    "sigreturn", "sigsuspend", "tgkill", "tkill", "vfork", "wait4", "waitid",
    "waitpid",

    /* Users.  An upgrade, or a script of root's, changes its user.
     * Capabilities decide who may. */
    "capget", "capset", "getegid", "getegid32", "geteuid", "geteuid32",
    "getgid", "getgid32", "getgroups", "getgroups32", "getresgid",
    "getresgid32", "getresuid", "getresuid32", "getuid", "getuid32",
    "setfsgid", "setfsgid32", "setfsuid", "setfsuid32", "setgid", "setgid32",
    "setgroups", "setgroups32", "setregid", "setregid32", "setresgid",
    "setresgid32", "setresuid", "setresuid32", "setreuid", "setreuid32",
    "setuid", "setuid32",

    /* Narrower sandboxes, such as that of an upgrade. */
    "landlock_add_rule", "landlock_create_ruleset", "landlock_restrict_self",
    "seccomp",

    /* Limits, CPUs and memory. */
    "get_mempolicy", "getcpu", "getpriority", "getrlimit", "ioprio_get",
    "ioprio_set", "mbind", "mincore", "mlock", "mlock2", "mlockall",
    "munlock", "munlockall", "nice", "prlimit64", "sched_get_priority_max",
    "sched_get_priority_min", "sched_getaffinity", "sched_getattr",
    "sched_getparam", "sched_getscheduler", "sched_rr_get_interval",
    "sched_rr_get_interval_time64", "sched_setaffinity", "sched_setattr",
    "sched_setparam", "sched_setscheduler", "sched_yield", "set_mempolicy",
    "set_mempolicy_home_node", "setpriority", "setrlimit", "sysinfo",
    "ugetrlimit", "uname",

    /* Memory, messages and semaphores that processes share. */
    "ipc", "mq_getsetattr", "mq_notify", "mq_open", "mq_timedreceive",
    "mq_timedreceive_time64", "mq_timedsend", "mq_timedsend_time64",
    "mq_unlink", "msgctl", "msgget", "msgrcv", "msgsnd", "semctl", "semget",
    "semop", "semtimedop", "semtimedop_time64", "shmat", "shmctl", "shmdt",
    "shmget",
    NULL};

const char *const syscalls_refused[] = {
    /* Other processes. */
    "kcmp", "pidfd_getfd", "process_madvise", "process_mrelease",
    "process_vm_readv", "process_vm_writev", "ptrace",

    /* Parts of the kernel that need many privileges, or had many errors. */
    "add_key", "bpf", "fanotify_init", "fanotify_mark", "io_uring_enter",
    "io_uring_register", "io_uring_setup", "keyctl", "lookup_dcookie",
    "memfd_secret", "migrate_pages", "modify_ldt", "move_pages",
    "perf_event_open", "pkey_alloc", "pkey_free", "pkey_mprotect",
    "remap_file_pages", "request_key", "rtas", "s390_pci_mmio_read",
    "s390_pci_mmio_write", "s390_runtime_instr", "spu_create", "spu_run",
    "subpage_prot", "switch_endian", "sys_debug_setcontext", "userfaultfd",
    "vm86", "vm86old",

    /* Mounts, namespaces and roots. */
    "chroot", "fsconfig", "fsmount", "fsopen", "fspick", "mount",
    "mount_setattr", "move_mount", "open_by_handle_at", "open_tree",
    "open_tree_attr", "pivot_root", "setns", "umount", "umount2", "unshare",

    /* The whole machine. */
    "acct", "adjtimex", "clock_adjtime", "clock_adjtime64", "clock_settime",
    "clock_settime64", "delete_module", "finit_module", "init_module",
    "ioperm", "iopl", "kexec_file_load", "kexec_load", "pciconfig_iobase",
    "pciconfig_read", "pciconfig_write", "quotactl", "quotactl_fd", "reboot",
    "setdomainname", "sethostname", "settimeofday", "stime", "swapoff",
    "swapon", "syslog", "vhangup",

    /* Obsolete. */
    "_sysctl", "afs_syscall", "create_module", "get_kernel_syms", "getpmsg",
    "nfsservctl", "putpmsg", "query_module", "security", "sysfs", "tuxcall",
    "uselib", "ustat", "vserver",
    NULL};

/* The flags of clone3 are in memory, where a filter cannot look. */
const char *const syscalls_conditional[] = {
    "clone", "clone3", "personality", "socket", NULL};

const char *const syscalls_of_sanitizers[] = {
#if SANITIZED
    "ptrace", "process_vm_readv",
#endif
    NULL};
/* clang-format on */
