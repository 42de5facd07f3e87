//go:build unix

package cli_test

import (
	"bufio"
	"encoding/json"
	"os"
	"regexp"
	"strings"
	"testing"

	"atelier.dev/atelier/agent/mcp/mcptest"
	"atelier.dev/atelier/backend/mcp"
)

// Servers are added, listed as they are, tested and removed from the command line. A
// secret does not stand in the file.
func TestServersFromTheCommandLine(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	good := mcptest.Stdio(t, "good")
	add := []string{"mcp", "add", "good", "--env", "MY_TOKEN=tok-123"}
	for name, value := range good.Stdio.Env {
		add = append(add, "--env", name+"="+value)
	}
	add = append(add, "--", good.Stdio.Command)
	for _, args := range [][]string{append(add, good.Stdio.Args...), {"mcp", "add", "gone", "--", "no-such-program"}} {
		if _, errs, code := p.run(args...); code != 0 {
			t.Fatalf("%v: %s", args, errs)
		}
	}
	out, errs, code := p.run("mcp", "list")
	if code != 0 {
		t.Fatal(errs)
	}
	for _, want := range []string{"good  connected, ", "gone  failed", "no-such-program", "settings.json:"} {
		if !strings.Contains(out, want) {
			t.Errorf("%q is not in the list:\n%s", want, out)
		}
	}
	if out, _, _ = p.run("mcp", "list", "--json"); strings.Contains(out, "tok-123") {
		t.Errorf("the list shows a secret:\n%s", out)
	}
	var reply mcp.ServersReply
	if err := json.Unmarshal([]byte(out), &reply); err != nil || len(reply.Servers) != 2 {
		t.Errorf("%v, %+v", err, reply)
	}
	if b, err := os.ReadFile(reply.Servers[0].Origin.File); err != nil || strings.Contains(string(b), "tok-123") {
		t.Errorf("the file is %s, %v", b, err)
	}
	if out, errs, code = p.run("mcp", "test", "good"); code != 0 || !strings.Contains(out, "echo") ||
		!regexp.MustCompile(`(?s)ok +handshake +\d+ ms\nok +tools +\d+ ms  \d+\nok +resources +\d+ ms  \d+\nok +prompts +\d+ ms  \d+\nok +ping +\d+ ms\n`).MatchString(out) {
		t.Errorf("test of a good server: %d\n%s%s", code, out, errs)
	}
	if out, errs, code = p.run("mcp", "test", "gone"); code != 1 || !strings.Contains(out, "FAILED") || !strings.Contains(errs, "no-such-program") {
		t.Errorf("test of a server that is not there: %d\n%s%s", code, out, errs)
	}
	if _, errs, code = p.run("mcp", "remove", "gone"); code != 0 {
		t.Error(errs)
	}
	if out, _, _ = p.run("mcp", "list"); strings.Contains(out, "gone") {
		t.Errorf("a removed server is listed:\n%s", out)
	}
	for _, args := range [][]string{{"mcp", "add", "x"}, {"mcp", "add", "--env", "x", "y", "--", "z"}, {"mcp", "add", "y", "https://z.example", "more"}, {"mcp", "test"}, {"mcp", "remove"}, {"mcp", "fly"}} {
		if _, _, code := p.run(args...); code != 2 {
			t.Errorf("%v ended with %d", args, code)
		}
	}
}

// An interrupt before the turn begins ends a run without a turn, and is not called a failure
// of the program.
func TestRunInterruptedBeforeItsTurn(t *testing.T) {
	t.Parallel()
	for output, want := range map[string]string{"text": "", "json": `"status":"interrupted"`, "messages": `"status":"cancelled"`} {
		p := newPlace(t)
		if _, errs, code := p.run("mcp", "add", "slow", "--", "sleep", "600"); code != 0 {
			t.Fatal(errs)
		}
		cmd := p.command("run", "--model", "openai/m", "--output", output, "x")
		var out, errs strings.Builder
		cmd.Stdout = &out
		told, err := cmd.StderrPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		for lines := bufio.NewScanner(told); lines.Scan(); {
			errs.WriteString(lines.Text() + "\n")
			if strings.HasPrefix(lines.Text(), "Waiting") {
				if err := cmd.Process.Signal(os.Interrupt); err != nil {
					t.Fatal(err)
				}
			}
		}
		_ = cmd.Wait()
		code := cmd.ProcessState.ExitCode()
		if code != 130 || errs.String() != "Waiting up to 5 s for MCP servers: slow\nInterrupted.\n" || !strings.Contains(out.String(), want) || strings.Contains(out.String(), "internal") {
			t.Errorf("%s: exit %d, %s%s", output, code, out.String(), errs.String())
		}
	}
}
