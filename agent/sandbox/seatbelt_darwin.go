package sandbox

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"atelier.dev/atelier/agent/sandbox/confine"
)

// seatbelt confines with macOS's own sandbox. A command shares the processes and
// the loopback of this machine, but cannot signal other processes, and reaches
// only what its rules name. Like everything for this system, it has been
// compiled, but no test of this project runs it.
type seatbelt struct{ found confine.Level }

const sandboxExec = "/usr/bin/sandbox-exec"

// means returns the way to confine commands here.
func means(bool) enforcer { return findSeatbelt() }

var findSeatbelt = sync.OnceValue(func() enforcer {
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
	defer cancel()
	rules, err := confine.SeatbeltRules(confine.Profile{}, confine.Seat{})
	if err == nil {
		cmd := exec.CommandContext(ctx, sandboxExec, "-p", rules, "/bin/sh", "-c", "exit 0")
		cmd.Dir, cmd.Env, cmd.SysProcAttr = "/", Filter{Inherit: InheritCore}.Apply(Environ()), ownSession()
		closeDescriptorsOnExec()
		err = cmd.Run()
	}
	if err != nil {
		return none{confine.Level{Lack: confine.LackKernel, Detail: err.Error()}}
	}
	return seatbelt{confine.Level{By: confine.Seatbelt, Writes: true, Reads: true, Network: true, Sockets: true, Lack: confine.LackProcesses}}
})

func (s seatbelt) level() confine.Level { return s.found }

// jail implements [enforcer].
func (s seatbelt) jail(spec Spec, argv []string) (_ *jail, err error) {
	j := &jail{adjust: func(cmd *exec.Cmd) {
		if spec.TTY {
			cmd.SysProcAttr = ownTerminal() // what starts the command becomes it
		}
	}}
	defer func() {
		if err != nil {
			j.release()
		}
	}()
	p, err := withoutLinks(spec.Confine.WithoutLayers())
	if err != nil {
		return nil, err
	}
	if p.Temp == "" {
		if p.Temp, err = os.MkdirTemp("", "atelier-"); err != nil {
			return nil, fmt.Errorf("make the command's folder for temporary files: %w", err)
		}
		temp := p.Temp
		j.undo = append(j.undo, func() { _ = os.RemoveAll(temp) })
	}
	if p.Temp, err = filepath.EvalSymlinks(p.Temp); err != nil {
		return nil, fmt.Errorf("the folder for temporary files cannot be found: %w", err)
	}
	j.env = append([]string{"TMPDIR=" + p.Temp, "TMPPREFIX=" + filepath.Join(p.Temp, "zsh")}, p.Env...)
	seat := confine.Seat{Terminal: spec.TTY}
	if p.Network == confine.NetworkProxy && p.Proxy != nil {
		if seat.Port, err = j.openProxy(p.Proxy); err != nil {
			return nil, err
		}
	}
	rules, err := confine.SeatbeltRules(p, seat)
	if err != nil {
		return nil, errors.Join(ErrNoConfinement, err)
	}
	j.argv = append([]string{sandboxExec, "-p", rules}, argv...)
	return j, nil
}

// openProxy makes a proxy answer on the loopback of this machine until the
// command has ended.
func (j *jail) openProxy(proxy confine.Proxy) (port int, err error) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return 0, fmt.Errorf("open the proxy for the command: %w", err)
	}
	addr := listener.Addr().(*net.TCPAddr)
	j.env = append(j.env, proxy.Environ(addr.String(), true)...)
	var served sync.WaitGroup
	served.Go(func() { // ends with the listener
		defer listener.Close()
		proxy.Serve(listener)
	})
	j.undo = append(j.undo, func() { _ = listener.Close(); served.Wait() })
	return addr.Port, nil
}

// withoutLinks returns a profile whose paths are where its links lead. A
// protected path is protected at both places.
func withoutLinks(p confine.Profile) (_ confine.Profile, err error) {
	writable := make([]string, 0, len(p.Writable))
	for _, path := range p.Writable {
		real, err := filepath.EvalSymlinks(path)
		if err != nil {
			return p, fmt.Errorf("the folder that the command may change cannot be found: %w", err)
		}
		if real == "/" {
			return p, fmt.Errorf("%w: the whole file system cannot be a folder to change", ErrNoConfinement)
		}
		writable = append(writable, real)
	}
	p.Writable = writable
	p.Protected, p.Hidden, p.Readable = everyWay(p.Protected), everyWay(p.Hidden), everyWay(p.Readable)
	return p, nil
}

// everyWay returns for each path where it is, without links in its folder, and
// where it leads.
func everyWay(paths []string) (out []string) {
	for _, path := range paths {
		named := filepath.Join(deepest(filepath.Dir(path)), filepath.Base(path))
		out = append(out, named)
		if real, err := filepath.EvalSymlinks(path); err == nil && !strings.EqualFold(real, named) {
			out = append(out, real)
		}
	}
	return out
}

// deepest returns a folder without links, as far as it exists.
func deepest(dir string) string {
	if real, err := filepath.EvalSymlinks(dir); err == nil || dir == filepath.Dir(dir) {
		return real
	}
	return filepath.Join(deepest(filepath.Dir(dir)), filepath.Base(dir))
}
