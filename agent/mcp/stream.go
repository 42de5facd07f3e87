package mcp

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"
)

// mostBody is the largest message that is accepted over HTTP.
const mostBody = 16 << 20

// bigResult is the size from which a result is handed over beside mcp-go, which
// would copy it several times.
const bigResult = 64 << 10

var errTooLarge = errors.New("the server sent more than is accepted")

// shelf keeps large results for the requests that wait for them.
type shelf struct {
	mu      sync.Mutex
	results map[int64]json.RawMessage // nil until it came
}

func newShelf() *shelf { return &shelf{results: map[int64]json.RawMessage{}} }

func (s *shelf) expect(id int64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.results[id] = nil
}

func (s *shelf) take(id int64) json.RawMessage {
	s.mu.Lock()
	defer s.mu.Unlock()
	result := s.results[id]
	delete(s.results, id)
	return result
}

// put keeps a result that is expected, and reports whether it did.
func (s *shelf) put(id int64, result json.RawMessage) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if _, ok := s.results[id]; ok {
		s.results[id] = result
		return true
	}
	return false
}

// sift takes out of what a server sent over HTTP what is for the peer, and what
// is too big for mcp-go. It returns what is left for mcp-go.
type sift struct {
	peer peer
	link *httpLink
	// only is the id of the request that is answered; 0 if it is not known.
	only int64
}

// message handles one message and returns what mcp-go gets of it: nothing, the
// text itself, or a small answer instead.
func (s sift) message(text []byte) []byte {
	messages, err := parseMessages(text)
	if err != nil {
		s.peer.strange(HappenedNoMessage, beginning(text, shownOf))
		return nil
	}
	var rest []byte
	for _, m := range messages {
		switch {
		case m.isRequest():
			id := bytes.Clone(m.ID)
			s.peer.asked(m.Method, m.Params, func(r reply) {
				r.ID, r.RPC = id, "2.0"
				s.link.answer(r)
			})
		case !m.isResponse():
			s.peer.notified(m.Method, m.Params)
		case s.isForeign(m):
			s.peer.strange(HappenedForeign, beginning(m.ID, shownOf))
		case rest != nil: // one request has one answer
		default:
			rest = text
			id, ok := m.number()
			if ok && len(m.Result) > bigResult && s.link.shelf.put(id, m.Result) {
				rest = fmt.Appendf(nil, `{"jsonrpc":"2.0","id":%d,"result":{}}`, id)
			} else if len(messages) > 1 {
				rest, _ = json.Marshal(map[string]any{"jsonrpc": "2.0", "id": m.ID, "result": m.Result, "error": m.Error})
			}
		}
	}
	return rest
}

// isForeign reports whether an answer is that to another request. An error without an id
// is about a request that the server could not read.
func (s sift) isForeign(m message) bool {
	if s.only == 0 || m.Error != nil && (m.ID == nil || string(m.ID) == "null") {
		return false
	}
	id, ok := m.number()
	return !ok || id != s.only
}

// siftedBody is a response's body without what the sift took out. Its Read is
// called by one goroutine.
type siftedBody struct {
	io.Closer
	in     *bufio.Reader
	sift   sift
	events bool
	out    []byte
	err    error
}

func newSiftedBody(body io.ReadCloser, s sift, events bool) *siftedBody {
	return &siftedBody{Closer: body, in: bufio.NewReaderSize(body, 4<<10), sift: s, events: events}
}

func (b *siftedBody) Read(p []byte) (int, error) {
	for len(b.out) == 0 && b.err == nil {
		if b.events {
			b.event()
		} else {
			b.whole()
		}
	}
	if len(b.out) == 0 {
		if errors.Is(b.err, errTooLarge) {
			b.sift.link.excess.Store(true)
		}
		return 0, b.err
	}
	n := copy(p, b.out)
	b.out = b.out[n:]
	return n, nil
}

func (b *siftedBody) whole() {
	text, err := readAll(b.in, mostBody)
	if err != nil {
		b.err = err
		return
	}
	b.out, b.err = b.sift.message(text), io.EOF
}

// event reads one event.
func (b *siftedBody) event() {
	var data []byte
	var other strings.Builder // id, retry and event, for mcp-go
	kind, any := "", false
	for size := 0; ; {
		line, err := b.line(mostBody - size)
		if err != nil && (err != io.EOF || !any && len(line) == 0) {
			b.err = err
			return
		}
		if size += len(line); len(line) == 0 || err == io.EOF && size == 0 {
			b.err = err
			break
		}
		any = true
		field, value, _ := bytes.Cut(line, []byte(":"))
		value = bytes.TrimPrefix(value, []byte(" "))
		switch string(field) {
		case "data":
			if data == nil {
				data = value
			} else {
				data = append(append(data, '\n'), value...)
			}
		case "event":
			kind = string(value)
			fallthrough
		case "id", "retry":
			other.Write(line)
			other.WriteByte('\n')
		}
		if err != nil {
			b.err = err
			break
		}
	}
	if len(data) > 0 && (kind == "" || kind == "message") {
		data = b.sift.message(data)
	}
	if len(data) > 0 {
		for line := range bytes.Lines(data) {
			other.WriteString("data: ")
			other.Write(bytes.TrimSuffix(line, []byte("\n")))
			other.WriteByte('\n')
		}
	}
	if other.Len() > 0 {
		b.out = []byte(other.String() + "\n")
	}
}

// line reads one line without its end. The caller owns it.
func (b *siftedBody) line(most int) ([]byte, error) {
	var line chunks
	for {
		part, err := b.in.ReadSlice('\n')
		if line.size+len(part) > most {
			return nil, errTooLarge
		}
		line.add(part)
		if !errors.Is(err, bufio.ErrBufferFull) {
			return bytes.TrimRight(line.join(), "\r\n"), err
		}
	}
}
