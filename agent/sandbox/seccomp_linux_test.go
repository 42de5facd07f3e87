package sandbox

import (
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"atelier.dev/atelier/agent/sandbox/confine"
	"golang.org/x/sys/unix"
)

// knock names the variable with the folder of the sockets that the test binary,
// as a command, sends to.
const knock = "ATELIER_TEST_KNOCK"

// TestKnock is the command of the test below.
func TestKnock(t *testing.T) {
	dir := os.Getenv(knock)
	if dir == "" {
		t.Skip("it is a command of another test")
	}
	stream, datagram := filepath.Join(dir, "stream"), filepath.Join(dir, "datagram")
	try := func(how string, err error) { fmt.Printf("%s: %t\n", how, err == nil) }
	c, err := net.Dial("unix", stream)
	if try("connect", err); err == nil {
		_, _ = c.Write([]byte("x"))
		_ = c.Close()
	}
	_, err = net.Dial("unixgram", datagram)
	try("connect a datagram socket", err)
	pair, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_DGRAM|unix.SOCK_CLOEXEC, 0)
	if err == nil {
		err = unix.Sendto(pair[0], []byte("x"), 0, &unix.SockaddrUnix{Name: datagram})
	}
	try("send from a pair", err)
	_, err = unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM, 0)
	try("pipes", err)
}

// A command that must not change anything cannot ask another program to do so
// through a socket in the project.
func TestReadOnlyCommandsReachNoSocket(t *testing.T) {
	t.Parallel()
	everyMeans(t, func(t *testing.T, y *yard) { sendToSockets(t, y.by) })
}

func sendToSockets(t *testing.T, by enforcer) {
	dir := t.TempDir()
	program := filepath.Join(dir, "knock") // the rest of /tmp is hidden
	if err := copyFile(program, os.Args[0]); err != nil {
		t.Fatal(err)
	}
	l, err := net.Listen("unix", filepath.Join(dir, "stream"))
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	d, err := net.ListenPacket("unixgram", filepath.Join(dir, "datagram"))
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	for confined, want := range map[*confine.Profile]string{
		nil: "connect: true\nconnect a datagram socket: true\nsend from a pair: true\npipes: true\n",
		{}:  "connect: false\nconnect a datagram socket: false\nsend from a pair: false\npipes: true\n",
	} {
		r, err := Run(t.Context(), Spec{
			by:   by,
			Argv: []string{program, "-test.run=^TestKnock$"}, Dir: dir, Confine: confined,
			Env: append(Filter{}.Apply(os.Environ()), knock+"="+dir),
		})
		if err != nil || !strings.HasPrefix(r.Stdout, want) {
			t.Errorf("confined %v: %v\n%s%s", confined, err, r.Stdout, r.Stderr)
		}
	}
}

// copyFile copies a program. No process is started meanwhile: it would have the copy
// open for writing until it runs its own program, and such a copy cannot be run.
func copyFile(to, from string) error {
	syscall.ForkLock.RLock()
	defer syscall.ForkLock.RUnlock()
	in, err := os.Open(from)
	if err != nil {
		return err
	}
	defer in.Close()
	out, err := os.OpenFile(to, os.O_CREATE|os.O_WRONLY, 0o755)
	if err != nil {
		return err
	}
	if _, err := io.Copy(out, in); err != nil {
		return err
	}
	return out.Close()
}
