package wire

import (
	"bytes"
	"context"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"atelier.dev/atelier/agent/llm"
)

// recorded keeps what was written to a connection, without copying it.
type recorded struct {
	net.Conn
	wrote [][]byte
}

func (r *recorded) Write(b []byte) (int, error) {
	r.wrote = append(r.wrote, b)
	return r.Conn.Write(b)
}

// A long conversation is sent as it is, and arrives whole. A second request over
// the same connection does, too.
func TestLongBodyIsNotCopied(t *testing.T) {
	t.Parallel()
	var came [][]byte
	server := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil || int64(len(body)) != r.ContentLength {
			t.Errorf("read %d of %d bytes: %v", len(body), r.ContentLength, err)
		}
		came = append(came, body)
	}))
	defer server.Close()
	dialled, err := sharedClient().Transport.(*http.Transport).DialContext(t.Context(), "tcp", server.Listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	record := &recorded{Conn: dialled.(conn).Conn}
	transport := &http.Transport{DialContext: func(context.Context, string, string) (net.Conn, error) { return conn{record}, nil }}
	defer transport.CloseIdleConnections()
	ep := NewEndpoint(Config{AdapterConfig: llm.AdapterConfig{BaseURL: server.URL, HTTPClient: &http.Client{Transport: transport}}})

	want := []byte(`{"messages":[`)
	value := [][]byte{[]byte("[")}
	for i := range 40 {
		piece := []byte(`"` + strings.Repeat(string(rune('a'+i%26)), 16<<10) + `",`)
		value, want = append(value, piece), append(want, piece...)
	}
	value, want = append(value, []byte("1]")), append(want, "1]}"...)
	for range 2 {
		record.wrote = nil
		call, ctx, invalid := ep.Begin(t.Context(), llm.Request{})
		if invalid != nil {
			t.Fatal(invalid)
		}
		call.Add("messages", value...)
		resp, err := call.Post(ctx, "", nil)
		if err != nil {
			t.Fatal(err)
		}
		resp.Body.Close()
		call.End()
		if last := came[len(came)-1]; !bytes.Equal(last, want) {
			t.Errorf("%d bytes came, want %d", len(last), len(want))
		}
		// The first piece goes with the header.
		for _, piece := range value[2:] {
			if !slices.ContainsFunc(record.wrote, func(b []byte) bool { return &b[0] == &piece[0] }) {
				t.Fatalf("a piece was copied; %d writes", len(record.wrote))
			}
		}
	}
	if len(came) != 2 {
		t.Errorf("%d requests", len(came))
	}
}
