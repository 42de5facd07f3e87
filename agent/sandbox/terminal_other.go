//go:build !unix

package sandbox

import (
	"os"
	"syscall"
)

func openTerminal(Seat) (ours, theirs *os.File, err error) { return nil, nil, ErrNoTerminal }

func ownTerminal() *syscall.SysProcAttr { return nil }

func resizeTerminal(*os.File, Seat) error { return ErrNoTerminal }
