package sandbox

import (
	"fmt"
	"os"
	"strings"
	"sync"
	"time"
)

// The keys that mean something at a terminal.
const (
	ctrlC = "\x03"
	ctrlD = "\x04"
)

// typingTime is how long a command may take to read what is typed.
const typingTime = 2 * time.Second

// keyboard is what a command is written to by: the pipe to its input, or its
// terminal. The zero value is that of a command that takes none.
type keyboard struct {
	mu         sync.Mutex
	file       *os.File // nil without one, or once it is closed
	isTerminal bool     // then the keys' meanings are the terminal's own business
}

// write types text, giving the command time to read it.
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
