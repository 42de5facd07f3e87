package sandbox

import (
	"encoding/binary"
	"errors"
	"fmt"
	"net"
	"os"
	"runtime"
	"strconv"
	"sync"
	"syscall"
	"unsafe"

	"atelier.dev/atelier/agent/sandbox/confine"
	"golang.org/x/sys/unix"
)

// gatewayPort is the proxy's port in the network of a command, which is its own.
const (
	gatewayPort    = 3128
	gatewayAddress = "127.0.0.1:3128"
)

// gateway lets a proxy of this program answer on the loopback of a command's own
// network: its listener was opened there. Nothing runs beside the command, and
// when the listener is closed nothing is left that leads out.
type gateway struct {
	proxy confine.Proxy
	// held is what bubblewrap waits for before it starts the command, begin its
	// other end. Both are nil for the launcher, which waits by itself.
	held, begin *os.File

	listener net.Listener
	served   sync.WaitGroup
}

func newGateway(proxy confine.Proxy) (*gateway, error) {
	held, begin, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	return &gateway{proxy: proxy, held: held, begin: begin}, nil
}

// serve makes the proxy answer in the network of a process. After an error its
// command must not begin.
func (g *gateway) serve(pid int) error {
	listener, err := listenBeside(pid)
	if err != nil {
		return fmt.Errorf("open the proxy for the command: %w", err)
	}
	g.listener = listener
	g.served.Go(func() { // ends with close
		defer listener.Close() // a proxy that gives up leaves no way out
		g.proxy.Serve(listener)
	})
	return nil
}

// open makes the proxy answer, and lets a command begin that bubblewrap holds.
func (g *gateway) open(pid int) error {
	if err := g.serve(pid); err != nil {
		return err
	}
	if _, err := g.begin.Write([]byte{1}); err != nil {
		return fmt.Errorf("let the command begin: %w", err)
	}
	return errors.Join(g.held.Close(), g.begin.Close())
}

// close ends the proxy's connections.
func (g *gateway) close() {
	_ = errors.Join(g.held.Close(), g.begin.Close())
	if g.listener != nil {
		_ = g.listener.Close()
		g.served.Wait()
	}
}

// listenBeside opens a listener in the network of a process that is in
// namespaces of its own. A network can be entered only by somebody who has
// rights over the namespace of users that it belongs to, and that namespace only
// by a process with a single thread. A child does both; it shares this program's
// descriptors and leaves the listener there.
func listenBeside(pid int) (net.Listener, error) {
	network, err := os.Open("/proc/" + strconv.Itoa(pid) + "/ns/net")
	if err != nil {
		return nil, err
	}
	defer network.Close()
	owner, err := unix.IoctlRetInt(int(network.Fd()), unix.NS_GET_USERNS)
	if err != nil {
		return nil, fmt.Errorf("find the owner of a network: %w", err)
	}
	defer unix.Close(owner)
	slot, err := os.Open(os.DevNull) // a descriptor for the child to replace
	if err != nil {
		return nil, err
	}
	defer slot.Close()
	e := errand{owner: uintptr(owner), network: network.Fd(), slot: slot.Fd()}
	e.addr.Family = unix.AF_INET // the address 0.0.0.0: the loopback may not be up yet
	binary.BigEndian.PutUint16((*[2]byte)(unsafe.Pointer(&e.addr.Port))[:], gatewayPort)
	child, errno := e.start()
	runtime.KeepAlive(network)
	if errno != 0 {
		return nil, fmt.Errorf("start a child: %w", errno)
	}
	var status unix.WaitStatus
	for {
		_, err = unix.Wait4(child, &status, unix.WALL, nil)
		if !errors.Is(err, unix.EINTR) {
			break
		}
	}
	if err == nil && status.ExitStatus() != 0 {
		err = syscall.Errno(status.ExitStatus())
	}
	if err != nil {
		return nil, fmt.Errorf("listen in the network of a command: %w", err)
	}
	return net.FileListener(slot)
}

// errand is what the child does, and with what.
type errand struct {
	owner, network, slot uintptr
	addr                 unix.RawSockaddrInet4
	blocked, before      [2]uint64 // sets of signals
}

// start starts the child. It is a copy of this thread alone, of a program whose
// other threads may have held any lock: between its start and its end it may
// only make system calls. No signal reaches it, and nothing of Go's runtime runs
// in it.
//
//go:noinline
//go:norace
//go:nosplit
func (e *errand) start() (child int, errno syscall.Errno) {
	const set = 8 // the size of a set of signals for the kernel
	e.blocked = [2]uint64{^uint64(0), ^uint64(0)}
	_, _, errno = syscall.RawSyscall6(unix.SYS_RT_SIGPROCMASK, unix.SIG_SETMASK, uintptr(unsafe.Pointer(&e.blocked)), uintptr(unsafe.Pointer(&e.before)), set, 0, 0)
	if errno != 0 {
		return 0, errno
	}
	pid, _, errno := syscall.RawSyscall6(unix.SYS_CLONE, unix.CLONE_FILES, 0, 0, 0, 0, 0)
	if errno == 0 && pid == 0 {
		for { // does not return
			syscall.RawSyscall(unix.SYS_EXIT_GROUP, uintptr(e.run()), 0, 0)
		}
	}
	syscall.RawSyscall6(unix.SYS_RT_SIGPROCMASK, unix.SIG_SETMASK, uintptr(unsafe.Pointer(&e.before)), 0, set, 0, 0)
	return int(pid), errno
}

// run runs in the child.
//
//go:noinline
//go:norace
//go:nosplit
func (e *errand) run() syscall.Errno {
	if _, _, errno := syscall.RawSyscall(unix.SYS_SETNS, e.owner, unix.CLONE_NEWUSER, 0); errno != 0 {
		return errno
	}
	if _, _, errno := syscall.RawSyscall(unix.SYS_SETNS, e.network, unix.CLONE_NEWNET, 0); errno != 0 {
		return errno
	}
	socket, _, errno := syscall.RawSyscall(unix.SYS_SOCKET, unix.AF_INET, unix.SOCK_STREAM|unix.SOCK_CLOEXEC|unix.SOCK_NONBLOCK, 0)
	if errno != 0 {
		return errno
	}
	_, _, errno = syscall.RawSyscall(unix.SYS_BIND, socket, uintptr(unsafe.Pointer(&e.addr)), unix.SizeofSockaddrInet4)
	if errno == 0 {
		_, _, errno = syscall.RawSyscall(unix.SYS_LISTEN, socket, 128, 0)
	}
	if errno == 0 {
		_, _, errno = syscall.RawSyscall(unix.SYS_DUP3, socket, e.slot, unix.O_CLOEXEC)
	}
	syscall.RawSyscall(unix.SYS_CLOSE, socket, 0, 0)
	return errno
}
