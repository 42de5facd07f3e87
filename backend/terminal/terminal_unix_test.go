//go:build unix

package terminal

import (
	"context"
	"encoding/base64"
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"atelier.dev/atelier/backend"
)

// bench returns terminals whose shell is sh, and which close with the test.
func bench(t *testing.T, folder string) *Terminals {
	t.Helper()
	terminals := New(Config{
		Getenv: func(string) string { return "/bin/sh" },
		Folder: func(_ context.Context, session string) (string, error) {
			return filepath.Join(folder, session), nil
		},
	})
	t.Cleanup(terminals.Close)
	return terminals
}

func open(t *testing.T, terminals *Terminals, session string) TerminalInfo {
	t.Helper()
	info, err := terminals.start(t.Context(), TerminalOpen{Session: session, Rows: 30, Columns: 90})
	if err != nil {
		t.Fatal(err)
	}
	return info
}

func typed(t *testing.T, terminals *Terminals, id, text string) {
	t.Helper()
	if _, err := terminals.write(t.Context(), TerminalTyped{ID: id, Text: text}); err != nil {
		t.Fatal(err)
	}
}

// until reads from a place until the text has shown, and returns what was read and where
// the next piece begins.
func until(t *testing.T, terminals *Terminals, id string, from int64, text string) (string, int64) {
	t.Helper()
	var all strings.Builder
	for {
		p, err := terminals.read(t.Context(), TerminalRead{ID: id, From: from})
		if err != nil {
			t.Fatal(err)
		}
		data, err := base64.StdEncoding.DecodeString(p.Data)
		if err != nil {
			t.Fatal(err)
		}
		all.Write(data)
		from = p.Next
		if strings.Contains(all.String(), text) {
			return all.String(), from
		}
		if p.Ended {
			t.Fatalf("the shell ended without %q: %q", text, all.String())
		}
	}
}

// A terminal is a real one: the user's shell in the folder of the session, of the size
// that is seen, in colours, without this program's secrets.
func TestATerminal(t *testing.T) {
	folder := t.TempDir()
	if err := os.Mkdir(filepath.Join(folder, "tree"), 0o755); err != nil {
		t.Fatal(err)
	}
	terminals := bench(t, folder)
	info := open(t, terminals, "tree")
	typed(t, terminals, info.ID, "tty >/dev/null && stty size && basename $PWD && echo $TERM$PAGER && echo e''nd\n")
	got, at := until(t, terminals, info.ID, 0, "end\r\n")
	if !strings.Contains(got, "30 90\r\ntree\r\nxterm-256color\r\n") {
		t.Errorf("printed %q", got)
	}
	if _, err := terminals.resize(t.Context(), TerminalSize{ID: info.ID, Rows: 11, Columns: 22}); err != nil {
		t.Fatal(err)
	}
	typed(t, terminals, info.ID, "stty size\n")
	_, at = until(t, terminals, info.ID, at, "11 22\r\n")

	// A page that was loaded again finds it with what it has shown.
	list, err := terminals.list(t.Context(), backend.Empty{})
	if err != nil || len(list.Terminals) != 1 || list.Terminals[0] != info {
		t.Errorf("%+v, %v", list, err)
	}
	if again, _ := until(t, terminals, info.ID, 0, "11 22\r\n"); !strings.HasPrefix(again, got[:20]) {
		t.Errorf("again: %q", again)
	}

	typed(t, terminals, info.ID, "exit 7\n")
	for {
		p, err := terminals.read(t.Context(), TerminalRead{ID: info.ID, From: at})
		if err != nil {
			t.Fatal(err)
		}
		if at = p.Next; p.Ended {
			if p.ExitCode != 7 {
				t.Errorf("%+v", p)
			}
			break
		}
	}
	if list, _ = terminals.list(t.Context(), backend.Empty{}); !list.Terminals[0].Ended || list.Terminals[0].ExitCode != 7 {
		t.Errorf("%+v", list)
	}
	typed(t, terminals, info.ID, "nobody reads this\n")
}

// A flood of 50 MB reaches a page that reads it, whole, and the memory stays small.
func TestAFloodInATerminal(t *testing.T) {
	terminals := bench(t, t.TempDir())
	info := open(t, terminals, "")
	typed(t, terminals, info.ID, "stty -echo -onlcr; echo be''gin; head -c 52428800 /dev/zero | tr '\\0' x; echo e''nd\n")
	one, err := terminals.find(info.ID)
	if err != nil {
		t.Fatal(err)
	}
	_, at := until(t, terminals, info.ID, 0, "begin\n")
	for first := at; ; {
		p, err := terminals.read(t.Context(), TerminalRead{ID: info.ID, From: at})
		if err != nil || p.Reset {
			t.Fatalf("reset: %t, %v", p.Reset, err)
		}
		at = p.Next
		one.output.mu.Lock()
		held := cap(one.output.text)
		one.output.mu.Unlock()
		if held > 8*kept {
			t.Fatalf("%d bytes are held", held)
		}
		if data, _ := base64.StdEncoding.DecodeString(p.Data); strings.HasSuffix(strings.TrimRight(string(data), "$# "), "end\n") {
			if at-first < 50<<20 {
				t.Errorf("only %d bytes", at-first)
			}
			return
		}
	}
}

// Closing a terminal ends what runs in it, also what listens to no hint, and a page that
// waits for output is told.
func TestClosingATerminal(t *testing.T) {
	terminals := bench(t, t.TempDir())
	info := open(t, terminals, "")
	typed(t, terminals, info.ID, "trap '' HUP TERM; echo pid=$$.; while :; do sleep 1; done\n")
	got, _ := until(t, terminals, info.ID, 0, ".\r\n")
	_, after, _ := strings.Cut(got[strings.LastIndex(got, "pid="):], "=")
	pid, err := strconv.Atoi(strings.TrimSuffix(strings.TrimSpace(after), "."))
	if err != nil {
		t.Fatalf("%q: %v", got, err)
	}
	if _, err := terminals.end(t.Context(), TerminalRef{ID: info.ID}); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Kill(pid, 0); !errors.Is(err, syscall.ESRCH) {
		t.Errorf("the shell still runs: %v", err)
	}
	var problem *backend.Error
	if _, err := terminals.read(t.Context(), TerminalRead{ID: info.ID}); !errors.As(err, &problem) || problem.ID != backend.ProblemTerminalGone {
		t.Errorf("%v", err)
	}
}

// There is a limit, and a request with nonsense is refused.
func TestLimitsOfTerminals(t *testing.T) {
	terminals := bench(t, t.TempDir())
	for range maxTerminals {
		open(t, terminals, "")
	}
	var problem *backend.Error
	_, err := terminals.start(t.Context(), TerminalOpen{Rows: 1, Columns: 1})
	if !errors.As(err, &problem) || problem.ID != backend.ProblemTerminalMany {
		t.Errorf("one more: %v", err)
	}
	for _, size := range []TerminalOpen{{}, {Rows: -1, Columns: 80}, {Rows: 24, Columns: maxSize + 1}} {
		if _, err := terminals.start(t.Context(), size); !errors.As(err, &problem) || problem.ID != backend.ProblemArguments {
			t.Errorf("%+v: %v", size, err)
		}
	}
	terminals.Close()
	if _, err := terminals.start(t.Context(), TerminalOpen{Rows: 1, Columns: 1}); !errors.As(err, &problem) || problem.ID != backend.ProblemTerminalGone {
		t.Errorf("after the end: %v", err)
	}
}
