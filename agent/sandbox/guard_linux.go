package sandbox

import (
	_ "embed" // for the script
	"log/slog"
	"os"
	"os/exec"
	"sync"
)

//go:embed guard.sh
var guardScript string

// guardian ends this program's children if the program is killed. It is a
// waiting shell that is started with the first child. The signal that the
// kernel can send at a parent's death would reach only the direct child, and a
// namespace costs each command several milliseconds.
type guardian struct {
	mu    sync.Mutex
	alive *os.File // its input: closed with us
	done  chan struct{}
}

var guard guardian

// watch starts the guard if it is not running.
func (g *guardian) watch() {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.alive != nil {
		return
	}
	if err := g.start(); err != nil {
		slog.Warn("could not guard child processes", "err", err)
	}
}

func (g *guardian) start() error {
	input, alive, err := os.Pipe()
	if err != nil {
		return err
	}
	defer input.Close()
	cmd := exec.Command("/bin/bash", "--norc", "--noprofile", "-c", guardScript, "atelier-guard", Scope{}.prefix())
	cmd.Dir = "/"
	cmd.Env = []string{"PATH=/usr/bin:/bin"} // without a marker, so that it does not find itself
	cmd.Stdin = input
	cmd.SysProcAttr = ownSession()
	closeDescriptorsOnExec()
	if err := cmd.Start(); err != nil {
		_ = alive.Close()
		return err
	}
	g.alive, g.done = alive, make(chan struct{})
	go func(done chan struct{}) { // ends with the guard
		_ = cmd.Wait()
		close(done)
	}(g.done)
	return nil
}

// dismiss ends the guard. The next child gets a new one.
func (g *guardian) dismiss() {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.alive != nil {
		_ = g.alive.Close()
		<-g.done
		g.alive = nil
	}
}
