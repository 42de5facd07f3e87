package mcp_test

import (
	"context"
	"fmt"
	"net/http"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"atelier.dev/atelier/agent/mcp"
	"atelier.dev/atelier/agent/mcp/mcptest"
	"github.com/google/go-cmp/cmp"
)

// inBubble returns a manager whose one server is a handler without a network, so
// that time is the bubble's own.
func inBubble(t *testing.T, h http.Handler) *mcp.Manager {
	m := mcp.New(mcp.Config{RoundTripper: func(mcp.Server) http.RoundTripper { return mcptest.InProcess{Handler: h} }})
	t.Cleanup(func() { _ = m.Close(context.Background()) })
	m.SetServers([]mcp.Server{{Name: "s", Transport: mcp.TransportHTTP, Remote: mcp.Remote{URL: "http://server.test/mcp"}}})
	return m
}

// breakable is a server that can be told to fail.
type breakable struct {
	http.Handler
	broken, hanging atomic.Bool
	requests        atomic.Int64
}

func (b *breakable) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.Method == http.MethodPost {
		b.requests.Add(1)
	}
	switch {
	case b.hanging.Load():
		<-r.Context().Done()
	case b.broken.Load():
		w.WriteHeader(http.StatusServiceUnavailable)
	default:
		b.Handler.ServeHTTP(w, r)
	}
}

// A first connection is tried three times, after 1 and 2 seconds.
func TestConnectionIsRetried(t *testing.T) { // OAS-404
	synctest.Test(t, func(t *testing.T) {
		server := &breakable{Handler: mcptest.Handler("good")}
		server.broken.Store(true)
		m := inBubble(t, server)
		var seen []string
		for range 5 {
			synctest.Wait()
			s := m.Status()[0]
			seen = append(seen, fmt.Sprint(s.State, " ", s.Reason, " ", !s.Next.IsZero()))
			time.Sleep(time.Second)
		}
		waits := "pending http: 503 true"
		if diff := cmp.Diff([]string{waits, waits, waits, "failed http: 503 false", "failed http: 503 false"}, seen); diff != "" {
			t.Errorf("second by second (-want +got):\n%s", diff)
		}
		server.broken.Store(false)
		if err := m.Reconnect(t.Context(), "s"); err != nil {
			t.Errorf("reconnect: %v", err)
		}
	})
}

// A server that falls silent is noticed by pings, named, and given up after five
// attempts. Until then it offers its tools.
func TestSilentServerIsGivenUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := &breakable{Handler: mcptest.Handler("good")}
		m := inBubble(t, server)
		synctest.Wait()
		if s := m.Status()[0]; s.State != mcp.StateConnected {
			t.Fatalf("status: %+v", s)
		}
		time.Sleep(29 * time.Second)
		synctest.Wait()
		pinged := m.Status()[0].Health.Pinged
		time.Sleep(2 * time.Second)
		synctest.Wait()
		if now := m.Status()[0].Health.Pinged; !now.After(pinged) {
			t.Errorf("no ping after silence: %v, then %v", pinged, now)
		}
		server.hanging.Store(true)
		time.Sleep(41 * time.Second)
		synctest.Wait()
		if s := m.Status()[0]; s.State != mcp.StateConnecting || kind(s.Reason) != mcp.FaultSilent {
			t.Errorf("status of a silent server: %+v", s)
		}
		if tools, _ := m.Tools(); len(tools) != 1 {
			t.Error("a server that is tried again offers nothing")
		}
		time.Sleep(5 * time.Minute)
		synctest.Wait()
		if s := m.Status()[0]; s.State != mcp.StateFailed || kind(s.Reason) != mcp.FaultGaveUp {
			t.Errorf("status of a server that was given up: %+v", s)
		}
		if tools, _ := m.Tools(); len(tools) != 0 {
			t.Error("a server that was given up offers tools")
		}
		before := server.requests.Load()
		time.Sleep(time.Hour)
		if after := server.requests.Load(); after != before {
			t.Errorf("%d requests to a server that was given up", after-before)
		}
	})
}

// Nothing waits for servers that hang: ten of them are set, asked about and
// taken away without any time passing.
func TestNothingWaitsForHangingServers(t *testing.T) { // OAS-416
	synctest.Test(t, func(t *testing.T) {
		server := &breakable{Handler: mcptest.Handler("good")}
		server.hanging.Store(true)
		m := mcp.New(mcp.Config{RoundTripper: func(mcp.Server) http.RoundTripper { return mcptest.InProcess{Handler: server} }})
		var servers []mcp.Server
		for n := range 10 {
			servers = append(servers, mcp.Server{Name: fmt.Sprint("s", n), Transport: mcp.TransportHTTP, Remote: mcp.Remote{URL: "http://server.test/mcp"}})
		}
		began := time.Now()
		m.SetServers(servers)
		if tools, _ := m.Tools(); len(tools) != 0 || len(m.Status()) != 10 {
			t.Errorf("status: %+v", m.Status())
		}
		m.SetServers(nil)
		if took := time.Since(began); took != 0 {
			t.Errorf("it took %v", took)
		}
		_ = m.Close(t.Context())
	})
}

// Progress keeps a call alive; without any it is given up.
func TestProgressResetsTheLimit(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := inBubble(t, mcptest.Handler("slow-progress"))
		synctest.Wait()
		began := time.Now()
		if _, err := m.Call(t.Context(), mcp.CallRequest{Server: "s", Tool: "progress"}); err != nil || time.Since(began) < 11*time.Minute {
			t.Errorf("a call that reports progress: %v after %v", err, time.Since(began))
		}
		began = time.Now()
		if _, err := m.Call(t.Context(), mcp.CallRequest{Server: "s", Tool: "hang"}); kind(err) != mcp.FaultTimeout || time.Since(began) != 5*time.Minute {
			t.Errorf("a call that hangs: %v after %v", err, time.Since(began))
		}
	})
}

// TestPausesDouble proves that a lost connection is tried again after pauses that double.
func TestPausesDouble(t *testing.T) { // OAS-404
	synctest.Test(t, func(t *testing.T) {
		server := &breakable{Handler: mcptest.Handler("good")}
		m := inBubble(t, server)
		synctest.Wait()
		server.broken.Store(true)
		var pauses []time.Duration
		next := time.Time{}
		for range 600 {
			time.Sleep(100 * time.Millisecond)
			synctest.Wait()
			if at := m.Status()[0].Next; !at.IsZero() && !at.Equal(next) {
				next = at
				pauses = append(pauses, time.Until(at).Round(time.Second))
			}
		}
		if diff := cmp.Diff([]time.Duration{1 * time.Second, 2 * time.Second, 4 * time.Second, 8 * time.Second}, pauses); diff != "" {
			t.Errorf("the pauses (-want +got):\n%s", diff)
		}
	})
}

// TestStartIsLimited proves that a server has ten seconds to connect, or what its
// configuration says, but not more than thirty.
func TestStartIsLimited(t *testing.T) { // OAS-416
	for limit, want := range map[time.Duration]time.Duration{0: 10 * time.Second, 3 * time.Second: 3 * time.Second, 20 * time.Second: 20 * time.Second, time.Hour: 30 * time.Second, 30 * time.Second: 30 * time.Second} {
		synctest.Test(t, func(t *testing.T) {
			server := &breakable{Handler: mcptest.Handler("good")}
			server.hanging.Store(true)
			m := mcp.New(mcp.Config{RoundTripper: func(mcp.Server) http.RoundTripper { return mcptest.InProcess{Handler: server} }})
			s := mcp.Server{Name: "s", Transport: mcp.TransportHTTP, Remote: mcp.Remote{URL: "http://server.test/mcp"}}
			s.Limits.Start = limit
			began := time.Now()
			trial := m.Try(t.Context(), s)
			if took := time.Since(began); took != want || kind(trial.Status.Reason) != mcp.FaultSlow {
				t.Errorf("%v: given up after %v: %v", limit, took, trial.Status.Reason)
			}
		})
	}
}
