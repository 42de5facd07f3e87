// The launcher puts a command into namespaces of its own, with
// a plan that package sandbox wrote (plan_linux.go). It follows no links, and it
// compares what it mounts with what the plan has seen there.
//
// It has three processes. The one that is started waits for the command's end and
// returns how it ended. Its child is the first process of the namespaces: it sets
// them up, starts the command, and ends with it, which ends everything inside.
// Each dies with its parent.
//
// Descriptor 3 is a socket to package sandbox, and 4 is the plan: the launcher first
// sends the number of the first process (FIRST), and waits for one byte before the
// command begins. If anything fails it sends what did; if nothing does, the socket
// closes when the command is executed.
//
// The commands of a session share a network, which a namespace of users owns:
// descriptors 5 and 6. The launcher makes both ("network"), and opens sockets there
// for package sandbox, which has too many threads to enter it ("listen", "connect").
// It sends what it opened, and ends.
//
// The program has no library, so that it starts at once and is the same everywhere.
#include <stddef.h>
#include <stdint.h>

#include <asm/ioctls.h>
#include <asm/stat.h>
#include <asm/unistd.h>
#include <linux/capability.h>
#include <linux/close_range.h>
#include <linux/errno.h>
#include <linux/fcntl.h>
#include <linux/filter.h>
#include <linux/landlock.h>
#include <linux/mman.h>
#include <linux/mount.h>
#include <linux/openat2.h>
#include <linux/poll.h>
#include <linux/prctl.h>
#include <linux/resource.h>
#include <linux/sched.h>
#include <linux/seccomp.h>
#include <linux/signal.h>
#include <linux/sockios.h>
#include <linux/wait.h>

enum { TALK = 3, PLAN = 4, OWNER = 5, NET = 6 };

// What a message to package sandbox says: the number of the first process, or
// what failed. They are the same in launcher_linux.go.
enum stage { FIRST, READ_PLAN, NAMESPACES, USERS, NETWORK, SOURCE, DEVICES, PROCESSES, ROOT, TARGET, RIGHTS, FOLDER, RUN };

struct message {
	uint32_t stage;
	int32_t value; // the process, or the system's number of the error
	uint32_t step; // for SOURCE and TARGET
};

// The plan's format. Texts are given by where they begin in the plan, which ends
// with a zero byte, so that every text ends inside.
struct plan {
	uint32_t magic, size, flags;
	uint32_t steps, rules; // how many; the steps follow, then the rules, then the texts
	uint32_t folder;       // the text of the working directory
};

enum { MAGIC = 0x6c6e6368, MOST_STEPS = 8192, LARGEST = 4 << 20 };
enum { SHARE_NETWORK = 1, TERMINAL = 2, NESTED = 4, WEAKER = 8 };

struct identity {
	uint64_t device, inode; // zero if anything may be there
};

struct step {
	uint32_t kind, mode; // mode is that of an empty folder; of others, 1 if nothing need be there
	uint32_t source, target;
	struct identity what, place; // of what has to be at the source and at the target
};

// A LAYER shows what is at its target, and changes to it go to its source.
enum { EMPTY, CHANGEABLE, READABLE, LAYER };

// System calls. They return a negative error number.

#if defined(__x86_64__)
static long call6(long n, long a, long b, long c, long d, long e, long f) {
	register long r10 __asm__("r10") = d, r8 __asm__("r8") = e, r9 __asm__("r9") = f;
	__asm__ volatile("syscall" : "+a"(n) : "D"(a), "S"(b), "d"(c), "r"(r10), "r"(r8), "r"(r9) : "rcx", "r11", "memory");
	return n;
}
__asm__(".globl _start\n_start: xor %ebp, %ebp\n mov %rsp, %rdi\n and $-16, %rsp\n call launch\n hlt\n");
#elif defined(__aarch64__)
static long call6(long n, long a, long b, long c, long d, long e, long f) {
	register long x8 __asm__("x8") = n, x0 __asm__("x0") = a, x1 __asm__("x1") = b, x2 __asm__("x2") = c;
	register long x3 __asm__("x3") = d, x4 __asm__("x4") = e, x5 __asm__("x5") = f;
	__asm__ volatile("svc 0" : "+r"(x0) : "r"(x8), "r"(x1), "r"(x2), "r"(x3), "r"(x4), "r"(x5) : "memory");
	return x0;
}
__asm__(".globl _start\n_start: mov x29, #0\n mov x0, sp\n bl launch\n brk #1\n");
#else
#error "the launcher does not know this processor"
#endif

#define call_(n, a, b, c, d, e, f, ...) call6(n, (long)(a), (long)(b), (long)(c), (long)(d), (long)(e), (long)(f))
#define call(name, ...) call_(__NR_##name, ##__VA_ARGS__, 0, 0, 0, 0, 0, 0)

static _Noreturn void end(int code) {
	for (;;)
		call(exit_group, code);
}

static uint32_t current; // the step that is carried out

static void tell(enum stage stage, int32_t value) {
	struct message m = {stage, value, current};
	call(sendto, TALK, &m, sizeof m, 0x4000 /* MSG_NOSIGNAL */);
}

// pass sends descriptors.
static void pass(const int *fds, int count) {
	struct message m = {FIRST, 0, 0};
	struct {
		size_t length;
		int level, type;
		int fds[4];
	} control = {16 + count * sizeof *fds, 1 /* SOL_SOCKET */, 1 /* SCM_RIGHTS */, {0}};
	for (int i = 0; i < count; i++)
		control.fds[i] = fds[i];
	struct {
		void *at;
		size_t length;
	} data = {&m, sizeof m};
	struct { // struct msghdr, whose header needs a library
		void *name;
		int name_length;
		void *data;
		size_t parts;
		void *control;
		size_t control_length;
		int flags;
	} header = {0, 0, &data, 1, &control, (control.length + 7) & ~7ul, 0};
	call(sendmsg, TALK, &header, 0x4000 /* MSG_NOSIGNAL */);
}

// must ends the launcher if a system call has failed.
static long must(enum stage stage, long result) {
	if (result < 0) {
		tell(stage, -result);
		end(1);
	}
	return result;
}

static long length(const char *text) {
	long n = 0;
	while (text[n])
		n++;
	return n;
}

// The plan.

static const struct plan *plan;
static const struct step *steps;
static const struct sock_filter *rules;

static const char *text(uint32_t at) { return (const char *)plan + at; }

// read_plan maps the plan and checks that everything in it is inside of it.
static void read_plan(void) {
	struct stat info;
	must(READ_PLAN, call(fstat, PLAN, &info));
	if (info.st_size < (long)sizeof *plan || info.st_size > LARGEST)
		must(READ_PLAN, -EINVAL);
	uint32_t size = info.st_size;
	plan = (const void *)must(READ_PLAN, call(mmap, 0, size, PROT_READ, MAP_PRIVATE, PLAN, 0));
	if (plan->magic != MAGIC || plan->size != size || plan->steps > MOST_STEPS || plan->rules == 0 || plan->rules > BPF_MAXINSNS)
		must(READ_PLAN, -EINVAL);
	steps = (const void *)(plan + 1);
	rules = (const void *)(steps + plan->steps);
	uint32_t texts = sizeof *plan + plan->steps * sizeof *steps + plan->rules * sizeof *rules;
	if (texts >= size || text(size - 1)[0] || plan->folder < texts || plan->folder >= size)
		must(READ_PLAN, -EINVAL);
	for (uint32_t i = 0; i < plan->steps; i++) {
		const struct step *s = &steps[i];
		if (s->kind > LAYER || s->mode > 0777 || s->source < texts || s->source >= size || s->target < texts || s->target >= size)
			must(READ_PLAN, -EINVAL);
	}
}

// Users.

static void write_text(enum stage stage, const char *path, const char *text) {
	int fd = must(stage, call(openat, AT_FDCWD, path, O_WRONLY | O_CLOEXEC));
	must(stage, call(write, fd, text, length(text)));
	call(close, fd);
}

static char *number(char *at, unsigned n) {
	char digits[10];
	int i = 0;
	do
		digits[i++] = '0' + n % 10;
	while (n /= 10);
	while (i)
		*at++ = digits[--i];
	*at = 0;
	return at;
}

// map gives the only user or group of a new namespace a number in it.
static void map(const char *path, unsigned inside, unsigned outside) {
	char line[32], *at = number(line, inside);
	*at++ = ' ';
	at = number(at, outside);
	*at++ = ' ';
	number(at, 1);
	write_text(USERS, path, line);
}

// Mounts.

static const struct mount_attr attributes_of[] = {
	[CHANGEABLE] = {MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV, 0, MS_PRIVATE, 0},
	[READABLE] = {MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV | MOUNT_ATTR_RDONLY, 0, MS_PRIVATE, 0},
};
static const struct mount_attr device_attributes[] = {
	{MOUNT_ATTR_NOSUID | MOUNT_ATTR_NOEXEC, 0, MS_PRIVATE, 0},
	// An administrator owns the machine's devices and could change who may use them.
	// They can be written nevertheless.
	{MOUNT_ATTR_NOSUID | MOUNT_ATTR_NOEXEC | MOUNT_ATTR_RDONLY, 0, MS_PRIVATE, 0},
};

// set changes what may be done with a mount and all mounts below it.
static void set(enum stage stage, int mount, const struct mount_attr *attributes) {
	must(stage, call(mount_setattr, mount, "", AT_EMPTY_PATH | AT_RECURSIVE, attributes, sizeof *attributes));
}

// find opens a path in which nothing is a link.
static long find(int folder, const char *path, int flags) {
	struct open_how how = {.flags = O_PATH | O_CLOEXEC | flags, .resolve = RESOLVE_NO_SYMLINKS};
	return call(openat2, folder, path, &how, sizeof how);
}

// check ends the launcher if a descriptor is not of what the plan has seen.
static void check(enum stage stage, int fd, const struct identity *seen) {
	struct stat info;
	if (!seen->inode)
		return;
	must(stage, call(fstat, fd, &info));
	if (info.st_dev != seen->device || info.st_ino != seen->inode)
		must(stage, -ESTALE);
}

// copy returns a copy of the mounts at a descriptor, which it closes. The copy is
// attached to nothing.
static int copy(enum stage stage, int fd, const struct mount_attr *attributes) {
	int mount = must(stage, call(open_tree, fd, "", AT_EMPTY_PATH | AT_RECURSIVE | OPEN_TREE_CLONE | OPEN_TREE_CLOEXEC));
	call(close, fd);
	set(stage, mount, attributes);
	return mount;
}

// try_attach mounts something at a descriptor, and closes that.
static long try_attach(int mount, int at) {
	long result = call(move_mount, mount, "", at, "", MOVE_MOUNT_F_EMPTY_PATH | MOVE_MOUNT_T_EMPTY_PATH);
	call(close, at);
	return result;
}

static void attach(enum stage stage, int mount, int at) { must(stage, try_attach(mount, at)); }

// file_system returns a new file system, attached to nothing.
static int file_system(enum stage stage, const char *type, const char *const *options, int attributes) {
	int context = must(stage, call(fsopen, type, FSOPEN_CLOEXEC));
	for (; options && *options; options += 2)
		must(stage, call(fsconfig, context, FSCONFIG_SET_STRING, options[0], options[1], 0));
	must(stage, call(fsconfig, context, FSCONFIG_CMD_CREATE, 0, 0, 0));
	int mount = must(stage, call(fsmount, context, FSMOUNT_CLOEXEC, attributes));
	call(close, context);
	return mount;
}

// empty_folder returns one of a limited size: what is in it takes memory.
static int empty_folder(enum stage stage, unsigned mode, const char *size) {
	char octal[5] = {'0', '0' + (mode >> 6), '0' + (mode >> 3 & 7), '0' + (mode & 7), 0};
	const char *options[] = {"mode", octal, "size", size, "nr_inodes", "64k", 0};
	return file_system(stage, "tmpfs", options, MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV);
}

static int is_folder(enum stage stage, int fd) {
	struct stat info;
	must(stage, call(fstat, fd, &info));
	return (info.st_mode & 0170000) == 0040000;
}

// make returns a descriptor of the last part of a path, whose missing parts it
// makes. It only runs where the path leads through a folder that is the command's
// own.
static int make(const char *path, int folder_wanted) {
	char name[256];
	int at = must(TARGET, find(AT_FDCWD, "/", 0));
	while (*path) {
		long n = 0;
		for (path += *path == '/'; path[n] && path[n] != '/'; n++) {
			if (n == sizeof name - 1)
				must(TARGET, -ENAMETOOLONG);
			name[n] = path[n];
		}
		name[n] = 0;
		path += n;
		long next = find(at, name, 0);
		if (next == -ENOENT) {
			if (*path || folder_wanted) {
				must(TARGET, call(mkdirat, at, name, 0755));
			} else {
				int file = must(TARGET, call(openat, at, name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0444));
				call(close, file);
			}
			next = find(at, name, 0);
		}
		call(close, at);
		at = must(TARGET, next);
	}
	return at;
}

// The devices that everybody may use.
static const char *const names[] = {"null", "zero", "full", "random", "urandom", "tty"};
enum { DEVICES_COUNT = sizeof names / sizeof *names };

static int device_mounts[DEVICES_COUNT], terminal = -1;

// device_sources copies the devices and the command's terminal, while devices may
// still be used there.
static void device_sources(unsigned uid) {
	const struct mount_attr *attributes = &device_attributes[uid == 0];
	int old = must(DEVICES, find(AT_FDCWD, "/dev", 0));
	for (int i = 0; i < DEVICES_COUNT; i++) {
		int device = must(DEVICES, find(old, names[i], 0));
		device_mounts[i] = copy(DEVICES, device, attributes);
	}
	call(close, old);
	char path[64];
	long size = plan->flags & TERMINAL ? call(readlinkat, AT_FDCWD, "/proc/self/fd/0", path, sizeof path - 1) : -1;
	if (size <= 0)
		return;
	path[size] = 0;
	long device = find(AT_FDCWD, path, 0);
	if (device >= 0)
		terminal = copy(DEVICES, device, attributes);
}

static void device(int dev, const char *name, int mount) {
	int file = must(DEVICES, call(openat, dev, name, O_RDONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0444));
	attach(DEVICES, mount, file);
	call(close, mount);
}

// devices makes /dev, with terminals and shared memory of the command's own.
static void devices(void) {
	static const char *const links[][2] = {
		{"fd", "/proc/self/fd"},       {"stdin", "/proc/self/fd/0"}, {"stdout", "/proc/self/fd/1"},
		{"stderr", "/proc/self/fd/2"}, {"core", "/proc/kcore"},      {"ptmx", "pts/ptmx"},
	};
	static const char *const pts[] = {"ptmxmode", "0666", "mode", "620", 0};
	int dev = empty_folder(DEVICES, 0755, "1m");
	attach(DEVICES, dev, must(DEVICES, find(AT_FDCWD, "/dev", 0)));
	for (int i = 0; i < DEVICES_COUNT; i++)
		device(dev, names[i], device_mounts[i]);
	if (terminal >= 0)
		device(dev, "console", terminal);
	for (unsigned i = 0; i < sizeof links / sizeof *links; i++)
		must(DEVICES, call(symlinkat, links[i][1], dev, links[i][0]));
	must(DEVICES, call(mkdirat, dev, "shm", 0755));
	must(DEVICES, call(mkdirat, dev, "pts", 0755));
	int shared = empty_folder(DEVICES, 0755, "1g");
	attach(DEVICES, shared, must(DEVICES, find(dev, "shm", 0)));
	call(close, shared);
	int terminals = file_system(DEVICES, "devpts", pts, MOUNT_ATTR_NOSUID | MOUNT_ATTR_NOEXEC);
	attach(DEVICES, terminals, must(DEVICES, find(dev, "pts", 0)));
	call(close, terminals);
	call(close, dev);
}

// MOST_PROCESSES limits how many processes and threads the commands of one line have at a
// time, so that one that starts them without end leaves room for other programs.
enum { MOST_PROCESSES = 8192 };
static const char most_processes[] = "8192";

// counts_alone reports whether the kernel has a limit of processes for each namespace,
// since version 6.14. Before, the file has that of the machine.
static int counts_alone(void) {
	char names[6][65]; // struct utsname
	unsigned version[2] = {0, 0};
	if (call(uname, names) < 0)
		return 0;
	for (int i = 0, part = 0; names[2][i] && part < 2; i++) {
		if (names[2][i] >= '0' && names[2][i] <= '9')
			version[part] = version[part] * 10 + names[2][i] - '0';
		else
			part++;
	}
	return version[0] > 6 || (version[0] == 6 && version[1] >= 14);
}

// processes makes /proc. What changes the machine is read-only there: an
// administrator could write it without any right that can be given up.
static void processes(unsigned uid) {
	if (plan->flags & WEAKER) // a container allows no other /proc than its own, which is read-only by now
		return;
	static const char *const covered[] = {"sys", "sysrq-trigger", "irq", "bus", "fs", "acpi", "scsi", "driver", "asound", "mtrr", 0};
	int proc = file_system(PROCESSES, "proc", 0, MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV | MOUNT_ATTR_NOEXEC);
	attach(PROCESSES, proc, must(PROCESSES, find(AT_FDCWD, "/proc", 0)));
	if (!(plan->flags & NESTED)) // the one for [rights] is the last
		write_text(PROCESSES, "/proc/sys/user/max_user_namespaces", "1");
	if (counts_alone())
		write_text(PROCESSES, "/proc/sys/kernel/pid_max", most_processes);
	for (int i = 0; covered[i] && (uid == 0 || i == 0); i++) { // the first has the limits of the namespaces
		long found = find(proc, covered[i], 0);
		if (found == -ENOENT)
			continue;
		int mount = copy(PROCESSES, must(PROCESSES, found), &attributes_of[READABLE]);
		attach(PROCESSES, mount, must(PROCESSES, find(proc, covered[i], 0)));
		call(close, mount);
	}
	call(close, proc);
}

// name_of writes the path by which a descriptor of this process can be opened.
static const char *name_of(char *at, int fd) {
	static const char folder[] = "/proc/self/fd/";
	for (int i = 0; folder[i]; i++)
		*at++ = folder[i];
	number(at, fd);
	return at - (sizeof folder - 1);
}

// layer_of returns a file system that shows lower, and keeps changes in the folder
// "changes" of upper. If the kernel makes none, as on top of some file systems, it
// returns upper alone: programs then begin with empty caches.
static int layer_of(int lower, int upper) {
	char below[32], above[32], beside[32];
	int changes = must(SOURCE, find(upper, "changes", O_DIRECTORY)), work = must(SOURCE, find(upper, "work", O_DIRECTORY));
	const char *options[] = {"lowerdir", name_of(below, lower), "upperdir", name_of(above, changes), "workdir", name_of(beside, work)};
	long context = call(fsopen, "overlay", FSOPEN_CLOEXEC), mount = context;
	for (int i = 0; mount >= 0 && i < 6; i += 2)
		mount = call(fsconfig, context, FSCONFIG_SET_STRING, options[i], options[i + 1], 0);
	if (mount >= 0)
		mount = call(fsconfig, context, FSCONFIG_SET_FLAG, "userxattr", 0, 0);
	if (mount >= 0)
		mount = call(fsconfig, context, FSCONFIG_CMD_CREATE, 0, 0, 0);
	if (mount >= 0)
		mount = call(fsmount, context, FSMOUNT_CLOEXEC, MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV);
	call(close, context);
	call(close, work);
	if (mount < 0)
		return copy(SOURCE, changes, &attributes_of[CHANGEABLE]);
	call(close, changes);
	return mount;
}

static int mounts[MOST_STEPS];

// sources copies what will be mounted, while nothing is mounted over it.
static void sources(void) {
	for (current = 0; current < plan->steps; current++) {
		const struct step *s = &steps[current];
		if (s->kind == EMPTY)
			continue;
		int fd = must(SOURCE, find(AT_FDCWD, text(s->source), 0));
		check(SOURCE, fd, &s->what);
		if (s->kind == LAYER) {
			int lower = must(SOURCE, find(AT_FDCWD, text(s->target), O_DIRECTORY));
			mounts[current] = layer_of(lower, fd);
			call(close, lower);
			call(close, fd);
			continue;
		}
		mounts[current] = copy(SOURCE, fd, &attributes_of[s->kind]);
	}
}

// targets mounts it.
static void targets(void) {
	for (current = 0; current < plan->steps; current++) {
		const struct step *s = &steps[current];
		if (s->kind == EMPTY)
			mounts[current] = empty_folder(TARGET, s->mode, "256m");
		long at = find(AT_FDCWD, text(s->target), 0);
		// What is gone need not be covered, nor what this process cannot reach, which has
		// more rights than the command.
		if ((at == -ENOENT || at == -EACCES) && s->kind == READABLE && s->mode) {
			call(close, mounts[current]);
			continue;
		}
		if (at == -ENOENT && !s->place.inode)
			at = make(text(s->target), s->kind == EMPTY || is_folder(TARGET, mounts[current]));
		must(TARGET, at);
		check(TARGET, at, &s->place);
		long attached = try_attach(mounts[current], at);
		if (attached != -ENOENT || s->kind != READABLE || !s->mode) // else it is gone since it was found
			must(TARGET, attached);
		call(close, mounts[current]);
	}
	current = 0;
}

// The first process.

// die_with_parent ends this process with its parent, also if that has ended
// already: nobody reads from status then.
static void die_with_parent(int status) {
	must(RIGHTS, call(prctl, PR_SET_PDEATHSIG, SIGKILL));
	struct pollfd p = {.fd = status};
	struct timespec_ { long a, b; } now = {0, 0};
	if (call(ppoll, &p, 1, &now) > 0 && p.revents & POLLERR)
		end(1);
}

static void loopback(void) {
	struct { // struct ifreq, whose header needs a library
		char name[16];
		short flags;
		char rest[22];
	} lo = {"lo", 0x1 | 0x40 /* IFF_UP, IFF_RUNNING */, {0}};
	int fd = must(NETWORK, call(socket, 2 /* AF_INET */, 2 /* SOCK_DGRAM */ | O_CLOEXEC, 0));
	must(NETWORK, call(ioctl, fd, SIOCSIFFLAGS, &lo));
	call(close, fd);
}

// network makes a network with a loopback, and the namespace of users that owns it.
// It also opens the lists of what listens there.
static void network(unsigned uid, unsigned gid) {
	must(NAMESPACES, call(unshare, CLONE_NEWUSER | CLONE_NEWNET));
	write_text(USERS, "/proc/self/setgroups", "deny");
	map("/proc/self/uid_map", 0, uid);
	map("/proc/self/gid_map", 0, gid);
	loopback();
	static const char *const files[] = {"/proc/self/ns/user", "/proc/self/ns/net", "/proc/self/net/tcp", "/proc/self/net/tcp6"};
	int fds[4];
	for (int i = 0; i < 4; i++)
		fds[i] = must(NETWORK, call(openat, AT_FDCWD, files[i], O_RDONLY | O_CLOEXEC));
	pass(fds, 4);
}

// join enters a network that another launcher made.
static void join(void) {
	must(NAMESPACES, call(setns, OWNER, CLONE_NEWUSER));
	must(NAMESPACES, call(setns, NET, CLONE_NEWNET));
}

enum { INET = 2, INET6 = 10, STREAM = 1 };

struct address { // struct sockaddr_in and sockaddr_in6
	uint16_t family, port;
	uint8_t rest[24];
};

// listen_ opens a listener at a port that the kernel chooses.
static int listen_(void) {
	struct address loopback = {INET, 0, {127, 0, 0, 1}};
	int fd = must(NETWORK, call(socket, INET, STREAM | O_CLOEXEC, 0));
	must(NETWORK, call(bind, fd, &loopback, 16));
	must(NETWORK, call(listen, fd, 128));
	return fd;
}

// connect_ connects to a port, at either of the two addresses of the loopback.
static int connect_(const char *digits) {
	unsigned port = 0;
	while (*digits >= '0' && *digits <= '9')
		port = port * 10 + *digits++ - '0';
	uint16_t sent = port << 8 | port >> 8;
	struct address old = {INET, sent, {127, 0, 0, 1}}, new = {INET6, sent, {[19] = 1}};
	int fd = must(NETWORK, call(socket, INET, STREAM | O_CLOEXEC, 0));
	if (call(connect, fd, &old, 16) == 0)
		return fd;
	fd = must(NETWORK, call(socket, INET6, STREAM | O_CLOEXEC, 0));
	must(NETWORK, call(connect, fd, &new, 28));
	return fd;
}

// The second layer. Mounts decide what is read-only; these rules say it again, so that a
// mount that is wrong opens nothing. They also hold where a mount does not: a pipe with a
// name can be written although its mount is read-only.

enum {
	WRITE_FILE = LANDLOCK_ACCESS_FS_WRITE_FILE | 1 << 14 /* TRUNCATE */,
	WRITE = WRITE_FILE | LANDLOCK_ACCESS_FS_REMOVE_DIR | LANDLOCK_ACCESS_FS_REMOVE_FILE | LANDLOCK_ACCESS_FS_MAKE_DIR |
		LANDLOCK_ACCESS_FS_MAKE_REG | LANDLOCK_ACCESS_FS_MAKE_SYM | LANDLOCK_ACCESS_FS_MAKE_FIFO | LANDLOCK_ACCESS_FS_MAKE_SOCK |
		LANDLOCK_ACCESS_FS_MAKE_CHAR | LANDLOCK_ACCESS_FS_MAKE_BLOCK | 1 << 13 /* REFER */,
	LANDLOCK_WITH_TRUNCATE = 3, // the oldest version of the kernel's interface that has all of them
};

static int layer = -1; // the rules; -1 if the kernel has none

// allow lets the command write at a descriptor, which it closes, and below it.
static void allow(int fd) {
	struct landlock_path_beneath_attr rule = {is_folder(RIGHTS, fd) ? WRITE : WRITE_FILE, fd};
	must(RIGHTS, call(landlock_add_rule, layer, LANDLOCK_RULE_PATH_BENEATH, &rule, 0));
	call(close, fd);
}

// layers makes the rules. A command that confines its children itself gets none,
// because they would keep it from mounting anything.
static void layers(void) {
	if (plan->flags & NESTED || call(landlock_create_ruleset, 0, 0, LANDLOCK_CREATE_RULESET_VERSION) < LANDLOCK_WITH_TRUNCATE)
		return;
	struct landlock_ruleset_attr handled = {.handled_access_fs = WRITE};
	layer = must(RIGHTS, call(landlock_create_ruleset, &handled, sizeof handled.handled_access_fs, 0));
	for (uint32_t i = 0; i < plan->steps; i++) {
		long at = steps[i].kind == READABLE ? -1 : find(AT_FDCWD, text(steps[i].target), 0);
		if (at >= 0) // else something else was mounted above it, so that it is not seen
			allow(at);
	}
	allow(must(RIGHTS, find(AT_FDCWD, "/dev", 0)));
	allow(must(RIGHTS, find(AT_FDCWD, "/proc", 0)));
	long input = plan->flags & TERMINAL ? call(openat, AT_FDCWD, "/proc/self/fd/0", O_PATH | O_CLOEXEC) : -1;
	if (input >= 0) // a terminal of the machine, which has another name inside
		allow(input);
}

// rights gives up everything that was needed for the set-up. The command is in a
// namespace of users below the one that owns its other namespaces, so that no
// right in its own would be one over those.
static void rights(unsigned uid, unsigned gid) {
	must(RIGHTS, call(unshare, CLONE_NEWUSER));
	map("/proc/self/uid_map", uid, 0);
	map("/proc/self/gid_map", gid, 0);
	for (int i = 0; call(prctl, PR_CAPBSET_READ, i) >= 0; i++)
		must(RIGHTS, call(prctl, PR_CAPBSET_DROP, i));
	must(RIGHTS, call(prctl, PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0));
	struct __user_cap_header_struct header = {_LINUX_CAPABILITY_VERSION_3, 0};
	struct __user_cap_data_struct none[2] = {{0, 0, 0}, {0, 0, 0}};
	must(RIGHTS, call(capset, &header, none));
	must(RIGHTS, call(prctl, PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0));
}

// own_input replaces the null device of the machine by that of the command: an
// administrator could change who may use it through the descriptor.
static void own_input(void) {
	struct stat info;
	if (call(fstat, 0, &info) < 0 || (info.st_mode & 0170000) != 0020000 || info.st_rdev != (1 << 8 | 3))
		return;
	int null = must(RUN, call(openat, AT_FDCWD, "/dev/null", O_RDONLY | O_CLOEXEC));
	must(RUN, call(dup3, null, 0, 0));
	call(close, null);
}

static _Noreturn void command(char **argv, char **envp) {
	own_input();
	if (plan->flags & TERMINAL) {
		must(RUN, call(setsid));
		must(RUN, call(ioctl, 0, TIOCSCTTY, 0));
	}
	if (layer >= 0)
		must(RUN, call(landlock_restrict_self, layer, 0));
	must(RUN, call(execve, argv[0], argv, envp));
	end(1);
}

static _Noreturn void first(int status, unsigned uid, unsigned gid, char **argv, char **envp) {
	die_with_parent(status);
	// The group of the process that waits ends with that, whoever reaps this one.
	must(RIGHTS, call(setsid));
	int joined = !(plan->flags & SHARE_NETWORK); // the outer namespace then has numbers of its own
	write_text(USERS, "/proc/self/setgroups", "deny");
	map("/proc/self/uid_map", 0, joined ? 0 : uid);
	map("/proc/self/gid_map", 0, joined ? 0 : gid);
	struct rlimit64 limit, most;
	must(SOURCE, call(prlimit64, 0, RLIMIT_NOFILE, 0, &limit));
	most = (struct rlimit64){limit.rlim_max, limit.rlim_max};
	must(SOURCE, call(prlimit64, 0, RLIMIT_NOFILE, &most, 0));
	long mask = call(umask, 0);
	sources();
	device_sources(uid);
	must(ROOT, call(mount_setattr, AT_FDCWD, "/", AT_RECURSIVE, &attributes_of[READABLE], sizeof *attributes_of));
	devices();
	processes(uid);
	targets();
	layers();
	call(umask, mask);
	must(SOURCE, call(prlimit64, 0, RLIMIT_NOFILE, &limit, 0));
	must(SOURCE, call(prlimit64, 0, RLIMIT_NPROC, 0, &limit));
	if (limit.rlim_max > MOST_PROCESSES) { // of this user in these namespaces; an administrator has none
		most = (struct rlimit64){MOST_PROCESSES, MOST_PROCESSES};
		must(SOURCE, call(prlimit64, 0, RLIMIT_NPROC, &most, 0));
	}
	int folder = must(FOLDER, find(AT_FDCWD, text(plan->folder), O_DIRECTORY));
	must(FOLDER, call(fchdir, folder));
	rights(uid, gid);
	die_with_parent(status); // a change of rights may have undone it
	char begin;
	if (call(read, TALK, &begin, 1) != 1)
		end(1);
	// The command has the same user, and could trace its own first process.
	must(RIGHTS, call(prctl, PR_SET_DUMPABLE, 0));
	struct sock_fprog program = {plan->rules, (struct sock_filter *)rules};
	must(RIGHTS, call(prctl, PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program));
	must(RIGHTS, call(close_range, 3, ~0U, CLOSE_RANGE_CLOEXEC));
	long child = must(RUN, call(clone, SIGCHLD, 0));
	if (child == 0)
		command(argv, envp);
	call(close_range, 0, status - 1, 0);
	call(close_range, status + 1, ~0U, 0);
	int how = 0;
	for (long ended = 0; ended != child;) {
		ended = call(wait4, -1, &how, __WALL, 0);
		if (ended < 0 && ended != -EINTR)
			end(1);
	}
	int code = how & 0x7f ? 128 + (how & 0x7f) : how >> 8 & 0xff;
	call(write, status, &code, sizeof code);
	end(code);
}

// run starts the command, whose program is argv, and waits for its end.
static _Noreturn void run(unsigned uid, unsigned gid, char **argv, char **envp) {
	int status[2], code = 1;
	read_plan();
	call(setgroups, 0, 0); // only an administrator may; other groups would still open files
	if (!(plan->flags & SHARE_NETWORK))
		join();
	must(NAMESPACES, call(pipe2, status, O_CLOEXEC));
	must(NAMESPACES, call(prctl, PR_SET_NAME, "atelier-jail"));
	must(NAMESPACES, call(prctl, PR_SET_PDEATHSIG, SIGKILL));
	long flags = CLONE_NEWUSER | CLONE_NEWNS | CLONE_NEWPID | CLONE_NEWIPC | CLONE_NEWUTS | CLONE_NEWCGROUP | SIGCHLD;
	long child = must(NAMESPACES, call(clone, flags, 0));
	if (child == 0) {
		call(close, status[0]);
		first(status[1], uid, gid, argv, envp);
	}
	tell(FIRST, child);
	call(close_range, 0, status[0] - 1, 0);
	call(close_range, status[0] + 1, ~0U, 0);
	if (call(read, status[0], &code, sizeof code) != sizeof code)
		code = 1; // the first process has failed, or was killed
	end(code);
}

__attribute__((used)) _Noreturn void launch(long *stack) {
	char **argv = (char **)(stack + 1), **envp = argv + stack[0] + 1;
	unsigned uid = call(geteuid), gid = call(getegid);
	char what = stack[0] < 2 ? 0 : argv[1][0];
	if (what == 'r' && stack[0] > 2)
		run(uid, gid, argv + 2, envp);
	if (what == 'n') {
		network(uid, gid);
		end(0);
	}
	if (what != 'l' && !(what == 'c' && stack[0] > 2))
		end(2);
	join();
	int fd = what == 'l' ? listen_() : connect_(argv[2]);
	pass(&fd, 1);
	end(0);
}
