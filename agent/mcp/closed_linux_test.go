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
	p := newProgram(Server{Stdio: Stdio{Command: "sh", Args: []string{"-c", "exec 0<&-; exec sleep 1000"}}}, Config{Dir: t.TempDir()}, nil)
	if err := p.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	select {
	case <-p.ended:
	case <-time.After(time.Minute):
		t.Error("it was not noticed")
	}
	var fault *Fault
	if err := p.failure(); !errors.As(err, &fault) || fault.Kind != FaultBlocked {
		t.Errorf("the program failed with %v", err)
	}
	_ = p.Close()
}
