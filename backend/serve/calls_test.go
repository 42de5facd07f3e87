package serve_test

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"runtime"
	"strings"
	"testing"

	"github.com/coder/websocket"
)

// Calls are answered under their id, events arrive in between, and a slow call
// delays no other.
func TestCallsAndEvents(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	conn := s.enter(t)
	send(t, conn, `{"id":1,"method":"hang"}`)
	<-s.app.waiting
	send(t, conn, `{"id":2,"method":"echo","args":{"a":1}}`)
	if got, want := receive(t, conn), `{"id":2,"ok":{"args":"{\"a\":1}","method":"echo"}}`; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	s.app.emit(`{"session":"x","seq":1}`)
	if got, want := receive(t, conn), `{"event":{"session":"x","seq":1}}`; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	send(t, conn, `nonsense`)
	if _, _, err := conn.Read(t.Context()); websocket.CloseStatus(err) != websocket.StatusInvalidFramePayloadData {
		t.Errorf("nonsense: %v", err)
	}
}

// Calls from just before a reload of the page are carried out.
func TestACallOutlivesItsPage(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	conn := s.enter(t)
	send(t, conn, `{"id":1,"method":"hang"}`)
	<-s.app.waiting
	if err := conn.Close(websocket.StatusGoingAway, "reload"); err != nil {
		t.Fatal(err)
	}
	for s.app.watchers() > 0 { // until the server has noticed
		runtime.Gosched()
	}
	close(s.app.resume)
	if err := <-s.app.ended; err != nil {
		t.Errorf("the call was canceled: %v", err)
	}
}

// A call with a key runs once, whether it is sent again by a page that was cut
// off while it runs or later; another key, or none, is another call.
func TestACallWithAKeyRunsOnce(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	first := s.enter(t)
	send(t, first, `{"id":1,"method":"hang","key":"a"}`)
	<-s.app.waiting
	second := s.enter(t)
	send(t, second, `{"id":7,"method":"hang","key":"a"}`)
	close(s.app.resume)
	for _, again := range []string{"7", "8"} {
		if got, want := receive(t, second), `{"id":`+again+`,"ok":{"args":"","method":"hang"}}`; got != want {
			t.Errorf("got %s, want %s", got, want)
		}
		send(t, second, `{"id":8,"method":"hang","key":"a"}`)
	}
	receive(t, second) // of the last one
	for i, call := range []string{`"key":"b"`, `"key":"b"`, `"key":"c"`, `"key":""`, `"key":""`} {
		send(t, second, fmt.Sprintf(`{"id":%d,"method":"echo","args":{"n":%d},%s}`, i, i, call))
		runs := []int{0, 0, 2, 3, 4}[i]
		if got, want := receive(t, second), fmt.Sprintf(`{"id":%d,"ok":{"args":"{\"n\":%d}","method":"echo"}}`, i, runs); got != want {
			t.Errorf("got %s, want %s", got, want)
		}
	}
}

// A page learns that its connection works without running a call.
func TestPingIsAnswered(t *testing.T) {
	t.Parallel()
	conn := newSite(t).enter(t)
	send(t, conn, `{"method":"ping"}`)
	if got, want := receive(t, conn), `{"pong":true}`; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

// The server does not end before the calls that run.
func TestServeAwaitsCalls(t *testing.T) {
	t.Parallel()
	ctx, stop := context.WithCancel(t.Context())
	app, pages := newPages(ctx)
	s := &site{app: app, pages: pages, client: http.DefaultClient}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	s.server = &httptest.Server{URL: "http://" + listener.Addr().String(), Listener: listener}
	served := make(chan error, 1)
	go func() { served <- pages.Serve(listener) }()
	send(t, s.enter(t), `{"id":1,"method":"hang"}`)
	<-s.app.waiting
	stop()
	if err := <-served; err != nil {
		t.Error(err)
	}
	select {
	case <-s.app.ended:
	default:
		t.Error("the server ended before a call")
	}
}

// A page that does not read is disconnected, so that it delays nobody.
func TestSlowPageIsCutOff(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	conn := s.enter(t)
	envelope := `{"session":"x","seq":1,"pad":"` + strings.Repeat("x", 60_000) + `"}`
	for range 2000 {
		s.app.emit(envelope)
	}
	conn.SetReadLimit(1 << 20)
	for {
		if _, _, err := conn.Read(t.Context()); err != nil {
			return // disconnected, as it should be
		}
	}
}
