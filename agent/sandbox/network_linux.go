package sandbox

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"sync"
	"time"

	"golang.org/x/sys/unix"
)

// privateNetwork is a network with nothing but a loopback, for the commands of one
// [Scope]: a server that one of them starts is reached by the next. The launcher
// makes it, and it lives as long as its descriptors. The zero privateNetwork is made when
// it is first used.
type privateNetwork struct {
	mu    sync.Mutex
	files []*os.File // its owner, the network, and its lists of sockets; nil before it is made
}

// The files of a network.
const (
	networkOwner = iota
	networkItself
	networkSockets4
	networkSockets6
	networkFiles
)

// launcherTime is how long the launcher may take to make a network, or to open a
// socket in one.
const launcherTime = 10 * time.Second

// join returns the descriptors that a launcher needs to enter the network: its
// owner, and the network itself.
func (n *privateNetwork) join(l launcher) ([]*os.File, error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.files == nil {
		files, err := l.open(nil, networkFiles, "network")
		if err != nil {
			return nil, fmt.Errorf("make a network for commands: %w", err)
		}
		n.files = files
	}
	return n.files[:networkSockets4], nil
}

// listen returns a listener on the loopback of the network, at a port that the
// kernel chose.
func (n *privateNetwork) listen(l launcher) (net.Listener, error) {
	joined, err := n.join(l)
	if err != nil {
		return nil, err
	}
	files, err := l.open(joined, 1, "listen")
	if err != nil {
		return nil, fmt.Errorf("listen in the network of a command: %w", err)
	}
	defer files[0].Close()
	return net.FileListener(files[0])
}

// dial connects to a port of the network.
func (n *privateNetwork) dial(l launcher, port int) (net.Conn, error) {
	joined, err := n.join(l)
	if err != nil {
		return nil, err
	}
	files, err := l.open(joined, 1, "connect", strconv.Itoa(port))
	if err != nil {
		return nil, fmt.Errorf("connect to port %d of a confined command: %w", port, err)
	}
	defer files[0].Close()
	return net.FileConn(files[0])
}

// listening returns the ports on which something listens in the network, by the
// number of the socket. It is empty before the network is made.
func (n *privateNetwork) listening() map[uint64]int {
	n.mu.Lock()
	defer n.mu.Unlock()
	ports := map[uint64]int{}
	if n.files == nil {
		return ports
	}
	for _, list := range n.files[networkSockets4:] {
		if _, err := list.Seek(0, io.SeekStart); err == nil {
			readListening(list, ports)
		}
	}
	return ports
}

// close ends the network. What runs in it keeps it until it ends.
func (n *privateNetwork) close() {
	n.mu.Lock()
	defer n.mu.Unlock()
	for _, file := range n.files {
		_ = file.Close()
	}
	n.files = nil
}

// mostSockets limits how many lines of a list of sockets are read.
const mostSockets = 10_000

// readListening adds the listeners in a list in the format of /proc/net/tcp.
func readListening(list io.Reader, ports map[uint64]int) {
	const local, state, inode, listens = 1, 3, 9, "0A"
	lines := bufio.NewScanner(list)
	for range mostSockets {
		if !lines.Scan() {
			return
		}
		fields := strings.Fields(lines.Text())
		if len(fields) <= inode || fields[state] != listens {
			continue
		}
		_, hex, _ := strings.Cut(fields[local], ":")
		port, err := strconv.ParseUint(hex, 16, 16)
		number, err2 := strconv.ParseUint(fields[inode], 10, 64)
		if err == nil && err2 == nil {
			ports[number] = int(port)
		}
	}
}

// open runs the launcher for descriptors that it opens in a network, or makes
// with it.
func (l launcher) open(joined []*os.File, count int, args ...string) (_ []*os.File, err error) {
	ours, theirs, err := socketPair()
	if err != nil {
		return nil, err
	}
	defer ours.Close()
	defer theirs.Close()
	ctx, cancel := context.WithTimeout(context.Background(), launcherTime)
	defer cancel()
	cmd := exec.CommandContext(ctx, l.program, args...)
	cmd.Env, cmd.Dir = []string{}, "/"
	cmd.ExtraFiles = append([]*os.File{theirs, nil}, joined...) // it needs no plan
	cmd.SysProcAttr = ownSession()
	closeDescriptorsOnExec()
	err = cmd.Run()
	_ = theirs.Close() // so that nobody waits for what nobody sends
	if err != nil {
		if said, failed := receive(ours); failed == nil && int(said.Stage) < len(stages) {
			return nil, fmt.Errorf("%s: %w", stages[said.Stage], unix.Errno(said.Value))
		}
		return nil, fmt.Errorf("run the launcher: %w", err)
	}
	control := make([]byte, unix.CmsgSpace(4*networkFiles))
	raw, err := ours.SyscallConn()
	if err != nil {
		return nil, err
	}
	var size int
	failed := raw.Read(func(fd uintptr) bool {
		_, size, _, _, err = unix.Recvmsg(int(fd), make([]byte, 64), control, unix.MSG_CMSG_CLOEXEC|unix.MSG_DONTWAIT)
		return true // it was sent before the launcher ended
	})
	if err := errors.Join(failed, err); err != nil {
		return nil, fmt.Errorf("take what the launcher opened: %w", err)
	}
	messages, err := unix.ParseSocketControlMessage(control[:size])
	if err != nil || len(messages) != 1 {
		return nil, fmt.Errorf("take what the launcher opened: %d messages: %w", len(messages), err)
	}
	fds, err := unix.ParseUnixRights(&messages[0])
	files := make([]*os.File, len(fds))
	for i, fd := range fds {
		files[i] = os.NewFile(uintptr(fd), strings.Join(args, " "))
	}
	if err != nil || len(files) != count {
		for _, file := range files {
			_ = file.Close()
		}
		return nil, fmt.Errorf("take what the launcher opened: %d of %d: %w", len(files), count, err)
	}
	return files, nil
}

// socketPair returns two ends of a way to a launcher, of which the first is ours.
func socketPair() (ours, theirs *os.File, err error) {
	ends, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_SEQPACKET|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return nil, nil, fmt.Errorf("make a way to the launcher: %w", err)
	}
	_ = unix.SetNonblock(ends[0], true) // so that a wait for it can be interrupted
	return os.NewFile(uintptr(ends[0]), "launcher"), os.NewFile(uintptr(ends[1]), "launcher"), nil
}
