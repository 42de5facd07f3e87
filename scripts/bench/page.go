package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"atelier.dev/atelier/agent/llm/llmtest"
	"github.com/coder/websocket"
)

// serverScript is a server of the Model Context Protocol. It imports as much as one that
// is made with the protocol's own SDK, so that its start costs as much.
const serverScript = `import sys, json, asyncio, email, http.client, urllib.request
for line in sys.stdin:
    m = json.loads(line)
    if "id" not in m:
        continue
    if m["method"] == "initialize":
        a = {"result": {"protocolVersion": "2025-06-18", "capabilities": {"tools": {}}, "serverInfo": {"name": "bench", "version": "1"}}}
    elif m["method"] == "tools/list":
        a = {"result": {"tools": [{"name": "t", "description": "Does nothing.", "inputSchema": {"type": "object"}}]}}
    elif m["method"] == "ping":
        a = {"result": {}}
    else:
        a = {"error": {"code": -32601, "message": "unknown"}}
    print(json.dumps({"jsonrpc": "2.0", "id": m["id"], **a}), flush=True)
`

// withServers writes the user's settings with count servers.
func withServers(home string, count int) error {
	if err := os.MkdirAll(filepath.Join(home, ".agent"), 0o700); err != nil {
		return err
	}
	script := filepath.Join(home, "server.py")
	if err := os.WriteFile(script, []byte(serverScript), 0o600); err != nil {
		return err
	}
	servers := map[string]any{}
	for i := range count {
		servers[fmt.Sprint("server", i)] = map[string]any{"command": "python3", "args": []string{script}}
	}
	text, err := json.Marshal(map[string]any{"mcpServers": servers})
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(home, ".agent", "settings.json"), text, 0o600)
}

// firstPrompts measures the first turns of new programs, with that many servers,
// and returns the median.
func (b bench) firstPrompts(servers int) (string, error) {
	var all []float64
	for range b.runs {
		took, err := b.firstPrompt(servers)
		if err != nil {
			return "", err
		}
		all = append(all, ms(took))
	}
	return fmt.Sprintf("%.1f ms", middle(all)), nil
}

// firstPrompt returns how long it took from the first prompt in a page to the first
// request.
func (b bench) firstPrompt(servers int) (time.Duration, error) {
	server := llmtest.NewServer(say("hi")...)
	defer server.Close()
	dir, project, err := b.project()
	if err != nil {
		return 0, fmt.Errorf("make a project: %w", err)
	}
	defer os.RemoveAll(dir)
	if err := withServers(dir, servers); err != nil {
		return 0, fmt.Errorf("write servers: %w", err)
	}
	address, stop, err := b.serve(project, b.environ(dir, server))
	if err != nil {
		return 0, err
	}
	defer stop()
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	p, err := signIn(ctx, address)
	if err != nil {
		return 0, fmt.Errorf("sign in: %w", err)
	}
	defer p.conn.CloseNow() //nolint:errcheck // the program is about to end
	var session struct {
		ID string `json:"id"`
	}
	if err := p.call("sessions.create", struct{}{}, &session); err != nil {
		return 0, err
	}
	time.Sleep(300 * time.Millisecond) // the program finishes its start while a person types
	begin := time.Now()
	if err := p.call("conversation.send", map[string]string{"session": session.ID, "text": "go"}, nil); err != nil {
		return 0, err
	}
	for ctx.Err() == nil {
		if first, _, _ := figures(server, begin, begin); first > 0 {
			return first, nil
		}
		time.Sleep(5 * time.Millisecond)
	}
	return 0, fmt.Errorf("wait for a request: %w", ctx.Err())
}

// serve starts the program in browser mode and returns the address that it prints.
func (b bench) serve(project string, environ []string) (address string, stop func(), err error) {
	cmd := exec.Command(b.program, "serve", project, "--addr", "127.0.0.1:0")
	cmd.Env, cmd.Stderr = environ, os.Stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		return "", nil, fmt.Errorf("start %s: %w", b.program, err)
	}
	if err := cmd.Start(); err != nil {
		return "", nil, fmt.Errorf("start %s: %w", b.program, err)
	}
	stop = func() {
		_ = cmd.Process.Signal(os.Interrupt)
		_ = cmd.Wait()
	}
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		stop()
		return "", nil, fmt.Errorf("read the address of %s: %w", b.program, err)
	}
	return strings.TrimSpace(line), stop, nil
}

// page is a page of the program in browser mode.
type page struct {
	ctx  context.Context
	conn *websocket.Conn
	last int
}

// signIn opens a page with a printed address.
func signIn(ctx context.Context, address string) (*page, error) {
	at, err := url.Parse(address)
	if err != nil {
		return nil, err
	}
	body, err := json.Marshal(map[string]string{"token": strings.TrimPrefix(at.Fragment, "token=")})
	if err != nil {
		return nil, err
	}
	origin := "http://" + at.Host
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, origin+"/session", bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	request.Header.Set("Origin", origin)
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return nil, err
	}
	defer response.Body.Close()
	secret, err := io.ReadAll(response.Body)
	if err != nil {
		return nil, err
	}
	conn, _, err := websocket.Dial(ctx, "ws://"+at.Host+"/ws", &websocket.DialOptions{HTTPHeader: http.Header{"Origin": {origin}}})
	if err != nil {
		return nil, err
	}
	conn.SetReadLimit(1 << 24)
	return &page{ctx: ctx, conn: conn}, conn.Write(ctx, websocket.MessageText, secret)
}

// call calls a method and reads its reply.
func (p *page) call(method string, args, reply any) error {
	p.last++
	request, err := json.Marshal(map[string]any{"id": p.last, "method": method, "args": args})
	if err != nil {
		return err
	}
	if err := p.conn.Write(p.ctx, websocket.MessageText, request); err != nil {
		return err
	}
	for {
		_, text, err := p.conn.Read(p.ctx)
		if err != nil {
			return err
		}
		var m struct {
			ID    int             `json:"id"`
			OK    json.RawMessage `json:"ok"`
			Error json.RawMessage `json:"error"`
		}
		if err := json.Unmarshal(text, &m); err != nil {
			return err
		}
		switch {
		case m.ID != p.last:
		case m.Error != nil:
			return fmt.Errorf("%s: %s", method, m.Error)
		case reply == nil:
			return nil
		default:
			return json.Unmarshal(m.OK, reply)
		}
	}
}
