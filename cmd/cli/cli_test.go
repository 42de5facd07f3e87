package cli_test

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"atelier.dev/atelier/agent"
	"atelier.dev/atelier/agent/llm/llmtest"
	"atelier.dev/atelier/agent/mcp/mcptest"
	"atelier.dev/atelier/agent/sdk"
	"atelier.dev/atelier/cmd/cli"
	"atelier.dev/atelier/storage"
)

const asProgram = "ATELIER_TEST_AS_PROGRAM"

// TestMain lets the test binary be the program, so that tests start it like a
// user: as a process, with arguments, signals and exit codes.
func TestMain(m *testing.M) {
	mcptest.Main()
	if os.Getenv(asProgram) != "" {
		if os.Getenv(withWindow) != "" {
			os.Exit(cli.Main(os.Args[1:], window))
		}
		os.Exit(cli.Main(os.Args[1:], nil))
	}
	os.Exit(m.Run())
}

// place is a project, a home and a provider for one test.
type place struct {
	t            *testing.T
	folder, home string
	server       *llmtest.Server
	env          []string
}

func newPlace(t *testing.T, rounds ...llmtest.Round) *place {
	t.Helper()
	p := &place{t: t, folder: t.TempDir(), home: filepath.Join(t.TempDir(), "home"), server: llmtest.Serve(t, rounds...)}
	p.env = []string{
		asProgram + "=1", "GORACE=atexit_sleep_ms=0", "ATELIER_HOME=" + p.home, "PATH=" + os.Getenv("PATH"), "HOME=" + t.TempDir(), "XDG_RUNTIME_DIR=" + t.TempDir(),
		"OPENAI_API_KEY=sk-test-0123456789", "OPENAI_BASE_URL=" + p.server.URL, "COMPAT_BASE_URL=" + p.server.URL,
	}
	return p
}

func (p *place) command(args ...string) *exec.Cmd {
	cmd := exec.Command(os.Args[0], args...)
	cmd.Dir, cmd.Env = p.folder, p.env
	return cmd
}

// run runs the program to its end.
func (p *place) run(args ...string) (out, errs string, code int) {
	p.t.Helper()
	cmd := p.command(args...)
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	_ = cmd.Run() // the exit code says enough
	return stdout.String(), stderr.String(), cmd.ProcessState.ExitCode()
}

func write(path, content string) llmtest.Round {
	return llmtest.Round{Text: "Writing.", Calls: []llmtest.Call{llmtest.Use("Write", map[string]string{"file_path": path, "content": content})}}
}

// The command line runs the same loop, over both wire formats and with every
// form of output.
func TestRun(t *testing.T) {
	t.Parallel()
	for _, model := range []string{"openai/test-model", "compat/test-model"} {
		for output, check := range map[string]func(t *testing.T, out string){
			"text": func(t *testing.T, out string) {
				if out != "Writing.\nDone.\n" {
					t.Errorf("printed %q", out)
				}
			},
			"json": func(t *testing.T, out string) {
				var r struct{ Status, Text string }
				if err := json.Unmarshal([]byte(out), &r); err != nil || r.Status != "done" || r.Text != "Done." {
					t.Errorf("printed %s (%v)", out, err)
				}
			},
			"stream-json": func(t *testing.T, out string) {
				var seq int64
				kinds := map[agent.Kind]int{}
				for _, ev := range events(t, out) {
					kinds[ev.Kind()]++
					if ev.Durable() {
						if ev.Seq != seq+1 {
							t.Errorf("seq %d after %d", ev.Seq, seq)
						}
						seq = ev.Seq
					} else if ev.Seq != 0 {
						t.Errorf("a delta with a seq: %+v", ev)
					}
				}
				if kinds[agent.KindSessionStart] != 1 || kinds[agent.KindSessionEnd] != 1 || kinds[agent.KindToolCallEnd] != 1 { // LOOP-154
					t.Errorf("kinds: %v", kinds)
				}
			},
			"messages": func(t *testing.T, out string) { // OAS-102
				var types []sdk.Type
				for _, m := range messages(t, out) {
					if m.Session == "" {
						t.Errorf("%s of no session", m.Type)
					}
					if types = append(types, m.Type); m.Type == sdk.TypeResult && (m.Status != agent.StatusSuccess || m.Text != "Done.") {
						t.Errorf("the result: %+v", m)
					}
				}
				inOrder(t, types, sdk.TypeSystem, sdk.TypeUserMessage, sdk.TypePartialMessage, sdk.TypeAssistant, sdk.TypeToolUse,
					sdk.TypeToolResult, sdk.TypeFilesPersisted, sdk.TypeAssistant, sdk.TypeToolUseSummary, sdk.TypeResult, sdk.TypeSystem)
			},
		} {
			t.Run(model+" "+output, func(t *testing.T) {
				t.Parallel()
				p := newPlace(t, write("out.txt", "x"), llmtest.Round{Text: "Done."})
				out, errs, code := p.run("run", "--model", model, "--output", output, "--permission-mode", "acceptEdits", "go")
				if code != 0 {
					t.Fatalf("exit %d: %s", code, errs)
				}
				check(t, out)
				if b, err := os.ReadFile(filepath.Join(p.folder, "out.txt")); string(b) != "x" {
					t.Errorf("file %q, %v", b, err)
				}
			})
		}
	}
}

func events(t *testing.T, out string) []agent.Event {
	t.Helper()
	var all []agent.Event
	for line := range strings.Lines(out) {
		var ev agent.Event
		if err := json.Unmarshal([]byte(line), &ev); strings.HasPrefix(line, `{"kind":"result"`) { // the last one
			continue
		} else if err != nil {
			t.Fatalf("%s: %v", line, err)
		}
		all = append(all, ev)
	}
	return all
}

// K-04: --naming chooses the tool names that a model is shown.
func TestRunNaming(t *testing.T) {
	t.Parallel()
	for naming, want := range map[string]string{"native": `"exec_command"`, "spec": `"shell"`} {
		p := newPlace(t, llmtest.Round{Text: "hi"})
		if _, errs, code := p.run("run", "--model", "openai/test-model", "--naming", naming, "hi"); code != 0 {
			t.Fatalf("code %d: %s", code, errs)
		}
		if body := string(p.server.Requests()[0].Body); !strings.Contains(body, want) {
			t.Errorf("%s: %s is not shown in %s", naming, want, body)
		}
	}
	p := newPlace(t)
	if _, errs, code := p.run("run", "--naming", "mine", "hi"); code != 2 || !strings.Contains(errs, "native or spec") {
		t.Errorf("code %d: %s", code, errs)
	}
}

// The demo needs no key and is labelled as a demo.
func TestRunDemo(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	out, errs, code := p.run("run", "--model", "demo/tour", "--permission-mode", "bypassPermissions", "Show me around")
	if code != 0 || !strings.Contains(out, "script") {
		t.Fatalf("exit %d: %s%s", code, out, errs)
	}
	if b, err := os.ReadFile(filepath.Join(p.folder, "atelier-tour", "hello.sh")); err != nil || !strings.HasPrefix(string(b), "#!") {
		t.Errorf("the tour's file: %q, %v", b, err)
	}
	if n := len(p.server.Requests()); n != 0 {
		t.Errorf("%d requests were sent somewhere", n)
	}
}

// LLM-04 COM-50: a well-known endpoint is chosen by its name.
func TestRunPreset(t *testing.T) {
	t.Parallel()
	for id, variable := range map[string]string{"deepseek": "DEEPSEEK_API_KEY", "azure": "AZURE_OPENAI_API_KEY", "ollama": ""} {
		p := newPlace(t, llmtest.Round{Text: "Hello from " + id})
		if variable != "" {
			p.env = append(p.env, variable+"=sk-test-0123456789")
		}
		out, errs, code := p.run("run", "--model", id+"/some/model", "--base-url", p.server.URL, "hi")
		if code != 0 || !strings.Contains(out, "Hello from "+id) || !strings.Contains(string(p.server.Requests()[0].Body), `"model":"some/model"`) {
			t.Errorf("%s: exit %d: %s%s", id, code, out, errs)
		}
	}
}

// Nobody can be asked in a run: a call that needs an approval is denied, and
// the model is told so.
func TestRunDeniesCallsThatNeedAnApproval(t *testing.T) {
	t.Parallel()
	p := newPlace(t, write("out.txt", "x"), llmtest.Round{Text: "I could not."})
	if out, errs, code := p.run("run", "--model", "openai/m", "go"); code != 0 || !strings.Contains(out, "I could not.") {
		t.Errorf("exit %d: %s%s", code, out, errs)
	}
	if _, err := os.Stat(filepath.Join(p.folder, "out.txt")); err == nil {
		t.Error("the file was written")
	}
	p.server.Add(write("out.txt", "x"), llmtest.Round{Text: "I could."})
	if _, errs, code := p.run("run", "--model", "openai/m", "--allowed-tools", "Write", "go"); code != 0 {
		t.Errorf("exit %d: %s", code, errs)
	}
	if _, err := os.Stat(filepath.Join(p.folder, "out.txt")); err != nil {
		t.Error("an allowed tool did not run")
	}
}

// LOOP-37: a read-only run writes no file, whatever is allowed, and its
// commands run only if they cannot write either. The log records what it did.
func TestRunReadOnly(t *testing.T) {
	t.Parallel()
	command := llmtest.Use("Bash", map[string]string{"command": "cat kept.txt; echo changed > kept.txt"})
	p := newPlace(t, write("out.txt", "x"), llmtest.Round{Calls: []llmtest.Call{command}}, llmtest.Round{Text: "I looked."})
	p.env = append(p.env, "LOG_LEVEL=debug")
	kept := filepath.Join(p.folder, "kept.txt")
	if err := os.WriteFile(kept, []byte("kept"), 0o600); err != nil {
		t.Fatal(err)
	}
	out, errs, code := p.run("run", "--model", "openai/m", "--permission-mode", "bypassPermissions", "--read-only", "--output", "stream-json", "go")
	if code != 0 || !strings.Contains(out, "out.txt was not written: this environment is read-only") {
		t.Errorf("exit %d: %s%s", code, out, errs)
	}
	if _, err := os.Stat(filepath.Join(p.folder, "out.txt")); err == nil {
		t.Error("a file was written")
	}
	if b, err := os.ReadFile(kept); err != nil || string(b) != "kept" {
		t.Errorf("a command made %q of a file, %v", b, err)
	}
	if log, err := os.ReadFile(filepath.Join(p.home, "logs", "atelier.log")); err != nil || !strings.Contains(string(log), `msg="run confined command" module=env`) {
		t.Errorf("logged %s, %v", log, err)
	}
}

// Each way to end has its exit code and its message.
func TestExitCodes(t *testing.T) {
	t.Parallel()
	look := llmtest.Round{Calls: []llmtest.Call{llmtest.Use("Glob", map[string]string{"pattern": "*"})}}
	for _, tt := range []struct {
		name   string
		rounds []llmtest.Round
		args   []string
		code   int
		says   string
	}{
		{"no prompt", nil, []string{"run"}, 2, "no prompt"},
		{"unknown flag", nil, []string{"run", "--nope", "x"}, 2, "unknown flag"},
		{"bad model", nil, []string{"run", "--model", "gpt", "x"}, 2, "PROVIDER/ID"},
		{"bad output", nil, []string{"run", "--output", "xml", "x"}, 2, "stream-json"},
		{"bad mode", nil, []string{"run", "--permission-mode", "yolo", "x"}, 1, "is not a permission mode"},
		{"no such folder", nil, []string{"run", "-C", "/no/such/folder", "x"}, 1, "folder /no/such/folder does not exist"},
		{"not a folder", nil, []string{"run", "-C", "/etc/hostname", "x"}, 1, "not a folder"},
		{"unknown provider", nil, []string{"run", "--model", "nobody/m", "x"}, 5, "\"nobody\" does not exist"},
		{"nothing to continue", nil, []string{"run", "--continue", "x"}, 1, "no session to continue"},
		{"no such session", nil, []string{"run", "--session", "nope", "x"}, 1, "session nope does not exist"},
		{"limit", []llmtest.Round{look, look}, []string{"run", "--model", "openai/m", "--max-turns", "1", "x"}, 3, "Stopped after 1 rounds"},
		{"wrong key", []llmtest.Round{{Status: 401, Body: `{"error":{"message":"no"}}`}}, []string{"run", "--model", "openai/m", "x"}, 5, "Check the provider's key"},
		{"unreachable", nil, []string{"run", "--model", "openai/m", "--base-url", "http://127.0.0.1:1/v1", "--max-retries", "0", "x"}, 6, "127.0.0.1:1"},
		{"no window", nil, nil, 2, "no window"},
		{"public address", nil, []string{"serve", "--addr", "0.0.0.0:0"}, 2, "loopback"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			p := newPlace(t, tt.rounds...)
			out, errs, code := p.run(tt.args...)
			if code != tt.code || !strings.Contains(errs, tt.says) {
				t.Errorf("exit %d, want %d with %q: %s%s", code, tt.code, tt.says, out, errs)
			}
			if strings.Contains(out+errs, "sk-test") {
				t.Error("the key was printed")
			}
		})
	}
}

// A database that cannot be used is reported and left alone.
func TestUnusableDatabase(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	if err := os.MkdirAll(p.home, 0o700); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(p.home, storage.File)
	garbage := bytes.Repeat([]byte("not a database "), 500)
	if err := os.WriteFile(path, garbage, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, args := range [][]string{{"run", "x"}, {"serve"}} {
		_, errs, code := p.run(args...)
		if code != 1 || !strings.Contains(errs, "damaged") || !strings.Contains(errs, "left exactly as it is") {
			t.Errorf("%v: exit %d: %s", args, code, errs)
		}
	}
	if b, _ := os.ReadFile(path); !bytes.Equal(b, garbage) {
		t.Error("the file was changed")
	}
}

// A prompt is read from standard input, and a session continues with its past.
func TestContinue(t *testing.T) {
	t.Parallel()
	p := newPlace(t, llmtest.Round{Text: "One."}, llmtest.Round{Text: "Two."})
	cmd := p.command("run", "--model", "openai/m", "-")
	cmd.Stdin = strings.NewReader("the first prompt")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	if _, errs, code := p.run("run", "--continue", "the second prompt"); code != 0 {
		t.Fatalf("exit %d: %s", code, errs)
	}
	body := string(p.server.Requests()[1].Body)
	for _, want := range []string{"the first prompt", "One.", "the second prompt"} {
		if !strings.Contains(body, want) {
			t.Errorf("the second request lacks %q", want)
		}
	}
}

// A session also continues if the program ended during a user's command or a
// compaction.
func TestContinueAfterACutOffAction(t *testing.T) {
	t.Parallel()
	for name, start := range map[string]agent.Payload{
		"a command":    agent.LocalCommandStart{ID: "c1", Command: "make"},
		"a compaction": agent.CompactionStart{Trigger: agent.CompactManual, Tokens: 1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			continueAfter(t, start)
		})
	}
}

func continueAfter(t *testing.T, begun agent.Payload) {
	t.Helper()
	p := newPlace(t, llmtest.Round{Text: "One."}, llmtest.Round{Text: "Two."})
	out, _, _ := p.run("run", "--model", "openai/m", "--output", "json", "begin")
	var first struct {
		Session string `json:"session_id"`
	}
	if err := json.Unmarshal([]byte(out), &first); err != nil {
		t.Fatal(err)
	}
	store, err := storage.Open(t.Context(), p.home)
	if err != nil {
		t.Fatal(err)
	}
	_, err = store.Append(t.Context(), agent.Event{Session: first.Session, At: 1, Data: begun})
	if err = errors.Join(err, store.Close()); err != nil {
		t.Fatal(err)
	}
	if out, errs, code := p.run("run", "--continue", "go on"); code != 0 || out != "Two.\n" {
		t.Fatalf("exit %d: %s%s", code, out, errs)
	}
}

// An interrupt ends the turn in order, with its own exit code.
func TestRunInterrupted(t *testing.T) {
	t.Parallel()
	p := newPlace(t, llmtest.Round{Text: "I think ", Hang: true})
	cmd, lines := p.start("run", "--model", "openai/m", "--output", "stream-json", "x")
	var kinds []agent.Kind
	for lines.Scan() && !strings.HasPrefix(lines.Text(), `{"kind":"result"`) {
		ev := events(t, lines.Text())[0]
		if ev.Kind() == agent.KindTextDelta && !slices.Contains(kinds, agent.KindTextDelta) { // a second signal would kill it
			if err := cmd.Process.Signal(os.Interrupt); err != nil {
				t.Fatal(err)
			}
		}
		kinds = append(kinds, ev.Kind())
		if d, ok := ev.Data.(agent.ProcessingEnd); ok && d.Reason != agent.EndInterrupted {
			t.Errorf("ended as %s", d.Reason)
		}
	}
	_ = cmd.Wait()
	if code := cmd.ProcessState.ExitCode(); code != 130 || kinds[len(kinds)-1] != agent.KindSessionEnd {
		t.Errorf("exit %d after %v", code, kinds)
	}
}

// start starts the program and returns its output line by line.
func (p *place) start(args ...string) (*exec.Cmd, *bufio.Scanner) {
	p.t.Helper()
	cmd := p.command(args...)
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		p.t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		p.t.Fatal(err)
	}
	p.t.Cleanup(func() { _ = cmd.Process.Kill() })
	lines := bufio.NewScanner(out)
	lines.Buffer(nil, 8<<20)
	return cmd, lines
}

// K-36: after a kill in the middle of a turn, everything that was printed with
// a seq is stored, the turn is marked as interrupted, and the session
// continues.
func TestKilledInTheMiddle(t *testing.T) {
	t.Parallel()
	for _, at := range []agent.Kind{agent.KindTextDelta, agent.KindTextEnd, agent.KindToolCallStart, agent.KindToolCallOutput} {
		t.Run(string(at), func(t *testing.T) {
			t.Parallel()
			p := newPlace(t, llmtest.Round{Text: "I run it.", Calls: []llmtest.Call{llmtest.Use("Bash", map[string]string{"command": "echo begun; sleep 600"})}})
			cmd, lines := p.start("run", "--model", "openai/m", "--permission-mode", "bypassPermissions", "--output", "stream-json", "x")
			var shown []agent.Event
			for lines.Scan() {
				ev := events(t, lines.Text())[0]
				if ev.Seq > 0 {
					shown = append(shown, ev)
				}
				if ev.Kind() == at {
					_ = cmd.Process.Signal(syscall.SIGKILL)
				}
			}
			_ = cmd.Wait()
			p.server.Add(llmtest.Round{Text: "On we go."}, llmtest.Round{Text: "On we go."})
			out, errs, code := p.run("run", "--continue", "--output", "stream-json", "again")
			if code != 0 {
				t.Fatalf("exit %d: %s", code, errs)
			}
			after := events(t, out)
			if first, last := after[0], shown[len(shown)-1]; first.Seq <= last.Seq {
				t.Errorf("the log continued at %d; %d had been shown", first.Seq, last.Seq)
			}
			crashed := false
			for _, ev := range after {
				d, ok := ev.Data.(agent.ProcessingEnd)
				crashed = crashed || ok && d.Reason == agent.EndCrashed
			}
			if !crashed {
				t.Errorf("the turn was not marked: %s", out)
			}
		})
	}
}

// atelier serve prints an address that is valid once, a second start prints a
// new one for the same process, and a signal ends it.
func TestServe(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	cmd, lines := p.start("serve")
	if !lines.Scan() {
		t.Fatal("no address")
	}
	first := lines.Text()
	second, errs, code := p.run("serve", p.folder)
	if code != 0 || !strings.HasPrefix(second, "http://127.0.0.1:") || strings.TrimSpace(second) == first {
		t.Fatalf("second start: exit %d, %s%s", code, second, errs)
	}
	for _, link := range []string{first, strings.TrimSpace(second)} {
		origin, token, _ := strings.Cut(link, "/#token=")
		for _, want := range []int{http.StatusOK, http.StatusUnauthorized} {
			req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, origin+"/session", strings.NewReader(`{"token":"`+token+`"}`))
			if err != nil {
				t.Fatal(err)
			}
			req.Header.Set("Origin", origin)
			resp, err := http.DefaultClient.Do(req)
			if err != nil {
				t.Fatal(err)
			}
			_ = resp.Body.Close()
			if resp.StatusCode != want {
				t.Errorf("%s: %d, want %d", link, resp.StatusCode, want)
			}
		}
	}
	if err := cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	_ = cmd.Wait()
	if code := cmd.ProcessState.ExitCode(); code != 0 {
		t.Errorf("exit %d", code)
	}
}
