package mcptest

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"os/signal"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// behaviour is how a server differs from a good one.
type behaviour struct {
	start      func(t *talk)                                                // before it reads anything; over stdio only
	handle     func(t *talk, r request) bool                                // it did all that is to be done about a request
	serve      func(s *server, w http.ResponseWriter, r *http.Request) bool // the same, for HTTP
	crlf       bool                                                         // lines end as on Windows
	neverReads bool                                                         // it never reads its input
	stay       bool                                                         // it does not end with its input
}

// on does something else about the requests of one method.
func on(method string, f func(t *talk, r request)) behaviour {
	return behaviour{handle: func(t *talk, r request) bool {
		if r.Method != method {
			return false
		}
		f(t, r)
		return true
	}}
}

// also does something before each answer to the requests of one method.
func also(method string, f func(t *talk, r request)) behaviour {
	return behaviour{handle: func(t *talk, r request) bool {
		if r.Method == method {
			f(t, r)
		}
		return false
	}}
}

func hang(t *talk, _ request) { <-t.cancel }
func crash(*talk, request)    { os.Exit(3) }

// endOutput closes the output and lives on.
func endOutput(t *talk, r request) {
	_ = os.Stdout.Close()
	hang(t, r)
}

// deep is a schema of so many objects in each other.
type deep int

func (d deep) MarshalJSON() ([]byte, error) {
	n := int(d)
	return []byte(strings.Repeat(`{"type":"object","properties":{"a":`, n) + `{"type":"string"}` + strings.Repeat("}}", n)), nil
}

func listed(tools ...object) behaviour {
	return on("tools/list", func(t *talk, r request) { t.result(r, object{"tools": tools}) })
}

var plain = object{"type": "object"}

// flood writes about size bytes, unless the connection ends first.
func flood(t *talk, size int) {
	chunk := bytes.Repeat([]byte("x"), 1<<16)
	for ; size > 0; size -= len(chunk) {
		select {
		case <-t.cancel:
			return
		default:
			t.raw(chunk)
		}
	}
}

// large answers a call with a text of size bytes.
func large(size int) behaviour {
	return on("tools/call", func(t *talk, r request) {
		t.raw(fmt.Appendf([]byte(t.opened), `{"jsonrpc":"2.0","id":%s,"result":{"content":[{"type":"text","text":"`, r.ID))
		flood(t, size)
		t.raw(append([]byte(`"}]}}`), t.closed...))
	})
}

// onEcho changes what is written for the calls of echo.
func onEcho(f func(t *talk, r request, usual func())) behaviour {
	return behaviour{handle: func(t *talk, r request) bool {
		if r.Method != "tools/call" || !bytes.Contains(r.Params, []byte(`"echo"`)) {
			return false
		}
		f(t, r, func() { t.usual(r) })
		return true
	}}
}

var behaviours = map[string]behaviour{
	"good": {},

	// Those that never become a connection.
	"start-crash": {start: func(*talk) { fmt.Fprintln(os.Stderr, "no database"); os.Exit(3) }, serve: status(http.StatusBadGateway)},
	"init-crash":  on("initialize", crash),
	"init-hang":   {handle: func(t *talk, _ request) bool { <-t.cancel; return true }},
	"init-silent": {handle: func(*talk, request) bool { return true }},
	"init-error":  on("initialize", func(t *talk, r request) { t.fail(r, -32603, "not today") }),
	"init-version": on("initialize", func(t *talk, r request) {
		t.result(r, object{"protocolVersion": "1999-12-31", "capabilities": object{}})
	}),
	"init-text":    on("initialize", func(t *talk, r request) { t.result(r, "hello") }),
	"init-huge":    on("initialize", func(t *talk, r request) { t.result(r, object{"instructions": strings.Repeat("x", 20<<20)}) }),
	"init-foreign": on("initialize", func(t *talk, r request) { r.ID = json.RawMessage("4711"); t.usual(r) }),
	"init-garbage": on("initialize", func(t *talk, r request) { t.raw([]byte("Listening on port 3000 <b>\x1b[31m\n")); hang(t, r) }),
	"init-unversioned": on("initialize", func(t *talk, r request) {
		t.result(r, object{"capabilities": object{}, "serverInfo": object{"name": "x", "version": "1"}})
	}),
	"init-ends-output": on("initialize", endOutput),
	"list-foreign":     on("tools/list", func(t *talk, r request) { r.ID = json.RawMessage("4711"); t.usual(r) }),
	"list-ends-output": on("tools/list", endOutput),
	"endless-line":     {start: func(t *talk) { flood(t, 1<<40) }, serve: endless("application/json")},
	"garbage-flood":    {start: garbage, serve: status(http.StatusTeapot)},
	"list-hang":        on("tools/list", hang),
	"list-crash":       on("tools/list", crash),
	"list-error":       on("tools/list", func(t *talk, r request) { t.fail(r, -32603, "no list today") }),
	"list-text":        on("tools/list", func(t *talk, r request) { t.result(r, object{"tools": "all"}) }),
	"list-deep": on("tools/list", func(t *talk, r request) {
		t.frame(fmt.Appendf(nil, `{"jsonrpc":"2.0","id":%s,"result":{"tools":[{"name":"deep","inputSchema":%s{}%s}]}}`, r.ID,
			strings.Repeat(`{"items":`, 10_000), strings.Repeat("}", 10_000)))
	}),
	"never-reads": {neverReads: true, stay: true, start: func(t *talk) {
		for n := range 200 { // it asks, and does not read the answers
			t.send(object{"jsonrpc": "2.0", "id": n, "method": "ping" + strings.Repeat("g", 100)})
		}
	}},

	// Those that are odd, but work.
	"banner": {start: func(t *talk) {
		t.raw([]byte("Welcome!\n\n  \x1b[1mServer\x1b[0m 2.0\n{\"not\": \"a message\"}\n[1,2\nnull\n"))
	}},
	"bom":    {start: func(t *talk) { t.raw([]byte("\xef\xbb\xbf")) }},
	"crlf":   {crlf: true},
	"binary": {start: func(t *talk) { t.raw([]byte("\xff\xfe\x00\x01\n")) }},
	"chatty": {start: func(*talk) { go chat() }},
	"no-features": on("initialize", func(t *talk, r request) {
		t.result(r, object{"protocolVersion": "2024-11-05", "capabilities": object{"tools": object{}}, "serverInfo": object{"name": "old", "version": "0"}})
	}),
	"lists-fail": {handle: func(t *talk, r request) bool {
		if !strings.HasPrefix(r.Method, "resources/") && !strings.HasPrefix(r.Method, "prompts/") && r.Method != "logging/setLevel" {
			return false
		}
		t.fail(r, -32601, "no")
		return true
	}},
	"many-tools": on("tools/list", func(t *talk, r request) {
		var tools []object
		for n := range 10_000 {
			tools = append(tools, object{"name": fmt.Sprintf("tool%d", n), "inputSchema": plain})
		}
		t.result(r, object{"tools": append([]object{{"name": "echo", "inputSchema": plain}}, tools...)})
	}),
	"cursor-same": on("tools/list", func(t *talk, r request) { t.result(r, object{"tools": usualTools(), "nextCursor": "again"}) }),
	"cursor-endless": on("tools/list", func(t *talk, r request) {
		t.result(r, object{"tools": []object{{"name": "echo", "inputSchema": plain}}, "nextCursor": strconv.Itoa(t.count("page"))})
	}),
	"pages": {handle: func(t *talk, r request) bool {
		var p struct {
			Cursor string `json:"cursor"`
		}
		_ = json.Unmarshal(r.Params, &p)
		if r.Method != "tools/list" || p.Cursor == "3" {
			if r.Method == "tools/list" {
				t.result(r, object{"tools": []object{{"name": "last", "inputSchema": plain}}})
			}
			return r.Method == "tools/list"
		}
		n, _ := strconv.Atoi(p.Cursor)
		name := []string{"echo", "fail", "third"}[n]
		t.result(r, object{"tools": []object{{"name": name, "inputSchema": plain}}, "nextCursor": strconv.Itoa(n + 1)})
		return true
	}},
	"deep-schemas": listed(object{"name": "echo"}, object{"name": "deep", "inputSchema": deep(3_000)}),
	"asker-only": {handle: func(t *talk, r request) bool {
		if r.Method == "initialize" && bytes.Contains(r.Params, []byte(`"sampling"`)) && bytes.Contains(r.Params, []byte(`"elicitation"`)) {
			t.mu.Lock()
			defer t.mu.Unlock()
			t.tools = append(t.tools, object{"name": "only_for_askers", "inputSchema": plain})
		}
		return false
	}},
	"names": listed(object{"name": "echo"}, object{"name": "echo"}, object{"name": "a\nb"}, object{"name": "\x1b[31mred"}, object{"name": "../../etc"},
		object{"name": "a__b"}, object{"name": "<b>bold</b>"}, object{"name": strings.Repeat("n", 10_000)}, object{"name": ""}, object{"name": 7}, object{"name": "工具"}, object{"name": "a b"}, object{"name": "a_b"}),
	"schemas": listed(object{"name": "echo"}, object{"name": "loop", "inputSchema": object{"$ref": "#"}},
		object{"name": "loops", "inputSchema": object{"$ref": "#/$defs/a", "$defs": object{"a": object{"$ref": "#/$defs/b"}, "b": object{"$ref": "#/$defs/a"}}}},
		object{"name": "text", "inputSchema": "object"}, object{"name": "list", "inputSchema": []int{1}},
		object{"name": "output", "outputSchema": object{"$ref": "#"}}, object{"name": "remote", "inputSchema": object{"$ref": "http://169.254.169.254/latest"}}),
	"long-words": on("tools/list", func(t *talk, r request) {
		t.result(r, object{"tools": []object{{"name": "echo", "title": strings.Repeat("t", 1<<16), "description": strings.Repeat("d", 1<<18), "inputSchema": plain}}})
	}),
	"storm": also("notifications/initialized", func(t *talk, _ request) {
		go func() {
			for range 20_000 {
				t.event("notifications/tools/list_changed", object{})
			}
		}()
	}),
	"renames": {handle: func(t *talk, r request) bool {
		switch {
		case r.Method == "tools/list" && t.count("renamed-list") > 1:
			t.result(r, object{"tools": []object{{"name": "echo", "description": "Now it does something else.", "inputSchema": plain}, {"name": "new", "inputSchema": plain}}})
			return true
		case r.Method == "tools/call" && t.count("renamed-call") == 1:
			t.event("notifications/tools/list_changed", object{})
		}
		return false
	}},
	"asks-loop": {handle: func(t *talk, r request) bool {
		if r.Method == "tools/call" {
			for n := range 500 {
				t.send(object{"jsonrpc": "2.0", "id": "loop" + strconv.Itoa(n), "method": "roots/list"})
			}
		}
		return false
	}},
	"asks-nonsense": also("tools/call", func(t *talk, _ request) {
		t.send(object{"jsonrpc": "2.0", "id": "n1", "method": "files/delete", "params": object{"all": true}})
		t.send(object{"jsonrpc": "2.0", "id": "n2", "method": "sampling/createMessage", "params": "text"})
		t.send(object{"jsonrpc": "2.0", "id": "n3", "method": "elicitation/create", "params": object{"mode": "url", "url": "javascript:alert(1)"}})
		t.send(object{"jsonrpc": "2.0", "method": "notifications/nothing", "params": []int{1}})
	}),
	"log-flood": also("tools/call", func(t *talk, _ request) {
		for n := range 1500 {
			t.notify("notifications/message", object{"level": "info", "data": fmt.Sprintf("line %d %s", n, strings.Repeat("l", 200))})
		}
	}),
	"progress-flood": also("tools/call", func(t *talk, r request) {
		var p struct {
			Meta struct {
				Token json.RawMessage `json:"progressToken"`
			} `json:"_meta"`
		}
		_ = json.Unmarshal(r.Params, &p)
		for n := range 500 {
			t.notify("notifications/progress", object{"progressToken": p.Meta.Token, "progress": n})
			t.notify("notifications/progress", object{"progressToken": "foreign", "progress": n})
		}
	}),

	// Those whose answers to calls are wrong.
	"answer-twice": onEcho(func(t *talk, r request, usual func()) { usual(); t.result(r, text("again")) }),
	"answer-foreign": onEcho(func(t *talk, r request, usual func()) {
		t.result(request{ID: json.RawMessage("99999")}, text("x"))
		usual()
	}),
	"answer-string": onEcho(func(t *talk, r request, usual func()) {
		t.result(request{ID: json.RawMessage(`"` + string(r.ID) + `"`)}, text("x"))
		usual()
	}),
	"answer-null": onEcho(func(t *talk, r request, usual func()) {
		t.result(request{ID: json.RawMessage("null")}, text("x"))
		usual()
	}),
	"answer-object": onEcho(func(t *talk, r request, usual func()) {
		t.frame([]byte(`{"jsonrpc":"2.0","id":{"a":1},"result":{}}`))
		usual()
	}),
	"answer-batch": onEcho(func(t *talk, r request, usual func()) {
		t.send([]object{{"jsonrpc": "2.0", "method": "notifications/message", "params": object{"level": "info", "data": "in a batch"}},
			{"jsonrpc": "2.0", "id": r.ID, "result": text("in a batch")}})
	}),
	"call-garbage": onEcho(func(t *talk, r request, usual func()) {
		t.frame(fmt.Appendf(nil, `{"jsonrpc":"2.0","id":%s,"result":{"content":[}`, r.ID))
	}),
	"call-text":    onEcho(func(t *talk, r request, usual func()) { t.result(r, "done") }),
	"call-content": onEcho(func(t *talk, r request, usual func()) { t.result(r, object{"content": "done"}) }),
	"call-base64": onEcho(func(t *talk, r request, usual func()) {
		t.result(r, object{"content": []object{{"type": "image", "data": "!!!", "mimeType": "image/png"}}})
	}),
	"call-ends-output": onEcho(func(t *talk, r request, usual func()) { endOutput(t, r) }),
	"call-crash":       onEcho(func(t *talk, r request, usual func()) { crash(t, r) }),
	"call-100mb":       large(100 << 20),
	"call-4mb":         large(4 << 20),
	"call-endless":     large(1 << 40),
	"slow-progress": also("tools/call", func(t *talk, r request) {
		var p struct {
			Name string `json:"name"`
			Meta struct {
				Token json.RawMessage `json:"progressToken"`
			} `json:"_meta"`
		}
		_ = json.Unmarshal(r.Params, &p)
		for n := 0; n < 3 && p.Name == "progress"; n++ {
			select {
			case <-time.After(4 * time.Minute):
				t.notify("notifications/progress", object{"progressToken": p.Meta.Token, "progress": n})
			case <-t.cancel:
				return
			}
		}
	}),
	"late": {handle: func(t *talk, r request) bool {
		t.mu.Lock()
		defer t.mu.Unlock()
		switch {
		case r.Method == "tools/call" && bytes.Contains(r.Params, []byte(`"hang"`)):
			t.server.late = append(t.server.late, r)
			return true
		case r.Method == "notifications/cancelled":
			for _, late := range t.server.late {
				t.result(late, text("too late"))
			}
		}
		return false
	}},

	// Those that do not leave.
	"ignores-term": {stay: true, start: func(*talk) { signal.Ignore(syscall.SIGTERM) }},
	"ignores-end":  {stay: true},
	"forks":        {start: func(*talk) { fork() }},

	// Those over HTTP alone.
	"http-401":      {serve: status(http.StatusUnauthorized)},
	"http-403":      {serve: status(http.StatusForbidden)},
	"http-404":      {serve: status(http.StatusNotFound)},
	"http-500":      {serve: status(http.StatusInternalServerError)},
	"http-html":     {serve: page("text/html", "<h1>It works</h1>")},
	"http-empty":    {serve: page("application/json", "")},
	"http-cut":      {serve: page("application/json", `{"jsonrpc":"2.0","id":1,"resu`)},
	"http-sse-cut":  {serve: page("text/event-stream", "data: {\"jsonrpc\":\"2.0\",\"id\":1\n\ndata: {\"jso")},
	"http-metadata": {serve: redirect("http://169.254.169.254/latest/meta-data/")},
	"http-away":     {serve: redirect("http://example.com/mcp")},
	"http-file":     {serve: redirect("file:///etc/passwd")},
	"http-circle":   {serve: redirect("/mcp")},
	"http-endless":  {serve: endless("text/event-stream")},
	"http-forgets": {serve: func(s *server, w http.ResponseWriter, r *http.Request) bool {
		if r.Method == http.MethodPost && r.Header.Get("Mcp-Session-Id") != "" && s.count("request") == 5 {
			w.WriteHeader(http.StatusNotFound)
			return true
		}
		return false
	}},
	"http-frame": on("tools/call", func(t *talk, r request) {
		t.raw([]byte("data: "))
		flood(t, 17<<20)
		t.raw([]byte("\n\n"))
	}),
}

func status(code int) func(*server, http.ResponseWriter, *http.Request) bool {
	return func(_ *server, w http.ResponseWriter, _ *http.Request) bool {
		w.WriteHeader(code)
		return true
	}
}

func page(kind, text string) func(*server, http.ResponseWriter, *http.Request) bool {
	return func(_ *server, w http.ResponseWriter, _ *http.Request) bool {
		w.Header().Set("Content-Type", kind)
		_, _ = w.Write([]byte(text))
		return true
	}
}

func redirect(to string) func(*server, http.ResponseWriter, *http.Request) bool {
	return func(_ *server, w http.ResponseWriter, r *http.Request) bool {
		w.Header().Set("Location", to)
		w.WriteHeader(http.StatusTemporaryRedirect)
		return true
	}
}

// endless writes until the client leaves.
func endless(kind string) func(*server, http.ResponseWriter, *http.Request) bool {
	return func(_ *server, w http.ResponseWriter, r *http.Request) bool {
		w.Header().Set("Content-Type", kind)
		chunk := append([]byte("data: "), bytes.Repeat([]byte("x"), 1<<16)...)
		for r.Context().Err() == nil {
			if _, err := w.Write(chunk); err != nil {
				break
			}
		}
		return true
	}
}

func garbage(t *talk) {
	for {
		select {
		case <-t.cancel:
			return
		default:
			t.raw([]byte(strings.Repeat("no message\n", 1000)))
		}
	}
}

// chat fills standard error.
func chat() {
	chunk := bytes.Repeat([]byte("a line of chatter\n"), 1<<12)
	for range 1 << 30 / len(chunk) {
		if _, err := os.Stderr.Write(chunk); err != nil {
			return
		}
	}
	_, _ = os.Stderr.WriteString("the last line\n")
}

// fork starts a process that outlives its parent and does not heed SIGTERM.
func fork() {
	program, _ := os.Executable()
	// The first of two values would hold, and the child would fork again and end.
	inherited := slices.DeleteFunc(os.Environ(), func(entry string) bool { return strings.HasPrefix(entry, variable+"=") })
	attr := &os.ProcAttr{Env: append(inherited, variable+"=ignores-term"), Files: []*os.File{nil, nil, nil}}
	if child, err := os.StartProcess(program, []string{program}, attr); err == nil {
		_ = child.Release()
	}
}
