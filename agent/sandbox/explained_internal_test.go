package sandbox

import (
	"errors"
	"os"
	"strings"
	"syscall"
	"testing"
)

// If a command does not start because a resource ran out, the error names the
// resource and the remedy, followed by the system's own words.
func TestShortageIsExplained(t *testing.T) {
	t.Parallel()
	for shortage, want := range map[syscall.Errno]string{
		syscall.EMFILE: "raise the limit of open files",
		syscall.ENFILE: "too many files are open on this machine",
		syscall.EAGAIN: "too many processes are running",
		syscall.ENOMEM: "too little memory",
		syscall.ENOSPC: "the disk is full; make room",
	} {
		err := explained(&os.PathError{Op: "fork/exec", Path: "/bin/bash", Err: shortage})
		if !strings.Contains(err.Error(), want) || !errors.Is(err, shortage) || !strings.HasSuffix(err.Error(), shortage.Error()) {
			t.Errorf("%s: %v", shortage, err)
		}
	}
	if err := explained(syscall.ENOENT); err != syscall.ENOENT {
		t.Errorf("another problem: %v", err)
	}
}
