package llmtest

import (
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"path"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"
)

// ModelID is the model that a [Server] lists.
const ModelID = "test-model"

// Server plays the script over HTTP on loopback in every provider's format:
// POST responses, chat/completions, messages and streamGenerateContent, and
// GET models.
type Server struct {
	// URL is the base URL, ending in /v1, for adapters whose API has the
	// version in its address.
	URL string
	// Root is the base URL for the other APIs: Anthropic's and Gemini's.
	Root string
	// SkipBodies lets the server neither keep nor decode what it is sent: a
	// measured program shares the machine with it. Only the script of all models
	// is played then, and no rules are checked. It is set before the first
	// request.
	SkipBodies bool

	http     *httptest.Server
	closed   chan struct{}
	mu       sync.Mutex
	rules    *Rules             // nil if every conversation is accepted
	scripts  map[string][]Round // of models; the empty name has that of all others
	grown    chan struct{}      // closed when a script grew
	requests []Request
	answers  int        // that are being given
	changed  *sync.Cond // on mu; signals requests and ends of answers
}

// Request is a request that the server received.
type Request struct {
	Path   string
	Header http.Header
	Body   []byte
	// Came and Answered are when the request began to arrive and when the last
	// byte of the answer was sent. Answered is zero for a request of another
	// kind.
	Came, Answered time.Time
}

// Serve starts a server that lives as long as the test. Each request for an
// answer takes the next round; without one it is refused.
func Serve(tb testing.TB, rounds ...Round) *Server {
	tb.Helper()
	s := NewServer(rounds...)
	tb.Cleanup(s.Close)
	return s
}

// NewServer starts a server, which the caller must Close.
func NewServer(rounds ...Round) *Server {
	s := &Server{scripts: map[string][]Round{"": rounds}, closed: make(chan struct{}), grown: make(chan struct{})}
	s.changed = sync.NewCond(&s.mu)
	mux := http.NewServeMux()
	mux.HandleFunc("POST /v1/responses", s.answer(responsesFrames))
	mux.HandleFunc("POST /v1/chat/completions", s.answer(chatFrames))
	mux.HandleFunc("POST /v1/messages", s.answer(messagesFrames))
	generate := s.answer(generateFrames)
	mux.HandleFunc("POST /v1beta/models/{call}", func(w http.ResponseWriter, r *http.Request) {
		if !strings.HasSuffix(r.PathValue("call"), ":streamGenerateContent") {
			http.NotFound(w, r)
			return
		}
		generate(w, r)
	})
	mux.HandleFunc("GET /v1/models", s.list(object{"object": "list", "data": []any{object{"id": ModelID, "object": "model"}}}))
	mux.HandleFunc("GET /v1beta/models", s.list(object{"models": []any{object{"name": "models/" + ModelID}}}))
	s.http = httptest.NewServer(mux)
	s.Root = s.http.URL
	s.URL = s.Root + "/v1"
	return s
}

// list answers with the only model.
func (s *Server) list(models object) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		s.record(r, nil, time.Now())
		writeJSON(w, http.StatusOK, models)
	}
}

// Close stops the server. Hanging answers are cut.
func (s *Server) Close() {
	close(s.closed)
	s.http.CloseClientConnections()
	s.http.Close()
}

// patience is how long a test waits for the server before it fails.
const patience = 90 * time.Second

// AwaitRequests returns when the server has received n requests.
func (s *Server) AwaitRequests(tb testing.TB, n int) {
	tb.Helper()
	s.await(tb, "requests", func() bool { return len(s.requests) >= n })
}

// AwaitIdle returns when no answer is being sent. A test whose client abandoned
// a request calls it before it adds rounds, because the server notices later
// than the client and would take one of them.
func (s *Server) AwaitIdle(tb testing.TB) {
	tb.Helper()
	s.await(tb, "the end of all answers", func() bool { return s.answers == 0 })
}

func (s *Server) await(tb testing.TB, what string, holds func() bool) {
	tb.Helper()
	late := false
	timer := time.AfterFunc(patience, func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		late = true
		s.changed.Broadcast()
	})
	defer timer.Stop()
	s.mu.Lock()
	defer s.mu.Unlock()
	for !holds() {
		if late {
			tb.Fatalf("waited %s for %s", patience, what)
		}
		s.changed.Wait()
	}
}

// underWay counts the answers that are being sent.
func (s *Server) underWay(more int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.answers += more
	s.changed.Broadcast()
}

// AllRequests returns the requests so far, the oldest first.
func (s *Server) AllRequests() []Request {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]Request(nil), s.requests...)
}

// Requests returns those for an answer. The others ask for a list of models, which
// may happen at any time.
func (s *Server) Requests() []Request {
	return slices.DeleteFunc(s.AllRequests(), func(r Request) bool { return strings.HasSuffix(r.Path, "/models") })
}

// Add appends rounds to the script.
func (s *Server) Add(rounds ...Round) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.scripts[""] = append(s.scripts[""], rounds...)
}

// Script adds rounds to a model's own script, for parallel conversations. The
// request names the model. A request without a remaining round waits for one.
func (s *Server) Script(model string, rounds ...Round) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.scripts[model] = append(s.scripts[model], rounds...)
	close(s.grown)
	s.grown = make(chan struct{})
}

// record records a request and returns its number, from 0.
func (s *Server) record(r *http.Request, body []byte, came time.Time) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.changed.Broadcast()
	s.requests = append(s.requests, Request{Path: r.URL.Path, Header: r.Header.Clone(), Body: body, Came: came})
	return len(s.requests) - 1
}

func (s *Server) answered(request int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.requests[request].Answered = time.Now()
}

// answering notes the time of each piece of an answer. It does so before it
// sends the piece, because the next request may arrive while the last piece is
// still being sent.
type answering struct {
	http.ResponseWriter
	wrote func()
}

func (a *answering) Write(b []byte) (int, error) {
	a.wrote()
	return a.ResponseWriter.Write(b)
}

// Unwrap lets the stream be flushed.
func (a *answering) Unwrap() http.ResponseWriter { return a.ResponseWriter }

// next takes a round off the script and numbers it by the rounds taken.
func (s *Server) next(req *http.Request, body []byte) (Round, int, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	var named struct{ Model string }
	if body == nil || json.Unmarshal(body, &named) != nil || named.Model == "" {
		named.Model, _, _ = strings.Cut(path.Base(req.URL.Path), ":")
	}
	if _, ok := s.scripts[named.Model]; ok {
		return s.nextOf(req, named.Model)
	}
	rounds := s.scripts[""]
	if len(rounds) == 0 {
		return Round{}, 0, false
	}
	r := rounds[0]
	s.scripts[""] = rounds[1:]
	return r, len(s.requests), true
}

// nextOf waits for a round of a model's own script. The lock is held when it
// is called and when it returns.
func (s *Server) nextOf(req *http.Request, model string) (Round, int, bool) {
	for len(s.scripts[model]) == 0 {
		grown := s.grown
		s.mu.Unlock()
		select {
		case <-grown:
		case <-req.Context().Done():
		case <-s.closed:
		}
		s.mu.Lock()
		if grown == s.grown || req.Context().Err() != nil {
			return Round{}, 0, false
		}
	}
	r := s.scripts[model][0]
	s.scripts[model] = s.scripts[model][1:]
	return r, len(s.requests), true
}

// frames encodes a round as events: its content, and its end.
type frames func(r Round, n int) (content, end []string)

func (s *Server) answer(encode frames) http.HandlerFunc {
	return func(w http.ResponseWriter, req *http.Request) {
		s.underWay(1)
		defer s.underWay(-1)
		came := time.Now()
		body, err := s.read(req.Body)
		if err != nil {
			return
		}
		at := s.record(req, body, came)
		if why, status := s.refusal(req.URL.Path, body); why != "" {
			refuse(w, Round{Status: status, Body: why})
			return
		}
		w = &answering{ResponseWriter: w, wrote: func() { s.answered(at) }}
		r, n, ok := s.next(req, body)
		switch {
		case !ok:
			writeJSON(w, http.StatusBadRequest, apiError("script_over", "the script is over"))
		case r.Status >= 400:
			refuse(w, r)
		case r.Body != "":
			s.stream(w, req, r, []string{r.Body}, nil)
		default:
			content, end := encode(r, n)
			s.stream(w, req, r, content, end)
		}
	}
}

// read reads a request's body, and returns nothing of it if bodies are skipped.
func (s *Server) read(body io.Reader) ([]byte, error) {
	if s.SkipBodies {
		_, err := io.Copy(io.Discard, body)
		return nil, err
	}
	return io.ReadAll(body)
}

func refuse(w http.ResponseWriter, r Round) {
	if r.RetryAfter > 0 {
		w.Header().Set("Retry-After", strconv.Itoa(int(r.RetryAfter/time.Second)))
	}
	w.Header().Set("X-Request-Id", "req_test")
	w.WriteHeader(r.Status)
	_, _ = io.WriteString(w, r.Body) // the client may be gone
}

// stream sends frames until the cut, the client's leaving or the end.
func (s *Server) stream(w http.ResponseWriter, req *http.Request, r Round, content, end []string) {
	w.Header().Set("Content-Type", "text/event-stream")
	w.Header().Set("X-Request-Id", "req_test")
	for name, value := range r.Header {
		w.Header().Set(name, value)
	}
	left := r.Cut
	send := func(frames []string) bool {
		for _, f := range frames {
			if r.Cut != 0 {
				f = f[:min(len(f), max(0, left))]
				left -= len(f)
			}
			if _, err := io.WriteString(w, f); err != nil || !pause(req.Context(), r.Pace) {
				return false
			}
			_ = http.NewResponseController(w).Flush() // the client may be gone
		}
		return r.Cut == 0 || left > 0
	}
	if !send(content) {
		return
	}
	if r.Hang {
		select {
		case <-req.Context().Done():
		case <-s.closed:
		}
		return
	}
	send(end)
}

func writeJSON(w http.ResponseWriter, status int, v any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(v) // the client may be gone
}

func apiError(code, message string) map[string]any {
	return map[string]any{"error": map[string]any{"message": message, "type": code, "code": code}}
}

// object is a JSON object of the wire formats.
type object map[string]any

// frame is one event of a stream; the Chat format names none.
func frame(event string, v any) string {
	var b strings.Builder
	if event != "" {
		b.WriteString("event: " + event + "\n")
	}
	b.WriteString("data: ")
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		panic("llmtest: " + err.Error()) // maps of strings and numbers encode
	}
	b.WriteString("\n")
	return b.String()
}
