package mcp_test

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"runtime"
	"testing"
	"time"

	"atelier.dev/atelier/agent/mcp"
	"atelier.dev/atelier/agent/mcp/mcptest"
	"github.com/google/go-cmp/cmp"
)

func TestMain(m *testing.M) {
	mcptest.Main()
	m.Run()
}

// manager returns a manager with servers, and a way to wait for a state.
func manager(t *testing.T, cfg mcp.Config, servers ...mcp.Server) *hosted {
	t.Helper()
	h := &hosted{news: make(chan struct{}, 1)}
	cfg.Changed = func() {
		select {
		case h.news <- struct{}{}:
		default:
		}
	}
	if cfg.Dir == "" {
		cfg.Dir = t.TempDir()
	}
	h.Manager = mcp.New(cfg)
	t.Cleanup(func() { _ = h.Close(context.Background()) })
	h.SetServers(servers)
	return h
}

type hosted struct {
	*mcp.Manager
	news chan struct{}
}

// until waits until a server's status is as wanted.
func (h *hosted) until(t *testing.T, server string, what string, holds func(mcp.Status) bool) mcp.Status {
	t.Helper()
	timer := time.NewTimer(time.Minute)
	defer timer.Stop()
	for {
		for _, s := range h.Status() {
			if s.Name == server && holds(s) {
				return s
			}
		}
		select {
		case <-h.news:
		case <-timer.C:
			t.Fatalf("%s is not %s: %+v", server, what, h.Status())
		}
	}
}

func (h *hosted) connected(t *testing.T, server string) mcp.Status {
	t.Helper()
	return h.until(t, server, "connected", func(s mcp.Status) bool { return s.State == mcp.StateConnected && !s.Health.Pinged.IsZero() })
}

func (h *hosted) call(t *testing.T, server, tool, input string) mcp.CallResult {
	t.Helper()
	result, err := h.Call(t.Context(), mcp.CallRequest{Server: server, Tool: tool, Input: json.RawMessage(input), Session: "s", CallID: "c"})
	if err != nil {
		t.Fatalf("call %s: %v", tool, err)
	}
	return result
}

// eachTransport runs a test with a server that is a program and one that is
// reached over HTTP.
func eachTransport(t *testing.T, behaviour string, test func(t *testing.T, s mcp.Server)) {
	t.Run("stdio", func(t *testing.T) { t.Parallel(); test(t, mcptest.Stdio(t, behaviour)) })
	t.Run("http", func(t *testing.T) { t.Parallel(); test(t, mcptest.HTTP(t, behaviour)) })
}

func TestServerIsConnectedAndCalled(t *testing.T) { // OAS-401
	t.Parallel()
	eachTransport(t, "good", func(t *testing.T, s mcp.Server) {
		h := manager(t, mcp.Config{Version: "1"}, s)
		status := h.connected(t, "good")
		if status.Peer.Name != "mcptest" || status.Peer.Protocol != "2025-11-25" || status.Resources != 2 || status.Prompts != 1 || len(status.Tools) < 5 {
			t.Errorf("status: %+v", status)
		}
		tools, version := h.Tools()
		if len(tools) != 1 || tools[0].Tools[0].Model != "mcp__good__echo" || version == 0 {
			t.Errorf("tools: %+v", tools)
		}
		want := mcp.CallResult{Content: []mcp.Content{{Kind: mcp.ContentText, Text: "hello"}}}
		if diff := cmp.Diff(want, h.call(t, "good", "echo", `{"text":"hello"}`)); diff != "" {
			t.Errorf("echo (-want +got):\n%s", diff)
		}
		var fault *mcp.Fault
		if _, err := h.Call(t.Context(), mcp.CallRequest{Server: "good", Tool: "nothing"}); !errors.As(err, &fault) || fault.Kind != mcp.FaultUnknown {
			t.Errorf("an unknown tool: %v", err)
		}
	})
}

// A server that never answers is off as soon as it is switched off, also after it was
// switched on once more, which changes nothing.
func TestSwitchOffWhileConnecting(t *testing.T) {
	t.Parallel()
	asked := make(chan struct{}, 1)
	server := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		asked <- struct{}{}
		<-r.Context().Done()
	}))
	t.Cleanup(server.Close)
	s := mcp.Server{Name: "slow", Transport: mcp.TransportHTTP}
	s.Remote.URL, s.Limits.Start = server.URL, 50*time.Second
	h := manager(t, mcp.Config{}, s)
	<-asked
	for range 1000 {
		if err := h.Switch("slow", true); err != nil {
			t.Fatal(err)
		}
		runtime.Gosched()
	}
	began := time.Now()
	if err := h.Switch("slow", false); err != nil {
		t.Fatal(err)
	}
	h.until(t, "slow", "off", func(s mcp.Status) bool { return s.State == mcp.StateOff })
	if took := time.Since(began); took > 30*time.Second {
		t.Errorf("it took %s", took)
	}
}
