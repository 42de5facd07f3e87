package mcp_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"sync"
	"testing"

	"atelier.dev/atelier/agent/mcp"
	"github.com/google/go-cmp/cmp"
)

// beginning is a server that only shakes hands, in its own way, and remembers what it
// was asked first.
type beginning struct {
	mu     sync.Mutex
	asked  []string
	answer func(method string, count int) (status int, text string) // %s in the text is the id
}

func (b *beginning) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	var call struct {
		ID     json.RawMessage `json:"id"`
		Method string          `json:"method"`
	}
	if json.Unmarshal(body, &call) != nil || call.ID == nil {
		w.WriteHeader(http.StatusAccepted)
		return
	}
	b.mu.Lock()
	if len(b.asked) < 2 {
		b.asked = append(b.asked, call.Method)
	}
	status, text := b.answer(call.Method, len(b.asked))
	b.mu.Unlock()
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_, _ = fmt.Fprintf(w, `{"jsonrpc":"2.0","id":%s,%s}`, call.ID, text)
}

// refusing fails every request that the user has to authorise.
type refusing struct{ methods []string }

func (r refusing) RoundTrip(request *http.Request) (*http.Response, error) {
	if request.GetBody == nil {
		return http.DefaultTransport.RoundTrip(request)
	}
	body, err := request.GetBody()
	if err != nil {
		return nil, err
	}
	var call struct {
		Method string `json:"method"`
	}
	if err := json.NewDecoder(body).Decode(&call); err == nil && slices.Contains(r.methods, call.Method) {
		return nil, fmt.Errorf("no token: %w", mcp.ErrNeedsAuth)
	}
	return http.DefaultTransport.RoundTrip(request)
}

const (
	handshake = `"result":{"protocolVersion":"2025-11-25","capabilities":{},"serverInfo":{"name":"old","version":"1"}}`
	unknown   = `"error":{"code":-32601,"message":"no such method"}`
	discover  = "server/discover"
)

// The answer to the first request decides which protocol is spoken, and nothing
// else.
func TestTheFirstRequest(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		answer   func(method string, count int) (int, string)
		refuse   []string
		state    mcp.State
		protocol string
		asked    []string
	}{
		"an old server": {
			answer: func(method string, _ int) (int, string) {
				if method == "initialize" {
					return 200, handshake
				}
				return 200, unknown
			},
			state: mcp.StateConnected, protocol: "2025-11-25", asked: []string{discover, "initialize"},
		},
		"an old server that answers everything": {
			answer: func(method string, _ int) (int, string) {
				if method == "initialize" {
					return 200, handshake
				}
				return 200, `"result":{}`
			},
			state: mcp.StateConnected, protocol: "2025-11-25", asked: []string{discover, "initialize"},
		},
		"a new server that refuses its own version once": {
			answer: func(method string, count int) (int, string) {
				switch {
				case count < 2:
					return 400, `"error":{"code":-32022,"message":"no","data":{"supported":["2026-07-28"],"requested":"2026-07-28"}}`
				case method == discover:
					return 200, `"result":{"resultType":"complete","supportedVersions":["2026-07-28"],"capabilities":{}}`
				}
				return 404, unknown
			},
			state: mcp.StateConnected, protocol: "2026-07-28", asked: []string{discover, discover},
		},
		"a server that wants authorisation for everything but the handshake": {
			answer: func(method string, _ int) (int, string) {
				if method == "initialize" {
					return 200, handshake
				}
				return 200, unknown
			},
			refuse: []string{discover}, state: mcp.StateNeedsAuth,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := &beginning{answer: test.answer}
			s := httptest.NewServer(b)
			defer s.Close()
			h := manager(t, mcp.Config{Version: "1", RoundTripper: func(mcp.Server) http.RoundTripper { return refusing{test.refuse} }},
				mcp.Server{Name: "server", Transport: mcp.TransportHTTP, Remote: mcp.Remote{URL: s.URL}})
			status := h.until(t, "server", string(test.state), func(s mcp.Status) bool {
				return s.State != mcp.StateConnecting
			})
			if status.State != test.state || status.Peer.Protocol != test.protocol {
				t.Errorf("status: %+v", status)
			}
			if test.asked == nil {
				return
			}
			b.mu.Lock()
			defer b.mu.Unlock()
			if diff := cmp.Diff(test.asked, b.asked); diff != "" {
				t.Errorf("requests (-want +got):\n%s", diff)
			}
		})
	}
}
