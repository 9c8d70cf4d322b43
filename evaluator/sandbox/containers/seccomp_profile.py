"""Seccomp profile of containers: an allow-list of system calls.

It replaces engines' default profiles, which differ: Docker's before version 25 allows io_uring, and some allow vsock,
which reaches outside a virtual machine. This list has the calls that computing needs. Refused with EPERM are, among
others, namespaces, mounts, keyrings, bpf, perf, io_uring, userfaultfd, ptrace and other processes' memory, modules,
clocks, quota, file handles and NUMA policy. Sockets are local or IP (no network is reachable); clone cannot create
namespaces; clone3, whose flags a filter cannot see, fails with ENOSYS, as in engines' own profiles. Calls of other
architectures, such as 32-bit ones, are refused.
"""

from __future__ import annotations

import json

_FILES = """
access chdir chmod chown close close_range copy_file_range creat dup dup2 dup3 faccessat faccessat2 fadvise64
fallocate fchdir fchmod fchmodat fchmodat2 fchown fchownat fcntl fdatasync fgetxattr flistxattr flock fremovexattr
fsetxattr fstat fstatfs fsync ftruncate futimesat getcwd getdents getdents64 getxattr inotify_add_watch inotify_init
inotify_init1 inotify_rm_watch ioctl lchown lgetxattr link linkat listxattr llistxattr lremovexattr lseek lsetxattr
lstat mkdir mkdirat mknod mknodat newfstatat open openat openat2 pipe pipe2 pread64 preadv preadv2 pwrite64 pwritev
pwritev2 read readahead readlink readlinkat readv removexattr rename renameat renameat2 rmdir sendfile setxattr
splice stat statfs statx symlink symlinkat sync sync_file_range syncfs tee truncate umask unlink unlinkat utime
utimensat utimes vmsplice write writev
"""
_MEMORY = """
brk madvise membarrier memfd_create mincore mlock mlock2 mlockall mmap mprotect mremap msync munlock munlockall
munmap pkey_alloc pkey_free pkey_mprotect
"""
_PROCESSES = """
arch_prctl capget capset execve execveat exit exit_group fork futex futex_waitv get_robust_list getcpu getegid
geteuid getgid getgroups getpgid getpgrp getpid getppid getpriority getresgid getresuid getrlimit getrusage getsid
gettid getuid ioprio_get kill landlock_add_rule landlock_create_ruleset landlock_restrict_self pidfd_open
pidfd_send_signal prctl prlimit64 restart_syscall rseq sched_get_priority_max sched_get_priority_min
sched_getaffinity sched_getattr sched_getparam sched_getscheduler sched_setaffinity sched_yield seccomp
set_robust_list set_tid_address setfsgid setfsuid setgid setgroups setpgid setpriority setregid setresgid setresuid
setreuid setrlimit setsid setuid sysinfo tgkill tkill times uname vfork wait4 waitid
"""
_TIME_AND_SIGNALS = """
alarm clock_getres clock_gettime clock_nanosleep eventfd eventfd2 getitimer getrandom gettimeofday nanosleep pause
rt_sigaction rt_sigpending rt_sigprocmask rt_sigqueueinfo rt_sigreturn rt_sigsuspend rt_sigtimedwait
rt_tgsigqueueinfo setitimer sigaltstack signalfd signalfd4 time timer_create timer_delete timer_getoverrun
timer_gettime timer_settime timerfd_create timerfd_gettime timerfd_settime
"""
_WAITING_AND_TALKING = """
accept accept4 bind connect epoll_create epoll_create1 epoll_ctl epoll_pwait epoll_pwait2 epoll_wait getpeername
getsockname getsockopt io_cancel io_destroy io_getevents io_setup io_submit listen mq_getsetattr mq_open
mq_timedreceive mq_timedsend mq_unlink msgctl msgget msgrcv msgsnd poll ppoll pselect6 recvfrom recvmmsg recvmsg
select semctl semget semop semtimedop sendmmsg sendmsg sendto setsockopt shmat shmctl shmdt shmget shutdown
socketpair
"""
NAMES = tuple(" ".join((_FILES, _MEMORY, _PROCESSES, _TIME_AND_SIGNALS, _WAITING_AND_TALKING)).split())

_NEW_NAMESPACES = 0x7E020000  # every CLONE_NEW* flag of clone
_FAMILIES = (1, 2, 10)  # AF_UNIX, AF_INET, AF_INET6
_ENOSYS = 38
_TABLES = {"amd64": "SCMP_ARCH_X86_64", "arm64": "SCMP_ARCH_AARCH64"}


def profile(architecture: str) -> str:
    """Return the profile as JSON, for a container engine. architecture: amd64 or arm64; others raise KeyError."""
    sockets = [
        {"names": ["socket"], "action": "SCMP_ACT_ALLOW", "args": [{"index": 0, "value": family, "op": "SCMP_CMP_EQ"}]}
        for family in _FAMILIES
    ]
    # personality(0xffffffff) queries, 0 is the default, 0x40000 (refused) disables address randomisation.
    personalities = [
        {
            "names": ["personality"],
            "action": "SCMP_ACT_ALLOW",
            "args": [{"index": 0, "value": persona, "op": "SCMP_CMP_EQ"}],
        }
        for persona in (0, 0xFFFFFFFF)
    ]
    clone = {"index": 0, "value": _NEW_NAMESPACES, "valueTwo": 0, "op": "SCMP_CMP_MASKED_EQ"}
    return json.dumps(
        {
            "defaultAction": "SCMP_ACT_ERRNO",
            "defaultErrnoRet": 1,
            "architectures": [_TABLES[architecture]],
            "syscalls": [
                {"names": list(NAMES), "action": "SCMP_ACT_ALLOW"},
                *sockets,
                *personalities,
                {"names": ["clone"], "action": "SCMP_ACT_ALLOW", "args": [clone]},
                {"names": ["clone3"], "action": "SCMP_ACT_ERRNO", "errnoRet": _ENOSYS},
            ],
        }
    )
