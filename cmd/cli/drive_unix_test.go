//go:build unix

package cli_test

import (
	"bytes"
	"context"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"atelier.dev/atelier/agent"
	"atelier.dev/atelier/agent/llm/llmtest"
)

// script is what a user would write: it starts a session, steers it while a command runs,
// allows that command and answers a question by what it reads, and interrupts the last turn.
const script = `#!/bin/bash
set -u
coproc RUN { "$ATELIER" run --input stream-json --output stream-json --model openai/test-model; }
in=${RUN[1]} out=${RUN[0]} pid=$RUN_PID
say() { printf '%s\n' "$1" >&"$in"; }
say '{"type":"user","message":{"role":"user","content":[{"type":"text","text":"Make it."}]}}'
turns=0
while IFS= read -r line <&"$out"; do
  printf '%s\n' "$line"
  id=$(sed -n 's/.*"kind":"approval_request".*"data":{"id":"\([^"]*\)".*/\1/p' <<<"$line")
  case $line in
    *'"kind":"approval_request"'*'"tool":"Bash"'*)
      say '{"type":"steer","text":"Use the blue one."}'
      say "{\"type\":\"answer\",\"id\":\"$id\",\"decision\":\"allow\"}" ;;
    *'"kind":"approval_request"'*'"tool":"AskUser"'*)
      say "{\"type\":\"answer\",\"id\":\"$id\",\"answers\":[[\"Second\"]]}" ;;
    *'"kind":"assistant_text_delta"'*)
      if [ $turns = 1 ]; then turns=2; say '{"type":"interrupt"}'; fi ;;
    *'"kind":"processing_end"'*)
      turns=$((turns+1))
      if [ $turns = 1 ]; then say '{"type":"user","text":"And on."}'; else eval "exec $in>&-"; fi ;;
  esac
done
wait "$pid"
`

// Issue 39: a shell script runs, steers, answers and interrupts a session over the standard
// input.
func TestAScriptDrivesASession(t *testing.T) {
	t.Parallel()
	if _, err := exec.LookPath("bash"); err != nil {
		t.Skip("needs bash")
	}
	question := map[string]any{"questions": []any{map[string]any{"question": "Which one?", "options": []any{
		map[string]any{"label": "First", "description": "the first"}, map[string]any{"label": "Second", "description": "the second"},
	}}}}
	p := newPlace(t,
		llmtest.Round{Calls: []llmtest.Call{llmtest.Use("Bash", map[string]string{"command": "touch made"})}},
		llmtest.Round{Calls: []llmtest.Call{llmtest.Use("AskUser", question)}},
		llmtest.Round{Text: "Made."},
		llmtest.Round{Text: "Thinking", Hang: true})
	file := filepath.Join(t.TempDir(), "drive.sh")
	if err := os.WriteFile(file, []byte(script), 0o700); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, "bash", file)
	cmd.WaitDelay = time.Second
	cmd.Dir, cmd.Env = p.folder, append(p.env, "ATELIER="+os.Args[0])
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	_ = cmd.Run() // the exit code says enough
	if code := cmd.ProcessState.ExitCode(); code != 130 {
		t.Errorf("exit code %d: %s", code, stderr.String())
	}
	if _, err := os.Stat(filepath.Join(p.folder, "made")); err != nil {
		t.Errorf("the allowed command did not run: %v\n%s", err, stdout.String())
	}
	requests := p.server.Requests()
	if len(requests) != 4 {
		t.Fatalf("%d requests: %s\n%s", len(requests), stderr.String(), stdout.String())
	}
	if body := string(requests[1].Body); !strings.Contains(body, "Use the blue one.") {
		t.Errorf("the model was not steered: %s", body)
	}
	if body := string(requests[2].Body); !strings.Contains(body, "- Second") {
		t.Errorf("the question was not answered: %s", body)
	}
	lines := strings.Split(strings.TrimSpace(stdout.String()), "\n")
	var last struct {
		Kind   string
		Status agent.EndReason
	}
	if err := json.Unmarshal([]byte(lines[len(lines)-1]), &last); err != nil || last.Kind != "result" || last.Status != agent.EndInterrupted {
		t.Errorf("the last line is %s (%v)", lines[len(lines)-1], err)
	}
}
