package sandbox

import (
	"fmt"
	"os"
	"strings"
	"sync"
	"time"
)

// The keys with a meaning at a terminal.
const (
	ctrlC = "\x03"
	ctrlD = "\x04"
)

// typingTime limits how long a command may take to read its input.
const typingTime = 2 * time.Second

// keyboard writes to a command, through the pipe to its input or through its
// terminal. The zero value belongs to a command without input.
type keyboard struct {
	mu         sync.Mutex
	file       *os.File // nil without input, or once it is closed
	opened     *os.File // the same, and stays; written once
	isTerminal bool     // then the terminal itself interprets the keys
}

// write types text and gives the command time to read it.
func (k *keyboard) write(text string) error {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.file == nil {
		return ErrNoInput
	}
	last := false
	if !k.isTerminal {
		text, last = strings.CutSuffix(text, ctrlD)
	}
	if err := k.file.SetWriteDeadline(time.Now().Add(typingTime)); err != nil {
		return fmt.Errorf("write to the command: %w", err)
	}
	if _, err := k.file.WriteString(text); err != nil {
		return fmt.Errorf("write to the command: %w", err)
	}
	if last {
		k.closeLocked()
	}
	return nil
}

func (k *keyboard) close() {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.closeLocked()
}

func (k *keyboard) closeLocked() {
	if k.file != nil {
		_ = k.file.Close()
		k.file = nil
	}
}
