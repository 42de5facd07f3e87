//go:build unix

package workbench_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// LOOP-169: two commands that only read run at the same time, over every wire
// format. Each reads a pipe, and neither pipe is filled before both are read.
func TestParityOfConcurrency(t *testing.T) {
	t.Parallel()
	for _, d := range dialects {
		t.Run(d.provider, func(t *testing.T) {
			t.Parallel()
			c := newCell(t, d)
			pipes := []string{filepath.Join(c.folder, "a"), filepath.Join(c.folder, "b")}
			for _, pipe := range pipes {
				if err := syscall.Mkfifo(pipe, 0o600); err != nil {
					t.Fatal(err)
				}
			}
			filled := make(chan error, 1)
			go func() { filled <- fill(pipes) }()
			c.says(c.shell("cat a", 10_000), c.shell("cat b", 10_000))
			ends := c.turn("read both")
			for _, pipe := range pipes { // to release a command that still waits for a reader
				if f, err := os.OpenFile(pipe, os.O_RDONLY|syscall.O_NONBLOCK, 0); err == nil {
					defer f.Close()
				}
			}
			if err := <-filled; err != nil {
				t.Error(err)
			}
			c.fine(ends, 2)
			for _, pipe := range pipes {
				if !strings.Contains(ends[0].Output+ends[1].Output, "content of "+pipe) {
					t.Errorf("the content of %s was not printed: %+v", pipe, ends)
				}
			}
		})
	}
}

// fill writes to pipes once every one of them is being read.
func fill(pipes []string) (err error) {
	var files []*os.File
	for _, pipe := range pipes {
		f, openErr := os.OpenFile(pipe, os.O_WRONLY, 0) // waits for a reader
		if openErr != nil {
			return openErr
		}
		defer func() { err = errors.Join(err, f.Close()) }()
		files = append(files, f)
	}
	for i, f := range files {
		_, writeErr := f.WriteString("content of " + pipes[i] + "\n")
		err = errors.Join(err, writeErr)
	}
	return err
}
