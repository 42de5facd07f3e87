//go:build unix

package cli_test

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"atelier.dev/atelier/agent/llm/llmtest"
)

// rpc is a program that speaks lines of JSON-RPC with atelier mcp serve.
type rpc struct {
	t   *testing.T
	in  io.WriteCloser
	out *bufio.Scanner
	// decide answers what a person is asked; its message is the argument.
	decide func(message string) map[string]any
	next   int
}

// speak starts the program and introduces a client that can ask its user. End lets
// the client leave, and waits for the program's end.
func (p *place) speak(args ...string) (c *rpc, end func()) {
	p.t.Helper()
	cmd := p.command(args...)
	in, err := cmd.StdinPipe()
	if err != nil {
		p.t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		p.t.Fatal(err)
	}
	cmd.Stderr = os.Stderr
	if err := cmd.Start(); err != nil {
		p.t.Fatal(err)
	}
	p.t.Cleanup(func() { _ = cmd.Process.Kill() })
	c = &rpc{t: p.t, in: in, out: bufio.NewScanner(out)}
	c.out.Buffer(nil, 1<<20)
	c.ask("initialize", map[string]any{
		"protocolVersion": "2025-11-25", "clientInfo": map[string]any{"name": "tester", "version": "1"},
		"capabilities": map[string]any{"elicitation": map[string]any{}},
	})
	c.write(map[string]any{"jsonrpc": "2.0", "method": "notifications/initialized"})
	return c, func() {
		_ = in.Close()
		for c.out.Scan() { // to its end
		}
		if err := cmd.Wait(); err != nil {
			p.t.Errorf("it ended with %v", err)
		}
	}
}

type rpcMessage struct {
	ID     json.RawMessage `json:"id"`
	Method string          `json:"method"`
	Params struct {
		Message string `json:"message"`
	} `json:"params"`
	Result json.RawMessage `json:"result"`
	Error  json.RawMessage `json:"error"`
}

func (c *rpc) write(v any) {
	c.t.Helper()
	b, err := json.Marshal(v)
	if err != nil {
		c.t.Fatal(err)
	}
	if _, err := c.in.Write(append(b, '\n')); err != nil {
		c.t.Fatal(err)
	}
}

// ask sends a request and returns its result. Meanwhile it answers questions.
func (c *rpc) ask(method string, params any) json.RawMessage {
	c.t.Helper()
	c.next++
	id := fmt.Sprint(c.next)
	c.write(map[string]any{"jsonrpc": "2.0", "id": c.next, "method": method, "params": params})
	for c.out.Scan() {
		var m rpcMessage
		if err := json.Unmarshal(c.out.Bytes(), &m); err != nil {
			c.t.Fatalf("%s is not a message: %v", c.out.Bytes(), err)
		}
		switch {
		case m.Method == "elicitation/create":
			c.write(map[string]any{"jsonrpc": "2.0", "id": m.ID, "result": map[string]any{"action": "accept", "content": c.decide(m.Params.Message)}})
		case m.Method == "" && string(m.ID) == id:
			if m.Error != nil {
				c.t.Fatalf("%s: %s", method, m.Error)
			}
			return m.Result
		}
	}
	c.t.Fatalf("%s was not answered: %v", method, c.out.Err())
	return nil
}

// call calls a tool.
func (c *rpc) call(tool string, arguments map[string]any) (text string, isError bool) {
	c.t.Helper()
	var result struct {
		Content []struct {
			Text string `json:"text"`
		} `json:"content"`
		IsError bool `json:"isError"`
	}
	if err := json.Unmarshal(c.ask("tools/call", map[string]any{"name": tool, "arguments": arguments}), &result); err != nil {
		c.t.Fatal(err)
	}
	for _, part := range result.Content {
		text += part.Text
	}
	return text, result.IsError
}

// Another program calls Atelier's tools, and gives tasks to its agent. Both are gated
// like any other call: what needs a person is asked of the program's user.
func TestServeTools(t *testing.T) {
	t.Parallel()
	p := newPlace(t, llmtest.Round{Text: "Hello."}, llmtest.Round{Text: "The agent is done."})
	if _, errs, code := p.run("run", "--model", "openai/test-model", "Hello."); code != 0 { // now this model is the user's
		t.Fatal(errs)
	}
	p.put("a.txt", "alpha \u202e\n")
	c, end := p.speak("mcp", "serve", p.folder)
	var asked []string
	decision := "deny"
	c.decide = func(message string) map[string]any {
		asked = append(asked, message)
		return map[string]any{"decision": decision, "words": "Rather not."}
	}
	var list struct {
		Tools []struct {
			Name string `json:"name"`
		} `json:"tools"`
	}
	if err := json.Unmarshal(c.ask("tools/list", nil), &list); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"Read", "Write", "Bash", "run_agent"} {
		if !slices.ContainsFunc(list.Tools, func(tool struct {
			Name string `json:"name"`
		}) bool {
			return tool.Name == name
		}) {
			t.Errorf("%s is not offered", name)
		}
	}
	if text, failed := c.call("Read", map[string]any{"file_path": "a.txt"}); failed || !strings.Contains(text, "alpha \u202e") {
		t.Errorf("Read: %q, %v", text, failed)
	}
	command := map[string]any{"command": "echo beta >b.txt # \u202e"}
	if text, failed := c.call("Bash", command); !failed || !strings.Contains(text, "Rather not.") {
		t.Errorf("a denied call: %q, %v", text, failed)
	}
	if len(asked) != 1 || !strings.Contains(asked[0], "echo beta >b.txt # ⟨U+202E⟩") {
		t.Errorf("the question was %q", asked)
	}
	if _, err := os.Stat(filepath.Join(p.folder, "b.txt")); err == nil {
		t.Error("a denied call ran")
	}
	decision = "allow_session"
	for range 2 {
		if text, failed := c.call("Bash", command); failed {
			t.Errorf("an allowed call: %q", text)
		}
	}
	if len(asked) != 2 {
		t.Errorf("it was asked %d times, want 2: %q", len(asked), asked)
	}
	if text, failed := c.call("run_agent", map[string]any{"task": "Say that you are done."}); failed || !strings.Contains(text, "The agent is done.") {
		t.Errorf("run_agent: %q, %v", text, failed)
	}
	end()
	if list, errs, _ := p.run("ledger", p.folder); !strings.Contains(list, "echo beta") {
		t.Errorf("the ledger says %s%s", list, errs)
	}
}

// Over HTTP the printed token is needed.
func TestServeToolsOverHTTP(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	p.put("a.txt", "alpha\n")
	cmd, out := p.start("mcp", "serve", "--http", p.folder)
	var printed []string
	for len(printed) < 2 && out.Scan() {
		printed = append(printed, out.Text())
	}
	if len(printed) < 2 {
		t.Fatalf("it printed %q", printed)
	}
	_, token, _ := strings.Cut(printed[1], ": ")
	post := func(authorisation, session, body string) (answer *http.Response, text string) {
		r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, printed[0], strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		for name, value := range map[string]string{
			"Content-Type": "application/json", "Accept": "application/json, text/event-stream", "Authorization": authorisation, "Mcp-Session-Id": session,
		} {
			r.Header.Set(name, value)
		}
		answer, err = http.DefaultClient.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		defer answer.Body.Close()
		b, err := io.ReadAll(answer.Body)
		if err != nil {
			t.Fatal(err)
		}
		return answer, string(b)
	}
	const hello = `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"x","version":"1"}}}`
	if answer, _ := post("", "", hello); answer.StatusCode != http.StatusUnauthorized {
		t.Errorf("without a token: %s", answer.Status)
	}
	// Clients that never say that they leave keep nobody else out.
	for n := range 40 {
		answer, _ := post(token, "", hello)
		_, text := post(token, answer.Header.Get("Mcp-Session-Id"), `{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"Read","arguments":{"file_path":"a.txt"}}}`)
		if answer.StatusCode != http.StatusOK || !strings.Contains(text, "alpha") {
			t.Fatalf("client %d: %s, %s", n, answer.Status, text)
		}
	}
	if err := cmd.Process.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}
	for out.Scan() { // to its end
	}
	if err := cmd.Wait(); err != nil {
		t.Errorf("it ended with %v", err)
	}
}
