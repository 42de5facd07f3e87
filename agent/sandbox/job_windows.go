package sandbox

import (
	"errors"
	"fmt"
	"os"
	"strings"
	"sync"
	"time"
	"unsafe"

	"golang.org/x/sys/windows"
)

// job is a Job Object: a set of processes that can be counted and ended
// together, and that none of them can leave. When its handle is closed, by us
// or by the end of this program, they end.
type job struct {
	mu     sync.Mutex
	handle windows.Handle // 0 before open and after close
}

// interruptedExit is the exit code of processes that a job ends, the same that
// Windows uses for Ctrl-C.
const interruptedExit = uint32(windows.STATUS_CONTROL_C_EXIT)

func (j *job) open() error {
	handle, err := windows.CreateJobObject(nil, nil)
	if err != nil {
		return fmt.Errorf("create job object: %w", err)
	}
	var limits windows.JOBOBJECT_EXTENDED_LIMIT_INFORMATION
	limits.BasicLimitInformation.LimitFlags = windows.JOB_OBJECT_LIMIT_KILL_ON_JOB_CLOSE
	_, err = windows.SetInformationJobObject(handle, windows.JobObjectExtendedLimitInformation,
		uintptr(unsafe.Pointer(&limits)), uint32(unsafe.Sizeof(limits)))
	if err != nil {
		return fmt.Errorf("set up job object: %w", errors.Join(err, windows.CloseHandle(handle)))
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	j.handle = handle
	return nil
}

// close ends the remaining processes of the job.
func (j *job) close() {
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.handle != 0 {
		_ = windows.CloseHandle(j.handle)
		j.handle = 0
	}
}

// add puts a process into the job permanently. Everything it starts from then
// on is in the job too.
func (j *job) add(process *os.Process) error {
	var assignErr error
	err := process.WithHandle(func(handle uintptr) {
		j.mu.Lock()
		defer j.mu.Unlock()
		assignErr = windows.AssignProcessToJobObject(j.handle, windows.Handle(handle))
	})
	if err := errors.Join(err, assignErr); err != nil {
		return fmt.Errorf("assign process to job object: %w", err)
	}
	return nil
}

// end ends all processes of the job. They may still exist for a moment.
func (j *job) end() error {
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.handle == 0 {
		return os.ErrProcessDone
	}
	if err := windows.TerminateJobObject(j.handle, interruptedExit); err != nil {
		return fmt.Errorf("terminate job object: %w", err)
	}
	return nil
}

// accounting is JOBOBJECT_BASIC_ACCOUNTING_INFORMATION.
type accounting struct {
	_               [4]int64 // times
	_, _            uint32   // page faults; total processes
	activeProcesses uint32
	_               uint32 // processes ended by a limit
}

// empty reports whether the job has no process left.
func (j *job) empty() bool {
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.handle == 0 {
		return true
	}
	var a accounting
	err := windows.QueryInformationJobObject(j.handle, windows.JobObjectBasicAccountingInformation,
		uintptr(unsafe.Pointer(&a)), uint32(unsafe.Sizeof(a)), nil)
	return err == nil && a.activeProcesses == 0
}

// abandoned holds the jobs of commands that left processes behind, by call.
var abandoned = struct {
	mu   sync.Mutex
	jobs map[string]*job
}{jobs: map[string]*job{}}

// abandon keeps a job for [sweep].
func (j *job) abandon(call string) {
	abandoned.mu.Lock()
	defer abandoned.mu.Unlock()
	abandoned.jobs[call] = j
}

// sweep ends every process left behind by a call whose marker has the given
// prefix.
func sweep(marker string) {
	var ended []*job
	abandoned.mu.Lock()
	for call, j := range abandoned.jobs {
		if strings.HasPrefix(call, marker) {
			ended = append(ended, j)
			delete(abandoned.jobs, call)
		}
	}
	abandoned.mu.Unlock()
	for _, j := range ended {
		_ = j.end()
	}
	deadline := time.Now().Add(dying)
	for _, j := range ended {
		goneBy(deadline, j.empty)
		j.close()
	}
}
