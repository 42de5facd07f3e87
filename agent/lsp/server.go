package lsp

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/charmbracelet/x/powernap/pkg/lsp/protocol"
	"github.com/sourcegraph/jsonrpc2"

	"atelier.dev/atelier/agent/internal/stdin"
	"atelier.dev/atelier/agent/sandbox"
	"atelier.dev/atelier/internal/text"
)

const (
	maxStderr  = 16 << 10
	maxOpen    = 50   // documents that a server has open
	maxFaults  = 1000 // files with diagnostics
	maxPerFile = 100  // diagnostics of a file
)

// times limit how long a server may take.
type times struct {
	start   time.Duration // until it has to be ready
	request time.Duration // for one request
	leave   time.Duration // to end by itself
	memory  time.Duration // between two looks at what it takes
}

var usual = times{30 * time.Second, 10 * time.Second, 2 * time.Second, 5 * time.Second}

// server is one language server that runs.
type server struct {
	key     key
	command Command
	times   times
	process *sandbox.Process
	conn    *jsonrpc2.Conn
	end     context.CancelFunc // ends the process
	out     *io.PipeWriter
	can     protocol.ServerCapabilities
	over    chan struct{} // closed when it is known why the server has ended

	mu  sync.Mutex
	err error // why it is no use any more
	knowledge
}

// knowledge is what a server was told and has told.
type knowledge struct {
	documents map[string]*document
	order     []string // open documents, the least recently used first
	published map[string]publication
	news      chan struct{}        // closed when something was published
	seen      map[string]time.Time // when files were changed, as far as the server was told
}

// document is an open file.
type document struct {
	version int32
	text    string
}

// publication is what a server said of a file last.
type publication struct {
	version int32
	count   int // of publications so far
	faults  []protocol.Diagnostic
}

// transport is what jsonrpc2 reads and writes.
type transport struct {
	io.Reader
	io.Writer
	close func() error
}

func (t transport) Close() error { return t.close() }

// launch starts a server and shakes hands with it.
func launch(ctx context.Context, k key, command Command, spec sandbox.Spec, memory int64, limits times) (*server, error) {
	life, end := context.WithCancel(context.Background())
	s := &server{
		key: k, command: command, times: limits, end: end, over: make(chan struct{}),
		knowledge: knowledge{documents: map[string]*document{}, published: map[string]publication{}, news: make(chan struct{}), seen: map[string]time.Time{}},
	}
	read, write := io.Pipe()
	s.out = write
	// A program whose input is closed has ended as a rule, and watch notes why.
	input := stdin.New(func() { s.fail(stdin.ErrFull) }, func(error) { _ = write.Close() })
	spec.Input, spec.Whole, spec.Limit = true, true, maxStderr
	spec.Raw = func(p []byte) { _, _ = write.Write(p) }
	spec.RawEnd = func() { _ = write.Close() }
	process, err := sandbox.Start(life, spec)
	if err != nil {
		end()
		return nil, fmt.Errorf("start %s: %w", command.Program, err)
	}
	s.process = process
	input.Open(process.Input())
	stream := jsonrpc2.NewBufferedStream(transport{read, input, func() error { _ = read.Close(); return input.Close() }}, codec{})
	s.conn = jsonrpc2.NewConn(life, stream, jsonrpc2.HandlerWithError(s.handle).SuppressErrClosed(), jsonrpc2.SetLogger(silent{}))
	go s.watch(memory) // ends with the process
	ctx, cancel := context.WithTimeout(ctx, limits.start)
	defer cancel()
	if err := s.greet(ctx); err != nil {
		err = s.reason(err)
		s.stop()
		return nil, err
	}
	return s, nil
}

type silent struct{}

func (silent) Printf(string, ...any) {}

// watch ends a server that takes too much memory, and notes its end.
func (s *server) watch(memory int64) {
	tick := time.NewTicker(s.times.memory)
	defer tick.Stop()
	defer close(s.over)
	for {
		select {
		case <-s.process.Done():
		case <-s.conn.DisconnectNotify():
			patience := time.NewTimer(s.times.leave)
			select {
			case <-s.process.Done():
			case <-patience.C:
				s.fail(errors.New("it broke the protocol, or closed its output"))
				s.end()
				<-s.process.Done()
			}
			patience.Stop()
		case <-tick.C:
			if used := s.process.Memory(); memory > 0 && used > memory {
				s.fail(fmt.Errorf("it took %d MB of memory, more than the %d MB that it may", used>>20, memory>>20))
				s.end()
			}
			continue
		}
		result, _ := s.process.Wait(context.Background())
		s.fail(fmt.Errorf("it ended with code %d: %s", result.ExitCode, lastLine(s.process.Errors())))
		_ = s.conn.Close()
		return
	}
}

func lastLine(output string) string {
	lines := strings.Split(strings.TrimSpace(output), "\n")
	return text.Shorten(lines[len(lines)-1], 200)
}

// fail notes why the server is no use any more; the first reason counts.
func (s *server) fail(err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.err == nil {
		s.err = err
	}
}

func (s *server) failure() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.err
}

// reason returns why the server ended if it has, in place of the error of a request.
func (s *server) reason(err error) error {
	select {
	case <-s.conn.DisconnectNotify():
		<-s.over // watch is about to know
	default:
		if errors.Is(err, jsonrpc2.ErrClosed) {
			<-s.over
		}
	}
	if why := s.failure(); why != nil && err != nil {
		return fmt.Errorf("%s: %w", s.command.Program, why)
	}
	if errors.Is(err, context.DeadlineExceeded) {
		return fmt.Errorf("%s did not answer in time: %w", s.command.Program, err)
	}
	return err
}

// stop ends the server with everything that it started, and returns when it is gone.
func (s *server) stop() {
	ctx, cancel := context.WithTimeout(context.Background(), s.times.leave)
	defer cancel()
	s.fail(errors.New("it was stopped"))
	if s.conn.Call(ctx, "shutdown", nil, nil) == nil {
		_ = s.conn.Notify(ctx, "exit", nil)
	}
	select {
	case <-s.process.Done():
	case <-ctx.Done():
	}
	_ = s.out.Close()
	_ = s.conn.Close()
	s.end()
	<-s.process.Done()
}

// greet is the handshake.
func (s *server) greet(ctx context.Context) error {
	uri := protocol.URIFromPath(s.key.root)
	params := map[string]any{
		"processId": nil, "clientInfo": map[string]any{"name": "atelier"}, "rootUri": uri, "rootPath": s.key.root,
		"workspaceFolders": []any{map[string]any{"uri": uri, "name": filepath.Base(s.key.root)}},
		"capabilities": map[string]any{
			"general":   map[string]any{"positionEncodings": []string{"utf-16"}},
			"workspace": map[string]any{"configuration": true, "workspaceEdit": map[string]any{"documentChanges": true}, "workspaceFolders": true, "didChangeWatchedFiles": map[string]any{"dynamicRegistration": true}},
			"textDocument": map[string]any{
				"synchronization":    map[string]any{"didSave": true},
				"definition":         map[string]any{"linkSupport": true},
				"implementation":     map[string]any{"linkSupport": true},
				"hover":              map[string]any{"contentFormat": []string{"plaintext", "markdown"}},
				"documentSymbol":     map[string]any{"hierarchicalDocumentSymbolSupport": true},
				"publishDiagnostics": map[string]any{"versionSupport": true},
				"callHierarchy":      map[string]any{},
				"references":         map[string]any{},
				"rename":             map[string]any{},
			},
			"window": map[string]any{"workDoneProgress": true},
		},
	}
	if s.command.Options != nil {
		params["initializationOptions"] = s.command.Options
	}
	var result protocol.InitializeResult
	if err := s.conn.Call(ctx, "initialize", params, &result); err != nil {
		return fmt.Errorf("initialize %s: %w", s.command.Program, err)
	}
	s.can = result.Capabilities
	if err := s.conn.Notify(ctx, "initialized", struct{}{}); err != nil || s.command.Settings == nil {
		return err
	}
	return s.conn.Notify(ctx, "workspace/didChangeConfiguration", map[string]any{"settings": s.command.Settings})
}

// handle answers what the server asks. Without these answers many servers wait for ever.
func (s *server) handle(_ context.Context, _ *jsonrpc2.Conn, r *jsonrpc2.Request) (any, error) {
	switch r.Method {
	case "textDocument/publishDiagnostics":
		var p protocol.PublishDiagnosticsParams
		if r.Params != nil && json.Unmarshal(*r.Params, &p) == nil {
			s.publish(p)
		}
		return nil, nil
	case "workspace/configuration":
		var asked struct {
			Items []json.RawMessage `json:"items"`
		}
		if r.Params != nil {
			_ = json.Unmarshal(*r.Params, &asked)
		}
		return make([]any, min(len(asked.Items), maxFaults)), nil
	case "client/registerCapability", "client/unregisterCapability", "window/workDoneProgress/create", "window/showMessageRequest":
		return nil, nil
	case "workspace/workspaceFolders":
		return []any{map[string]any{"uri": protocol.URIFromPath(s.key.root), "name": filepath.Base(s.key.root)}}, nil
	case "workspace/applyEdit": // only the tools change files
		return map[string]any{"applied": false}, nil
	}
	if r.Notif {
		return nil, nil
	}
	return nil, &jsonrpc2.Error{Code: jsonrpc2.CodeMethodNotFound, Message: "this client has no " + text.Shorten(r.Method, 80)}
}

// publish keeps what the server says of a file.
func (s *server) publish(p protocol.PublishDiagnosticsParams) {
	path, err := p.URI.Path()
	if err != nil {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if _, known := s.published[path]; !known && len(s.published) >= maxFaults {
		return
	}
	s.published[path] = publication{p.Version, s.published[path].count + 1, p.Diagnostics[:min(len(p.Diagnostics), maxPerFile)]}
	close(s.news)
	s.news = make(chan struct{})
}

// call makes one request, within the time for one.
func (s *server) call(ctx context.Context, method string, params, result any) error {
	ctx, cancel := context.WithTimeout(ctx, s.times.request)
	defer cancel()
	if err := s.conn.Call(ctx, method, params, result); err != nil {
		return s.reason(err)
	}
	return nil
}

// open has the server know a file as it is now, and returns the version of it that the
// server then has.
func (s *server) open(ctx context.Context, path, language, text string) (int32, error) {
	s.mu.Lock()
	defer s.mu.Unlock() // notifications do not wait for the server
	uri := protocol.URIFromPath(path)
	d := s.documents[path]
	s.order = append(without(s.order, path), path)
	if d != nil && d.text == text {
		return d.version, nil
	}
	if d != nil {
		d.version, d.text = d.version+1, text
		return d.version, s.conn.Notify(ctx, "textDocument/didChange", map[string]any{
			"textDocument": map[string]any{"uri": uri, "version": d.version}, "contentChanges": []any{map[string]any{"text": text}},
		})
	}
	if len(s.order) > maxOpen {
		oldest := s.order[0]
		s.order = s.order[1:]
		delete(s.documents, oldest)
		_ = s.conn.Notify(ctx, "textDocument/didClose", map[string]any{"textDocument": map[string]any{"uri": protocol.URIFromPath(oldest)}})
	}
	s.documents[path] = &document{1, text}
	return 1, s.conn.Notify(ctx, "textDocument/didOpen", map[string]any{
		"textDocument": map[string]any{"uri": uri, "languageId": language, "version": 1, "text": text},
	})
}

func without(list []string, one string) (out []string) {
	for _, each := range list {
		if each != one {
			out = append(out, each)
		}
	}
	return out
}

// The kinds of changes of files.
const (
	fileCreated = 1 + iota
	fileChanged
	fileDeleted
)

// refresh tells the server which files were changed by others since the last time.
func (s *server) refresh(ctx context.Context, now map[string]time.Time, whole bool) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	var changes []any
	add := func(path string, kind int) {
		changes = append(changes, map[string]any{"uri": protocol.URIFromPath(path), "type": kind})
	}
	first := len(s.seen) == 0
	for path, at := range now {
		before, known := s.seen[path]
		switch {
		case first:
		case !known:
			add(path, fileCreated)
		case !at.Equal(before):
			add(path, fileChanged)
		}
	}
	for path := range s.seen {
		if _, there := now[path]; !there && whole {
			add(path, fileDeleted)
		}
	}
	s.seen = now
	if len(changes) == 0 {
		return nil
	}
	return s.conn.Notify(ctx, "workspace/didChangeWatchedFiles", map[string]any{"changes": changes})
}
