package mcp_test

import (
	"bytes"
	"context"
	"crypto/rand"
	"os"
	"path/filepath"
	"testing"
	"time"

	"atelier.dev/atelier/agent/mcp"
	"atelier.dev/atelier/agent/mcp/mcptest"
	"github.com/google/go-cmp/cmp"
)

// living counts the processes with a word in their environment.
func living(t *testing.T, word string) (n int) {
	t.Helper()
	table, err := filepath.Glob("/proc/[0-9]*/environ")
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range table {
		if env, err := os.ReadFile(file); err == nil && bytes.Contains(env, []byte(word)) {
			n++
		}
	}
	return n
}

// When a manager is closed, nothing of any server is left, whatever it did.
func TestNothingIsLeft(t *testing.T) {
	t.Parallel()
	for _, behaviour := range []string{"good", "ignores-term", "ignores-end", "forks", "never-reads", "init-hang", "garbage-flood"} {
		t.Run(behaviour, func(t *testing.T) {
			t.Parallel()
			s, word := mcptest.Stdio(t, behaviour), rand.Text()
			s.Stdio.Env["WORD"] = word
			h := manager(t, mcp.Config{}, s)
			if behaviour == "good" || behaviour == "forks" || behaviour == "ignores-term" || behaviour == "ignores-end" {
				h.connected(t, behaviour)
				started := 1
				if behaviour == "forks" {
					started = 2
				}
				// The kernel shows an environment only a moment after the new
				// program's parent has learnt that it started.
				for deadline := time.Now().Add(time.Minute); living(t, word) < started; {
					if time.Now().After(deadline) {
						t.Fatalf("fewer than %d processes run", started)
					}
				}
			}
			if err := h.Close(context.Background()); err != nil {
				t.Error(err)
			}
			if n := living(t, word); n > 0 {
				t.Errorf("%d processes are left", n)
			}
		})
	}
	t.Run("tried", func(t *testing.T) {
		t.Parallel()
		s, word := mcptest.Stdio(t, "forks"), rand.Text()
		s.Stdio.Env["WORD"] = word
		trial := mcp.New(mcp.Config{Dir: t.TempDir()}).Try(t.Context(), s)
		if trial.Status.Reason != nil || len(trial.Status.Tools) == 0 {
			t.Errorf("the trial: %+v", trial)
		}
		var steps []mcp.StepName
		for _, step := range trial.Steps {
			steps = append(steps, step.Name)
			if step.Err != nil || step.Took <= 0 || step.Name == mcp.StepTools && step.Count != len(trial.Status.Tools) {
				t.Errorf("the step %+v", step)
			}
		}
		if diff := cmp.Diff([]mcp.StepName{mcp.StepHandshake, mcp.StepTools, mcp.StepResources, mcp.StepPrompts, mcp.StepPing}, steps); diff != "" {
			t.Error(diff)
		}
		if n := living(t, word); n > 0 {
			t.Errorf("%d processes are left", n)
		}
	})
}
