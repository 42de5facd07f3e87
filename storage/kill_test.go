package storage_test

import (
	"bufio"
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"testing"

	"atelier.dev/atelier/agent"
	"atelier.dev/atelier/backend"
	"atelier.dev/atelier/storage"
)

const writerHome = "ATELIER_TEST_WRITER_HOME"

// TestMain lets the test binary be the process that is killed.
func TestMain(m *testing.M) {
	if home := os.Getenv(writerHome); home != "" {
		writeForever(home)
	}
	if home := os.Getenv(askerHome); home != "" {
		askAndWait(home)
	}
	if home := os.Getenv(forkerHome); home != "" {
		forkForever(home)
	}
	if home := os.Getenv(mailerHome); home != "" {
		mailForever(home)
	}
	os.Exit(m.Run())
}

// writeForever appends events and prints the seq of each once it is stored.
func writeForever(home string) {
	ctx := context.Background()
	s, err := storage.Open(ctx, home)
	if err != nil {
		fmt.Println("error", err)
		os.Exit(1)
	}
	for i := 0; ; i++ {
		text := strings.Repeat("x", 100+i%7*1000)
		if i%10 == 9 {
			text = strings.Repeat("y", 300<<10) // one that is stored in a file
		}
		seq, err := s.Append(ctx, agent.Event{Session: "a", Data: agent.UserInput{Text: text}})
		if err != nil {
			fmt.Println("error", err)
			os.Exit(1)
		}
		fmt.Println(seq)
	}
}

// K-36: every event that a killed process had acknowledged is stored, complete
// and in order, and the database opens without repair.
func TestKillLosesNothingAcknowledged(t *testing.T) {
	t.Parallel()
	cycles := 20
	if testing.Short() {
		cycles = 3
	}
	if more, err := strconv.Atoi(os.Getenv("ATELIER_KILLS")); err == nil {
		cycles = more
	}
	home := t.TempDir()
	s := open(t, home)
	session(t, s, "a")
	_ = s.Close()
	acknowledged, checked := int64(0), int64(0)
	for cycle := range cycles {
		acknowledged = max(acknowledged, killed(t, writerHome, home, 1+rand.IntN(40)))
		s, err := storage.Open(t.Context(), home)
		if err != nil {
			t.Fatalf("cycle %d: %v", cycle, err)
		}
		if cycle == cycles-1 {
			checked = 0 // nor has a later process harmed what was there
		}
		events, err := s.Events(t.Context(), backend.EventRange{Session: "a", After: checked})
		if err != nil {
			t.Fatalf("cycle %d: %v", cycle, err)
		}
		for _, ev := range events {
			if checked++; ev.Seq != checked {
				t.Fatalf("cycle %d: event %d has seq %d", cycle, checked, ev.Seq)
			}
		}
		if checked < acknowledged {
			t.Fatalf("cycle %d: %d events, %d were acknowledged", cycle, checked, acknowledged)
		}
		if got := s.Health(); !got.Sound() {
			t.Fatalf("cycle %d: %+v", cycle, got)
		}
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
	}
}

// killed lets a process write, as a variable says, until it has acknowledged n times,
// kills it at once, and returns the last acknowledgement.
func killed(t *testing.T, variable, home string, n int) (last int64) {
	t.Helper()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), variable+"="+home)
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewScanner(out)
	for lines.Scan() {
		seq, err := strconv.ParseInt(lines.Text(), 10, 64)
		if err != nil {
			t.Errorf("writer: %s", lines.Text())
			break
		}
		last = seq
		if n--; n == 0 {
			_ = cmd.Process.Kill()
		}
	}
	_ = cmd.Wait() // it was killed
	return last
}
