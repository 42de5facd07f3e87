package cli_test

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"atelier.dev/atelier/agent/llm/llmtest"
)

// feed runs the program with an input.
func (p *place) feed(input string, args ...string) (out, errs string, code int) {
	p.t.Helper()
	cmd := p.command(args...)
	var stdout, stderr bytes.Buffer
	cmd.Stdin, cmd.Stdout, cmd.Stderr = strings.NewReader(input), &stdout, &stderr
	_ = cmd.Run() // the exit code says enough
	return stdout.String(), stderr.String(), cmd.ProcessState.ExitCode()
}

// Issue 39: messages of the input become turns one after another; what waits for an answer
// when the input has ended is denied; and a line that is not carried out is told of twice.
func TestDriving(t *testing.T) {
	t.Parallel()
	bash := llmtest.Round{Calls: []llmtest.Call{llmtest.Use("Bash", map[string]string{"command": "touch made"})}}
	for _, tt := range []struct {
		name, input string
		rounds      []llmtest.Round
		code        int
		out, errs   string // in the output and the standard error
	}{
		{"two messages", `{"type":"user","text":"one"}` + "\n\n" + `{"type":"user","message":{"content":"two"}}`, []llmtest.Round{{Text: "1"}, {Text: "2"}}, 0, `"text":"2"`, ""},
		{"nobody answers", `{"type":"user","text":"one"}`, []llmtest.Round{bash, {Text: "Well."}}, 0, `"denied":1`, ""},
		{"no message", "", nil, 1, `"message":"Something went wrong`, "ended without a message"},
		{"not JSON", "x\n" + `{"type":"user","text":"one"}`, []llmtest.Round{{Text: "1"}}, 2, `{"kind":"input_refused","line":1,`, "Line 1 of the input"},
		{"an unknown type", `{"type":"user","text":"one"}` + "\n" + `{"type":"shout"}`, []llmtest.Round{{Text: "1"}}, 2, `no type \"shout\"`, "Line 2 of the input"},
		{"an answer to nothing", `{"type":"answer","decision":"allow"}` + "\n" + `{"type":"user","text":"one"}`, []llmtest.Round{{Text: "1"}}, 2, "0 requests wait", "Line 1 of the input"},
		{"an answer without a decision", `{"type":"answer","id":"x"}` + "\n" + `{"type":"user","text":"one"}`, []llmtest.Round{{Text: "1"}}, 2, "an answer needs", ""},
		{"pictures", `{"type":"user","message":{"content":[{"type":"image"}]}}`, nil, 1, `blocks of the type`, ""},
		{"nothing to interrupt", `{"type":"interrupt"}` + "\n" + `{"type":"user","text":"one"}`, []llmtest.Round{{Text: "1"}}, 2, "no turn runs", ""},
		{"a long line", strings.Repeat("x", 17<<20) + "\n" + `{"type":"user","text":"one"}`, []llmtest.Round{{Text: "1"}}, 2, "longer than 16 MiB", ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			p := newPlace(t, tt.rounds...)
			out, errs, code := p.feed(tt.input, "run", "--input", "stream-json", "--output", "stream-json", "--model", "openai/test-model")
			if code != tt.code || !strings.Contains(out, tt.out) || !strings.Contains(errs, tt.errs) {
				t.Errorf("exit code %d: %s\n%s", code, errs, out)
			}
			if n := len(p.server.Requests()); n != len(tt.rounds) {
				t.Errorf("%d requests", n)
			}
			if _, err := os.Stat(filepath.Join(p.folder, "made")); err == nil {
				t.Error("a command ran that nobody allowed")
			}
		})
	}
}

// Issue 39: an answer in the form of a schema; one that does not fit is asked for again.
func TestStructuredOutput(t *testing.T) {
	t.Parallel()
	const schema = `{"type":"object","properties":{"name":{"type":"string"}},"required":["name"]}`
	good := llmtest.Round{Text: "```json\n{\"name\": \"Tagus\"}\n```"}
	for _, tt := range []struct {
		name   string
		rounds []llmtest.Round
		code   int
		out    string
	}{
		{"at once", []llmtest.Round{good}, 0, "{\"name\":\"Tagus\"}\n"},
		{"on the second try", []llmtest.Round{{Text: "It is the Tagus."}, good}, 0, "{\"name\":\"Tagus\"}\n"},
		{"never", []llmtest.Round{{Text: "x"}, {Text: `{"name": 1}`}, {Text: "{}"}}, 4, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			p := newPlace(t, tt.rounds...)
			file := filepath.Join(t.TempDir(), "schema.json")
			if err := os.WriteFile(file, []byte(schema), 0o600); err != nil {
				t.Fatal(err)
			}
			out, errs, code := p.run("run", "--json-schema", file, "--model", "openai/test-model", "Name a river.")
			var flat bytes.Buffer
			if out != "" && json.Compact(&flat, []byte(out)) == nil {
				out = flat.String() + "\n"
			}
			if diff := cmp.Diff(tt.out, out); diff != "" || code != tt.code {
				t.Errorf("exit code %d, %s: %s", code, errs, diff)
			}
			if (tt.code != 0) != strings.Contains(errs, "not in the form of --json-schema") {
				t.Errorf("the error says %q", errs)
			}
			if body := string(p.server.Requests()[0].Body); !strings.Contains(body, "JSON Schema") {
				t.Errorf("the model was not told of the form: %s", body)
			}
		})
	}
	p := newPlace(t, good)
	out, errs, code := p.run("run", "--json-schema", schema, "--output", "json", "--model", "openai/test-model", "Name a river.")
	var r struct {
		Structured struct{ Name string } `json:"structured_output"`
	}
	if err := json.Unmarshal([]byte(out), &r); err != nil || r.Structured.Name != "Tagus" || code != 0 {
		t.Errorf("exit code %d, %v: %s %s", code, err, out, errs)
	}
}

// Issue 39: each exit code of the table in the guide, in a process of its own.
func TestEachExitCode(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile(commandLinePage)
	if err != nil {
		t.Fatal(err)
	}
	read := llmtest.Round{Calls: []llmtest.Call{llmtest.Use("Glob", map[string]string{"pattern": "*"})}}
	for _, tt := range []struct {
		name, code string
		rounds     []llmtest.Round
		args       []string
	}{
		{"done", "0", []llmtest.Round{{Text: "Done."}}, nil},
		{"refused", "1", []llmtest.Round{{Status: 400, Body: `{"error":{"message":"no"}}`}}, nil},
		{"misused", "2", nil, []string{"--output", "xml"}},
		{"a limit", "3", []llmtest.Round{read, read}, []string{"--max-turns", "1"}},
		{"another form", "4", []llmtest.Round{{Text: "a"}, {Text: "b"}, {Text: "c"}}, []string{"--json-schema", `{"type":"object"}`}},
		{"a wrong key", "5", []llmtest.Round{{Status: 401, Body: `{"error":{"message":"no"}}`}}, nil},
		{"no key", "5", nil, []string{"--model", "anthropic/claude-sonnet-5-5"}},
		{"overloaded", "6", []llmtest.Round{{Status: 503}}, []string{"--max-retries", "0"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			if !strings.Contains(string(page), "\n| "+tt.code+" | ") {
				t.Errorf("the guide does not have the code %s", tt.code)
			}
			p := newPlace(t, tt.rounds...)
			_, errs, code := p.run(append(append([]string{"run", "--model", "openai/test-model"}, tt.args...), "go")...)
			if want := int(tt.code[0] - '0'); code != want {
				t.Errorf("exit code %d, want %d: %s", code, want, errs)
			}
			if tt.code != "0" && strings.TrimSpace(errs) == "" {
				t.Error("it failed without a word")
			}
		})
	}
}
