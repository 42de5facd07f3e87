package mcp_test

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"atelier.dev/atelier/agent/mcp"
)

// starting records which programs begin to start. None of them does.
type starting struct {
	mu    sync.Mutex
	begun map[string]bool
	wait  chan struct{} // what each start waits for
}

func (s *starting) ready(server mcp.Server) error {
	s.mu.Lock()
	s.begun[server.Name] = true
	s.mu.Unlock()
	<-s.wait
	return errors.New("it may not start")
}

func (s *starting) has(server string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.begun[server]
}

func (s *starting) count() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.begun)
}

// programs returns so many servers that are programs.
func programs(count int) []mcp.Server {
	var out []mcp.Server
	for n := range count {
		out = append(out, mcp.Server{Name: fmt.Sprint("s", n), Transport: mcp.TransportStdio, Stdio: mcp.Stdio{Command: "true"}})
	}
	return out
}

// Programs start a few at a time, so that they leave processors to a turn. Slow ones
// delay the others for a moment only, and nothing that the user decides waits for
// them. Once somebody waits for the servers, all of them start.
func TestProgramsStartAFewAtATime(t *testing.T) { // OAS-416
	synctest.Test(t, func(t *testing.T) {
		starts := &starting{begun: map[string]bool{}, wait: make(chan struct{})}
		m := mcp.New(mcp.Config{Ready: starts.ready})
		few := max(1, runtime.GOMAXPROCS(0)/2)
		servers := programs(4 * few)
		m.SetServers(servers)
		expect := func(when string, want int) {
			t.Helper()
			synctest.Wait()
			if got := starts.count(); got != want {
				t.Errorf("%s, %d of %d programs have begun to start, want %d", when, got, len(servers), want)
			}
		}
		expect("at first", few)
		time.Sleep(300 * time.Millisecond)
		expect("a moment later", 2*few)
		for i, status := range m.Status() {
			if starts.has(status.Name) {
				continue
			}
			_ = m.Switch(status.Name, false)
			synctest.Wait()
			if now := m.Status()[i]; now.State != mcp.StateOff {
				t.Errorf("a program that waits is %s when it was switched off", now.State)
			}
			_ = m.Switch(status.Name, true)
			break
		}
		m.Hurry()
		expect("when somebody waits", len(servers))
		close(starts.wait)
		_ = m.Close(t.Context())
	})
}

// A program that has started makes room for the next one at once.
func TestStartedProgramsMakeRoom(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		starts := &starting{begun: map[string]bool{}, wait: make(chan struct{})}
		close(starts.wait)
		m := mcp.New(mcp.Config{Ready: starts.ready})
		m.SetServers(programs(20))
		synctest.Wait()
		if n := starts.count(); n != 20 {
			t.Errorf("%d programs have begun to start without any time passing", n)
		}
		_ = m.Close(t.Context())
	})
}

// Settle returns once no server's first attempt is under way: all of them have
// begun, and failed, or are switched off.
func TestSettle(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		starts := &starting{begun: map[string]bool{}, wait: make(chan struct{})}
		none := mcp.New(mcp.Config{})
		none.Settle(t.Context()) // there is nothing to wait for
		_ = none.Close(t.Context())
		m := mcp.New(mcp.Config{Ready: starts.ready})
		servers := programs(4 * max(1, runtime.GOMAXPROCS(0)/2))
		m.SetServers(servers)
		synctest.Wait() // the first few have begun
		off := servers[slices.IndexFunc(servers, func(s mcp.Server) bool { return !starts.has(s.Name) })].Name
		_ = m.Switch(off, false)
		brief, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		m.Settle(brief)
		if n := starts.count(); n != len(servers)-1 || brief.Err() == nil {
			t.Errorf("%d of %d programs have begun while somebody waits, and the waiting ended with %v", n, len(servers), brief.Err())
		}
		close(starts.wait)
		m.Settle(t.Context())
		for _, s := range m.Status() {
			if isOff := s.Name == off; s.Reason == nil != isOff {
				t.Errorf("%s is %s because of %v", s.Name, s.State, s.Reason)
			}
		}
		_ = m.Close(t.Context())
		m.Settle(t.Context())
	})
}
