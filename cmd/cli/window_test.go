package cli_test

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"atelier.dev/atelier/backend/instance"
	"atelier.dev/atelier/cmd/cli"
)

// withWindow names the folder in which the program's windows leave their traces.
const withWindow = "ATELIER_TEST_WINDOWS"

// window stands in for the desktop window: it answers later starts, and calls
// the application for its standard input. It tells its process and where its
// keys are from in a file. It stays for a minute at most.
func window(launch cli.Launch) int {
	if filepath.Base(launch.Folder) == "broken" {
		return 1
	}
	ended, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM)
	defer stop()
	ended, cancel := context.WithTimeout(ended, time.Minute)
	defer cancel()
	host, err := launch.Open(ended, cli.Desktop{})
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer host.Close(context.Background())
	traces := filepath.Join(os.Getenv(withWindow), filepath.Base(launch.Folder))
	trace := func(line string) {
		f, err := os.OpenFile(traces, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
		if err == nil {
			fmt.Fprintln(f, line)
			f.Close()
		}
	}
	keys := strings.Contains(host.Call(ended, "keys.list", "{}"), `"source":"environment"`)
	trace(fmt.Sprintf("%d %v", os.Getpid(), keys))
	launch.Instance.Serve(func(req instance.Request) instance.Reply {
		trace(string(req.Do))
		return instance.Reply{}
	})
	in := bufio.NewScanner(os.Stdin)
	for in.Scan() {
		method, args, _ := strings.Cut(in.Text(), " ")
		fmt.Println(host.Call(ended, method, args))
	}
	<-ended.Done()
	return 0
}
