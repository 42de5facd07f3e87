package mcptest

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"strconv"
	"sync"
	"time"
)

// server is one server, however it is reached.
type server struct {
	behaviour behaviour

	mu      sync.Mutex
	asked   int                      // requests of the server so far
	waiting map[string]chan request  // for the client's answers, by id
	events  map[chan []byte]struct{} // streams for what belongs to no request
	early   [][]byte                 // events before there was a stream
	tools   []object
	late    []request // that are answered too late
	counts  map[string]int
}

func newServer(name string) *server {
	b, ok := behaviours[name]
	if !ok {
		panic("mcptest has no behaviour " + name)
	}
	s := &server{behaviour: b, waiting: map[string]chan request{}, events: map[chan []byte]struct{}{}, counts: map[string]int{}}
	s.tools = usualTools()
	return s
}

// count returns how often it was called for a thing, this time included.
func (s *server) count(thing string) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.counts[thing]++
	return s.counts[thing]
}

// talk is where the messages about one request go.
type talk struct {
	*server
	raw     func([]byte) // writes bytes as they are
	frame   func([]byte) // writes a message
	opened  string       // what a message begins and ends with
	closed  string
	publish func([]byte)    // writes a message that belongs to no request; nil means frame
	cancel  <-chan struct{} // closed when nobody waits any more
}

func (t *talk) send(message any) {
	text, err := json.Marshal(message)
	if err != nil {
		panic(err)
	}
	t.frame(text)
}

func (t *talk) result(r request, result any) {
	t.send(object{"jsonrpc": "2.0", "id": r.ID, "result": result})
}

func (t *talk) fail(r request, code int, text string) {
	t.send(object{"jsonrpc": "2.0", "id": r.ID, "error": object{"code": code, "message": text}})
}

func (t *talk) notify(method string, params any) {
	t.send(object{"jsonrpc": "2.0", "method": method, "params": params})
}

// ask sends a request to the client and returns its answer, or nothing if the
// connection ends first.
func (t *talk) ask(method string, params any) (request, bool) {
	t.mu.Lock()
	t.asked++
	id := strconv.Itoa(t.asked)
	answer := make(chan request, 1)
	t.waiting[`"s`+id+`"`] = answer
	t.mu.Unlock()
	t.send(object{"jsonrpc": "2.0", "id": "s" + id, "method": method, "params": params})
	select {
	case r := <-answer:
		return r, true
	case <-t.cancel:
		return request{}, false
	}
}

// event sends a notification that belongs to no request.
func (t *talk) event(method string, params any) {
	if t.publish == nil {
		t.notify(method, params)
		return
	}
	text, _ := json.Marshal(object{"jsonrpc": "2.0", "method": method, "params": params})
	t.publish(text)
}

// receive takes a message of the client.
func (t *talk) receive(text []byte) {
	var r request
	if err := json.Unmarshal(text, &r); err != nil {
		return
	}
	if r.Method == "" {
		t.mu.Lock()
		answer := t.waiting[string(r.ID)]
		delete(t.waiting, string(r.ID))
		t.mu.Unlock()
		if answer != nil {
			answer <- r
		}
		return
	}
	if t.behaviour.handle != nil && t.behaviour.handle(t, r) {
		return
	}
	t.usual(r)
}

// serveStdio serves until the input ends, and returns the exit code.
func serveStdio(name string, in io.Reader, out io.Writer) int {
	s := newServer(name)
	var mu sync.Mutex
	gone := make(chan struct{})
	write := func(text []byte) {
		mu.Lock()
		defer mu.Unlock()
		_, _ = out.Write(text)
	}
	t := &talk{server: s, cancel: gone, raw: write}
	t.closed = "\n"
	if s.behaviour.crlf {
		t.closed = "\r\n"
	}
	t.frame = func(text []byte) { write(append(text, t.closed...)) }
	if s.behaviour.start != nil {
		s.behaviour.start(t)
	}
	if s.behaviour.neverReads {
		stay()
	}
	lines := bufio.NewReader(in)
	for {
		line, err := lines.ReadBytes('\n')
		if line = bytes.TrimSpace(line); len(line) > 0 {
			go t.receive(line)
		}
		if err != nil {
			close(gone)
			if s.behaviour.stay {
				stay()
			}
			return 0
		}
	}
}

// stay does not end before the process is killed.
func stay() {
	for range time.Tick(time.Hour) {
	}
}

// usual answers as a good server does.
func (t *talk) usual(r request) {
	var p struct {
		Version  string            `json:"protocolVersion"`
		Name     string            `json:"name"`
		URI      string            `json:"uri"`
		Cursor   string            `json:"cursor"`
		Args     map[string]any    `json:"arguments"`
		Argument map[string]string `json:"argument"`
		Meta     struct {
			Token json.RawMessage `json:"progressToken"`
		} `json:"_meta"`
	}
	_ = json.Unmarshal(r.Params, &p)
	switch r.Method {
	case "initialize":
		t.result(r, object{
			"protocolVersion": p.Version, "serverInfo": object{"name": "mcptest", "version": "1.2"}, "instructions": "Use it for tests.",
			"capabilities": object{
				"tools": object{"listChanged": true}, "resources": object{"listChanged": true}, "prompts": object{"listChanged": true},
				"completions": object{}, "logging": object{}, "tasks": object{"cancel": object{}, "requests": object{"tools": object{"call": object{}}}},
			},
		})
	case "ping", "logging/setLevel", "tasks/cancel":
		t.result(r, object{})
	case "tools/list":
		t.mu.Lock()
		tools := t.tools
		t.mu.Unlock()
		t.result(r, object{"tools": tools})
	case "tools/call":
		t.call(r, p.Name, p.Args, p.Meta.Token)
	case "resources/list":
		t.result(r, object{"resources": []object{{"uri": "test://one", "name": "one", "mimeType": "text/plain", "size": 3}}})
	case "resources/templates/list":
		t.result(r, object{"resourceTemplates": []object{{"uriTemplate": "test://{name}", "name": "any"}}})
	case "resources/read":
		if p.URI == "test://blob" {
			t.result(r, object{"contents": []object{{"uri": p.URI, "mimeType": "application/octet-stream", "blob": "AAEC"}}})
			return
		}
		t.result(r, object{"contents": []object{{"uri": p.URI, "mimeType": "text/plain", "text": "one"}}})
	case "prompts/list":
		t.result(r, object{"prompts": []object{{"name": "greet", "description": "Greets somebody.", "arguments": []object{{"name": "who", "required": true}}}}})
	case "prompts/get":
		t.result(r, object{"messages": []object{{"role": "user", "content": object{"type": "text", "text": fmt.Sprintf("Greet %v.", p.Args["who"])}}}})
	case "completion/complete":
		t.result(r, object{"completion": object{"values": []string{p.Argument["value"] + "dam", p.Argument["value"] + "lice"}, "hasMore": true}})
	case "tasks/get":
		status := "working"
		if t.count("tasks/get") > 1 {
			status = "completed"
		}
		t.result(r, object{"taskId": "t1", "status": status, "createdAt": "2026-01-01T00:00:00Z", "lastUpdatedAt": "2026-01-01T00:00:00Z", "ttl": nil, "pollInterval": 100})
	case "tasks/result":
		t.result(r, text("the task is done"))
	default:
		if r.ID != nil {
			t.fail(r, -32601, "no such method: "+r.Method)
		}
	}
}

func text(s string) object { return object{"content": []object{{"type": "text", "text": s}}} }

func usualTools() []object {
	schema := object{"type": "object", "properties": object{"text": object{"type": "string"}}}
	return []object{
		{"name": "echo", "description": "Returns its text.", "inputSchema": schema, "annotations": object{"readOnlyHint": true}},
		{"name": "fail", "description": "Fails.", "inputSchema": schema},
		{"name": "mixed", "description": "Returns parts of all kinds.", "inputSchema": schema},
		{"name": "typed", "description": "Returns structured content.", "inputSchema": schema,
			"outputSchema": object{"type": "object", "properties": object{"n": object{"type": "integer"}}, "required": []string{"n"}}},
		{"name": "hang", "description": "Never answers.", "inputSchema": schema},
		{"name": "progress", "description": "Reports progress.", "inputSchema": schema},
		{"name": "sample", "description": "Asks the model.", "inputSchema": schema},
		{"name": "elicit", "description": "Asks the user.", "inputSchema": schema},
		{"name": "visit", "description": "Has the user visit an address.", "inputSchema": schema},
		{"name": "roots", "description": "Asks for the roots.", "inputSchema": schema},
		{"name": "task", "description": "Runs as a task.", "inputSchema": schema, "execution": object{"taskSupport": "required"}},
		{"name": "die", "description": "Ends the server.", "inputSchema": schema},
		{"name": "env", "description": "Returns the environment.", "inputSchema": schema},
	}
}

// call answers a call of a tool as a good server does.
func (t *talk) call(r request, name string, args map[string]any, token json.RawMessage) {
	switch name {
	case "echo":
		t.result(r, text(fmt.Sprint(args["text"])))
	case "fail":
		answer := text("it failed")
		answer["isError"] = true
		t.result(r, answer)
	case "mixed":
		t.result(r, object{"content": []object{
			{"type": "text", "text": "a text"},
			{"type": "image", "data": "aW1hZ2U=", "mimeType": "image/png"},
			{"type": "audio", "data": "c291bmQ=", "mimeType": "audio/wav"},
			{"type": "resource", "resource": object{"uri": "test://one", "mimeType": "text/plain", "text": "one"}},
			{"type": "resource_link", "uri": "test://two", "name": "two", "mimeType": "text/plain", "size": 5},
			{"type": "hologram"},
		}})
	case "typed":
		answer := text("n")
		answer["structuredContent"] = object{"n": args["text"]}
		t.result(r, answer)
	case "hang":
		<-t.cancel
	case "progress":
		for n := 1; n <= 3; n++ {
			t.notify("notifications/progress", object{"progressToken": token, "progress": n, "total": 3, "message": fmt.Sprintf("step %d", n)})
		}
		t.result(r, text("done"))
	case "sample", "elicit", "visit", "roots":
		t.question(r, name)
	case "task":
		t.result(r, object{"task": object{"taskId": "t1", "status": "working", "createdAt": "2026-01-01T00:00:00Z", "lastUpdatedAt": "2026-01-01T00:00:00Z", "ttl": nil, "pollInterval": 100}})
	case "die":
		if t.raw != nil {
			os.Exit(3)
		}
	case "env":
		t.result(r, object{"content": []object{}, "structuredContent": object{"env": os.Environ()}})
	default:
		t.fail(r, -32602, "unknown tool "+name)
	}
}

// question asks the client and returns its answer as the result of a call.
func (t *talk) question(r request, name string) {
	methods := map[string]string{"sample": "sampling/createMessage", "elicit": "elicitation/create", "visit": "elicitation/create", "roots": "roots/list"}
	params := map[string]object{
		"sample": {"messages": []object{{"role": "user", "content": object{"type": "text", "text": "What is 1+1?"}}}, "maxTokens": 100, "systemPrompt": "Count.",
			"modelPreferences": object{"hints": []object{{"name": "small"}}}},
		"elicit": {"message": "Your name?", "requestedSchema": object{"type": "object", "properties": object{"name": object{"type": "string"}}}},
		"visit":  {"mode": "url", "message": "Log in there.", "url": "https://example.com/login", "elicitationId": "e1"},
		"roots":  {},
	}
	answer, ok := t.ask(methods[name], params[name])
	switch {
	case !ok:
	case answer.Error != nil:
		t.result(r, text("error "+string(answer.Error)))
	default:
		t.result(r, text(string(answer.Result)))
	}
}
