package docs_test

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"atelier.dev/atelier/agent/llm/llmtest"
)

// programs returns the programs of the guide in their order.
func programs(t *testing.T) []string {
	t.Helper()
	guide, err := os.ReadFile("library.md")
	if err != nil {
		t.Fatal(err)
	}
	var found []string
	for _, block := range regexp.MustCompile("(?ms)^```go\n(.*?)^```$").FindAllStringSubmatch(string(guide), -1) {
		found = append(found, block[1])
	}
	return found
}

// module sets the programs up as the guide says, each in a folder of one module
// whose requirement of Atelier is replaced by this repository. The versions are
// the repository's, as tidying would choose them. It returns the module's
// folder.
func module(t *testing.T, programs ...string) string {
	t.Helper()
	repository, err := filepath.Abs("..")
	if err != nil {
		t.Fatal(err)
	}
	read := func(name string) string {
		t.Helper()
		b, err := os.ReadFile(filepath.Join(repository, name))
		if err != nil {
			t.Fatal(err)
		}
		return string(b)
	}
	root := t.TempDir()
	write := func(text string, name ...string) {
		t.Helper()
		path := filepath.Join(append([]string{root}, name...)...)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	own := strings.Replace(read("go.mod"), "module atelier.dev/atelier", "module example.com/reader", 1)
	own = strings.ReplaceAll(own, "=> ./", "=> "+repository+"/") // needed only because there is no network
	write(own+fmt.Sprintf("\nrequire atelier.dev/atelier v0.0.0\n\nreplace atelier.dev/atelier => %s\n", repository), "go.mod")
	write(read("go.sum"), "go.sum")
	for i, program := range programs {
		name := "main.go"
		if strings.Contains(program, `"testing"`) {
			name = "main_test.go"
		}
		write(program, fmt.Sprintf("program%d", i+1), name)
	}
	return root
}

// run runs a program in a folder, without a network for Go itself and without
// the developer's own variables.
func run(t *testing.T, folder string, variables []string, name string, args ...string) string {
	t.Helper()
	_ = os.Getenv("TEST_RUN") // so that the result is not replayed: go does not see what the program reads
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.Dir = folder
	cmd.Env = []string{"GOPROXY=off", "GOWORK=off"}
	for _, kept := range []string{"PATH", "HOME", "GOFLAGS", "GOCACHE", "GOMODCACHE", "GOPATH", "GOROOT", "TMPDIR"} {
		if value, ok := os.LookupEnv(kept); ok {
			cmd.Env = append(cmd.Env, kept+"="+value)
		}
	}
	cmd.Env = append(cmd.Env, variables...)
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Errorf("%s %s: %v\n%s", filepath.Base(name), strings.Join(args, " "), err, out)
	}
	return string(out)
}

// The first program is short, and it works: it asks a model over the wire,
// reads the file that the model wants, and prints the answer. It includes
// neither the window nor the database.
func TestFirstProgram(t *testing.T) {
	t.Parallel()
	first := programs(t)[0]
	if n := strings.Count(first, "\n"); n > 30 {
		t.Errorf("the program has %d lines, more than 30", n)
	}
	folder := module(t, first)
	if out := run(t, folder, nil, "go", "list", "-trimpath", "-deps", "./program1"); !strings.Contains(out, "atelier/agent/tool\n") ||
		regexp.MustCompile(`wails|sqlite|atelier/(backend|storage)`).MatchString(out) {
		t.Errorf("the program links %s", out)
	}
	program := filepath.Join(folder, "reader")
	run(t, folder, nil, "go", "build", "-trimpath", "-o", program, "./program1")

	read := t.TempDir()
	if err := os.WriteFile(filepath.Join(read, "README.md"), []byte("A clock that is always right.\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	server := llmtest.Serve(t,
		llmtest.Round{Calls: []llmtest.Call{llmtest.Use("Read", map[string]string{"file_path": "README.md"})}},
		llmtest.Round{Text: "It is a clock."})
	out := run(t, folder, []string{"ANTHROPIC_API_KEY=none", "ANTHROPIC_BASE_URL=" + server.Root}, program, read, "What is this?")
	if out != "It is a clock.\n" {
		t.Errorf("the program prints %q", out)
	}
	requests := server.Requests()
	if len(requests) != 2 || !strings.Contains(string(requests[0].Body), "What is this?") ||
		!strings.Contains(string(requests[1].Body), "A clock that is always right.") {
		t.Errorf("%d requests", len(requests))
	}

	cmd := exec.CommandContext(t.Context(), program, read, "What is this?") // no provider is configured
	cmd.Env = []string{"HOME=" + read}
	if said, err := cmd.CombinedOutput(); err == nil || !strings.Contains(string(said), "set ANTHROPIC_API_KEY") {
		t.Errorf("without a key the program prints %q, %v", said, err)
	}
}

// Every program compiles and is formatted, and the one that is a test passes.
func TestPrograms(t *testing.T) {
	t.Parallel()
	all := programs(t)
	if len(all) < 10 {
		t.Fatalf("%d programs", len(all))
	}
	folder := module(t, all...)
	if out := run(t, folder, nil, "gofmt", "-l", "."); out != "" {
		t.Errorf("not formatted: %s", out)
	}
	run(t, folder, nil, "go", "list", "-trimpath", "-export", "./...") // compiles everything and links nothing
	if out := run(t, folder, nil, "go", "test", "-trimpath", "-v", fmt.Sprintf("./program%d", len(all))); !strings.Contains(out, "--- PASS: TestClock") {
		t.Errorf("the test of the guide: %s", out)
	}
}

// OAS-662: the program with hooks registers functions and runs a session with them: a
// call is denied and the model is told why, another one runs, and both are over the
// wire.
func TestProgramWithHooks(t *testing.T) {
	t.Parallel()
	all := programs(t)
	at := slices.IndexFunc(all, func(program string) bool { return strings.Contains(program, "hook.NewRegistry") })
	if at < 0 {
		t.Fatal("no program has hooks")
	}
	folder := module(t, all[at])
	refund := func(euros int) llmtest.Round {
		return llmtest.Round{Calls: []llmtest.Call{llmtest.Use("Refund", map[string]int{"order": 7, "euros": euros})}}
	}
	server := llmtest.Serve(t, refund(500), refund(50), llmtest.Round{Text: "You have it back."})
	variables := []string{"ANTHROPIC_API_KEY=none", "ANTHROPIC_BASE_URL=" + server.Root}
	if out := run(t, folder, variables, "go", "run", "-trimpath", "./program1"); out != "You have it back. 1\n" {
		t.Errorf("the program prints %q", out)
	}
	requests := server.Requests()
	if len(requests) != 3 {
		t.Fatalf("%d requests", len(requests))
	}
	denied, paid := string(requests[1].Body), string(requests[2].Body)
	if !strings.Contains(denied, "Refunds are limited to 50 euros.") || strings.Contains(denied, "Paid") || !strings.Contains(paid, "Paid 50 euros.") {
		t.Errorf("the model was told %s and then %s", denied, paid)
	}
}
