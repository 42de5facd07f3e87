package sandbox

import (
	"fmt"
	"sync"

	"golang.org/x/sys/windows"
)

var (
	kernel32      = windows.NewLazySystemDLL("kernel32.dll")
	attachConsole = kernel32.NewProc("AttachConsole")
	freeConsole   = kernel32.NewProc("FreeConsole")
)

// attached is held while this program is attached to a command's console,
// because it can be attached to only one.
var attached sync.Mutex

// sendBreak sends Ctrl-Break to a process group through the console of its
// leader. It is the only signal that can be sent to a group without reaching
// the sender. It fails if this program has a console, as a command line has,
// because leaving that console, even for a moment, would lose it.
func sendBreak(group uint32) error {
	attached.Lock()
	defer attached.Unlock()
	if ok, _, err := attachConsole.Call(uintptr(group)); ok == 0 {
		return fmt.Errorf("attach to the command's console: %w", err)
	}
	defer func() { _, _, _ = freeConsole.Call() }()
	if err := windows.GenerateConsoleCtrlEvent(windows.CTRL_BREAK_EVENT, group); err != nil {
		return fmt.Errorf("send Ctrl-Break: %w", err)
	}
	return nil
}
