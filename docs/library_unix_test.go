//go:build unix

package docs_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"atelier.dev/atelier/agent/llm/llmtest"
)

// build builds the program of the guide that has the given text.
func build(t *testing.T, text string) (program string) {
	t.Helper()
	all := programs(t)
	at := slices.IndexFunc(all, func(program string) bool { return strings.Contains(program, text) })
	if at < 0 {
		t.Fatalf("no program has %s", text)
	}
	folder := module(t, all[at])
	program = filepath.Join(folder, "program")
	run(t, folder, nil, "go", "build", "-trimpath", "-o", program, "./program1")
	return program
}

// fileServer is a server of the Model Context Protocol with one tool.
const fileServer = `#!/bin/sh
while read -r line; do
	id=${line#*\"id\":}
	id=${id%%[,\}]*}
	case $line in
	*'"initialize"'*) result='{"protocolVersion":"2025-06-18","capabilities":{"tools":{}},"serverInfo":{"name":"files","version":"1"}}' ;;
	*'"tools/list"'*) result='{"tools":[{"name":"find","description":"Finds notes.","inputSchema":{"type":"object"},"annotations":{"readOnlyHint":true}}]}' ;;
	*'"tools/call"'*) result='{"content":[{"type":"text","text":"tram.md is about Lisbon"}]}' ;;
	*'"ping"'*) result='{}' ;;
	*) continue ;;
	esac
	printf '{"jsonrpc":"2.0","id":%s,"result":%s}\n' "$id" "$result"
done
`

// The program with a server shows the server's tools in its only turn, and calls one.
func TestProgramWithServer(t *testing.T) {
	t.Parallel()
	program := build(t, "mcp.New")
	bin := t.TempDir()
	if err := os.WriteFile(filepath.Join(bin, "npx"), []byte(fileServer), 0o700); err != nil {
		t.Fatal(err)
	}
	server := llmtest.Serve(t, llmtest.Round{Calls: []llmtest.Call{llmtest.Use("mcp__files__find", struct{}{})}}, llmtest.Round{Text: "One of them."})
	variables := []string{"ANTHROPIC_API_KEY=none", "ANTHROPIC_BASE_URL=" + server.Root, "PATH=" + bin + ":/usr/bin:/bin"}
	if out := run(t, bin, variables, program, bin); out != "One of them.\n" {
		t.Errorf("the program prints %q", out)
	}
	requests := server.Requests()
	if len(requests) != 2 || !strings.Contains(string(requests[1].Body), "tram.md is about Lisbon") {
		t.Errorf("%d requests", len(requests))
	}
}

// The program that keeps a session goes on with it when it is started again, also
// after a crash that left half a line.
func TestProgramThatKeepsASession(t *testing.T) {
	t.Parallel()
	program := build(t, "session.jsonl")
	folder := t.TempDir()
	server := llmtest.Serve(t, llmtest.Round{Text: "One."}, llmtest.Round{Text: "Two."}, llmtest.Round{Text: "Three."})
	ask := func(input string) {
		t.Helper()
		run(t, folder, []string{"OPENAI_API_KEY=none", "OPENAI_BASE_URL=" + server.Root + "/v1"}, program, input)
	}
	ask("first")
	ask("second")
	log := filepath.Join(folder, "session.jsonl")
	kept, err := os.ReadFile(log)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Truncate(log, int64(len(kept)-10)); err != nil {
		t.Fatal(err)
	}
	ask("third")
	requests := server.Requests()
	if len(requests) != 3 {
		t.Fatalf("%d requests", len(requests))
	}
	for _, said := range []string{"first", "One.", "second", "Two.", "third"} {
		if !strings.Contains(string(requests[2].Body), said) {
			t.Errorf("the third request lacks %q: %s", said, requests[2].Body)
		}
	}
	if kept, err = os.ReadFile(log); err != nil || strings.Count(string(kept), `"crashed"`) != 1 {
		t.Errorf("the log tells of %d crashes, %v", strings.Count(string(kept), `"crashed"`), err)
	}
}
