package mcp

import (
	"errors"
	"testing"
	"time"
)

// A program that closes its input and lives on is noticed, although nothing is written
// to it.
func TestProgramThatClosesItsInput(t *testing.T) {
	t.Parallel()
	l := newStdioLink(Server{Stdio: Stdio{Command: "sh", Args: []string{"-c", "exec 0<&-; exec sleep 1000"}}}, Config{Dir: t.TempDir()}, nil)
	if err := l.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	select {
	case <-l.ended:
	case <-time.After(time.Minute):
		t.Error("it was not noticed")
	}
	var fault *Fault
	if err := l.failure(); !errors.As(err, &fault) || fault.Kind != FaultBlocked {
		t.Errorf("the link failed with %v", err)
	}
	_ = l.Close()
}
