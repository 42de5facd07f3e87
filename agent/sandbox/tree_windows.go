package sandbox

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"
	"unsafe"

	"golang.org/x/sys/windows"
)

// tree is a job object. Closing its handle does the work of sweep and guard on
// other systems, because no process leaves a job.
type tree struct {
	call string
	job  job
}

// ownSession gives a child a console of its own without a window, and makes it
// the leader of a process group there. A program that asks for a password at
// the console does not reach ours.
func ownSession() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{CreationFlags: windows.CREATE_NO_WINDOW | windows.CREATE_NEW_PROCESS_GROUP}
}

// start creates the process suspended, because it must be in its job before it
// can start another.
func (t *tree) start(command child) error {
	if err := t.job.open(); err != nil {
		return err
	}
	command.SysProcAttr.CreationFlags |= windows.CREATE_SUSPENDED
	command.SysProcAttr.CmdLine = shellCommandLine(command.Args)
	if err := command.Start(); err != nil {
		t.job.close()
		return err
	}
	err := t.job.add(command.Process)
	if err == nil {
		err = resume(uint32(command.Process.Pid))
	}
	if err != nil {
		_ = command.Process.Kill() // in a job or not
		_ = command.Wait()
		t.job.close()
	}
	return err
}

// resume lets a process that was created suspended run. It looks up the
// threads, because package os keeps no handle of the first one.
func resume(pid uint32) error {
	snapshot, err := windows.CreateToolhelp32Snapshot(windows.TH32CS_SNAPTHREAD, 0)
	if err != nil {
		return fmt.Errorf("list threads: %w", err)
	}
	defer windows.CloseHandle(snapshot)
	resumed := false
	entry := windows.ThreadEntry32{Size: uint32(unsafe.Sizeof(windows.ThreadEntry32{}))}
	for err = windows.Thread32First(snapshot, &entry); err == nil; err = windows.Thread32Next(snapshot, &entry) {
		if entry.OwnerProcessID != pid {
			continue
		}
		if err := resumeThread(entry.ThreadID); err != nil {
			return fmt.Errorf("resume thread: %w", err)
		}
		resumed = true
	}
	if !resumed || !errors.Is(err, windows.ERROR_NO_MORE_FILES) {
		return fmt.Errorf("find threads of process: %w", err)
	}
	return nil
}

func resumeThread(id uint32) error {
	thread, err := windows.OpenThread(windows.THREAD_SUSPEND_RESUME, false, id)
	if err != nil {
		return err
	}
	defer windows.CloseHandle(thread)
	_, err = windows.ResumeThread(thread)
	return err
}

// interrupt is terminate, because no other signal reaches a group, and Ctrl-C
// ends most programs.
func (t *tree) interrupt(leader *os.Process) error { return t.terminate(leader) }

func (t *tree) terminate(leader *os.Process) error {
	var err error
	heldErr := leader.WithHandle(func(uintptr) { // its number cannot be reused while it is held
		err = sendBreak(uint32(leader.Pid))
	})
	if errors.Join(heldErr, err) == nil {
		return nil
	}
	return t.job.end()
}

func (t *tree) kill(_ *os.Process, deadline time.Time) {
	if !goneBy(deadline, t.job.empty) {
		_ = t.job.end()
		goneBy(time.Now().Add(dying), t.job.empty)
	}
}

func (t *tree) release() {
	if t.job.empty() {
		t.job.close()
		return
	}
	t.job.abandon(t.call)
}

func exitCode(state *os.ProcessState) int { return state.ExitCode() }

// shellCommandLine returns the command line for cmd.exe, which does not undo
// the escaping that other programs undo: its last argument goes between quotes
// unchanged, and /s makes it remove only those two. For other programs it
// returns an empty string, and package syscall escapes.
func shellCommandLine(argv []string) string {
	if len(argv) < 2 || !strings.EqualFold(filepath.Base(argv[0]), "cmd.exe") {
		return ""
	}
	line := slices.Clone(argv)
	line[0] = syscall.EscapeArg(line[0])
	line[len(line)-1] = `"` + line[len(line)-1] + `"`
	return strings.Join(line, " ")
}
