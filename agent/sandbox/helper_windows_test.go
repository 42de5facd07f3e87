package sandbox

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/windows"
)

// TestMain lets this program play the commands of its own tests, because
// Windows has none that do the same.
func TestMain(m *testing.M) {
	if len(os.Args) > 2 && os.Args[1] == "helper" {
		os.Exit(helpers[os.Args[2]](os.Args[3:]))
	}
	os.Exit(m.Run())
}

// helpers are the commands. A sleeper prints its process id first, or its
// parent does.
var helpers = map[string]func(args []string) (exitCode int){
	"sleep": func([]string) int { return sleep() },
	"deaf": func([]string) int {
		signal.Notify(make(chan os.Signal, 1), os.Interrupt) // an ignored one ends the program nevertheless
		return sleep()
	},
	"polite": func([]string) int {
		told := make(chan os.Signal, 1)
		signal.Notify(told, os.Interrupt)
		fmt.Println("ready")
		<-told
		fmt.Println("caught")
		return 5
	},
	"orphan": func([]string) int { return startAlone() },
	"away": func([]string) int {
		startAlone()
		return sleep()
	},
	"cat": func([]string) int {
		if _, err := io.Copy(os.Stdout, os.Stdin); err != nil {
			return 1
		}
		return 0
	},
	"flood": func(args []string) int {
		n, _ := strconv.Atoi(args[0])
		fmt.Print(strings.Repeat("x", n))
		return 0
	},
	"streams": func([]string) int {
		fmt.Println("out")
		fmt.Fprintln(os.Stderr, "err")
		return 7
	},
	"where": func([]string) int {
		dir, _ := os.Getwd()
		fmt.Println(dir)
		return 0
	},
	"environ": func([]string) int {
		fmt.Println(strings.Join(os.Environ(), "\n"))
		return 0
	},
	"host": host,
}

func sleep() int {
	fmt.Println("pid", os.Getpid())
	fmt.Println("ready")
	time.Sleep(time.Hour) // not forever: the runtime would call that a deadlock
	return 0
}

// host runs the given command for a while, stops it, and says how it ended.
// With a duration of 0 it waits to be killed.
func host(args []string) int {
	spec := Spec{Argv: args[1:], Env: os.Environ(), Output: func(text string) { fmt.Print(text) }}
	spec.Timeout, _ = time.ParseDuration(args[0])
	r, err := Run(context.Background(), spec)
	fmt.Printf("host: %v, %d, %v, %v\n", r.TimedOut, r.ExitCode, r.Duration < grace, err)
	return 0
}

// startAlone starts a sleeper that shares no handle, console or group with us.
func startAlone() int {
	sleeper := exec.Command(os.Args[0], "helper", "sleep")
	sleeper.SysProcAttr = &syscall.SysProcAttr{CreationFlags: windows.CREATE_NEW_PROCESS_GROUP | windows.DETACHED_PROCESS}
	if err := sleeper.Start(); err != nil {
		fmt.Println("start:", err)
		return 1
	}
	fmt.Println("pid", sleeper.Process.Pid)
	return 0
}

func helper(args ...string) Spec {
	return Spec{Argv: append([]string{os.Args[0], "helper"}, args...)}
}

// shell returns the command line that runs a helper.
func shell(args ...string) string { return `"` + os.Args[0] + `" helper ` + strings.Join(args, " ") }

func cmd(line string) Spec { return Spec{Argv: []string{"cmd.exe", "/d", "/s", "/c", line}} }

var pidLine = regexp.MustCompile(`(?m)^pid (\d+)\r?$`)

// pids returns the process ids that were printed.
func pids(t *testing.T, output string) (found []uint32) {
	t.Helper()
	for _, m := range pidLine.FindAllStringSubmatch(output, -1) {
		pid, err := strconv.ParseUint(m[1], 10, 32)
		if err != nil {
			t.Fatal(err)
		}
		found = append(found, uint32(pid))
	}
	return found
}

// until waits for a condition, for at most ten seconds.
func until(t *testing.T, what string, holds func() bool) {
	t.Helper()
	if !goneBy(time.Now().Add(10*time.Second), holds) {
		t.Fatalf("not in time: %s", what)
	}
}

// isWine reports whether this is wine.
func isWine() bool {
	return windows.NewLazySystemDLL("ntdll.dll").NewProc("wine_get_version").Find() == nil
}

func isAlive(pid uint32) bool {
	process, err := windows.OpenProcess(windows.SYNCHRONIZE, false, pid)
	if err != nil {
		return false
	}
	defer windows.CloseHandle(process)
	event, err := windows.WaitForSingleObject(process, 0)
	return err == nil && event == uint32(windows.WAIT_TIMEOUT)
}

// checkGone fails the test if a process of the output is alive, or if there are
// not as many as expected.
func checkGone(t *testing.T, output string, want int) {
	t.Helper()
	found := pids(t, output)
	if len(found) != want {
		t.Errorf("processes %v in %q, want %d", found, output, want)
	}
	for _, pid := range found {
		if isAlive(pid) {
			t.Errorf("process %d is alive", pid)
		}
	}
}

// announced is a program's output; it calls ready once the program has printed
// that it is ready.
type announced struct {
	text  bytes.Buffer
	ready func()
}

func (a *announced) Write(p []byte) (int, error) {
	a.text.Write(p)
	if a.ready != nil && bytes.Contains(a.text.Bytes(), []byte("ready\n")) {
		a.ready()
		a.ready = nil
	}
	return len(p), nil
}

// runHost runs a program that runs a command, with or without a console, and
// calls onReady once the command runs. It returns their output.
func runHost(t *testing.T, moment string, console uint32, command Spec, onReady func(*os.Process)) string {
	t.Helper()
	program := exec.Command(os.Args[0], append([]string{"helper", "host", moment}, command.Argv...)...)
	program.SysProcAttr = &syscall.SysProcAttr{CreationFlags: console}
	program.WaitDelay = grace // a process that should have ended must not hold the test up
	output := &announced{ready: func() { onReady(program.Process) }}
	program.Stdout = output
	if err := program.Run(); program.ProcessState == nil {
		t.Fatal(err)
	}
	return output.text.String()
}
