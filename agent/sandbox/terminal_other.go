//go:build !unix

package sandbox

import (
	"os"
	"syscall"
)

func openTerminal() (ours, theirs *os.File, err error) { return nil, nil, ErrNoTerminal }

func ownTerminal() *syscall.SysProcAttr { return nil }
