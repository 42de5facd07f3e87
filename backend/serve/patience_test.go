package serve_test

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/coder/websocket"
)

// memory is a listener whose connections stay within the process, so that a
// bubble's time advances while they wait.
type memory struct {
	conns chan net.Conn
	done  context.Context
	close context.CancelFunc
}

func newMemory() *memory {
	done, cancel := context.WithCancel(context.Background())
	return &memory{conns: make(chan net.Conn), done: done, close: cancel}
}

func (m *memory) Accept() (net.Conn, error) {
	select {
	case conn := <-m.conns:
		return conn, nil
	case <-m.done.Done():
		return nil, net.ErrClosed
	}
}

func (m *memory) Close() error   { m.close(); return nil }
func (m *memory) Addr() net.Addr { return &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: 80} }

func (m *memory) dial() net.Conn {
	client, server := net.Pipe()
	m.conns <- server
	return client
}

// serving runs a test in a bubble, with a server on a listener in memory.
func serving(t *testing.T, test func(t *testing.T, m *memory, secret func() string)) {
	synctest.Test(t, func(t *testing.T) {
		ctx, stop := context.WithCancel(t.Context())
		_, pages := newPages(ctx)
		listener := newMemory()
		ended := make(chan error)
		go func() { ended <- pages.Serve(listener) }()
		test(t, listener, func() string {
			_, token, _ := strings.Cut(pages.URL(listener.Addr()), "#token=")
			conn := listener.dial()
			defer conn.Close()
			body := fmt.Sprintf(`{"token":%q}`, token)
			fmt.Fprintf(conn, "POST /session HTTP/1.1\r\nHost: 127.0.0.1\r\nOrigin: http://127.0.0.1\r\nContent-Length: %d\r\n\r\n%s", len(body), body)
			resp, err := http.ReadResponse(bufio.NewReader(conn), nil)
			if err != nil {
				t.Fatal(err)
			}
			defer resp.Body.Close()
			b, err := io.ReadAll(resp.Body)
			if err != nil {
				t.Fatal(err)
			}
			return string(b)
		})
		stop()
		if err := <-ended; err != nil {
			t.Errorf("serving ended with %v", err)
		}
	})
}

func (m *memory) dialSocket(t *testing.T) *websocket.Conn {
	t.Helper()
	transport := &http.Transport{
		DisableKeepAlives: true,
		DialContext:       func(context.Context, string, string) (net.Conn, error) { return m.dial(), nil },
	}
	conn, _, err := websocket.Dial(t.Context(), "ws://127.0.0.1/ws", &websocket.DialOptions{ //nolint:bodyclose // the connection owns it
		HTTPClient: &http.Client{Transport: transport}, HTTPHeader: http.Header{"Origin": {"http://127.0.0.1"}},
	})
	if err != nil {
		t.Fatal(err)
	}
	return conn
}

// A page that does not sign in keeps its connection for ten seconds at most;
// one that did keeps it as long as it likes.
func TestLateSecretIsRefused(t *testing.T) {
	t.Parallel()
	serving(t, func(t *testing.T, m *memory, secret func() string) {
		mute := m.dialSocket(t)
		defer mute.CloseNow() //nolint:errcheck // it may be closed already
		begin := time.Now()
		if _, _, err := mute.Read(t.Context()); err == nil {
			t.Error("something was answered")
		}
		if waited := time.Since(begin); waited != 10*time.Second {
			t.Errorf("closed after %v", waited)
		}

		early := m.dialSocket(t)
		defer early.CloseNow() //nolint:errcheck // the server may have closed it
		<-time.After(9 * time.Second)
		send(t, early, secret())
		if got := receive(t, early); got != `{"signed_in":true}` {
			t.Errorf("a secret in time was answered with %s", got)
		}
		later := make(chan string) // a client answers pings only while it reads
		go func() {
			_, b, err := early.Read(t.Context())
			later <- fmt.Sprint(string(b), err)
		}()
		<-time.After(time.Hour)
		send(t, early, `{"id":1,"method":"echo"}`)
		if got := <-later; !strings.Contains(got, `"method":"echo"`) {
			t.Errorf("an hour later: %s", got)
		}
	})
}

// A page that is gone without a word gives its place back within a minute.
func TestSilentPageLosesItsPlace(t *testing.T) {
	t.Parallel()
	serving(t, func(t *testing.T, m *memory, secret func() string) {
		dead := m.dialSocket(t)
		defer dead.CloseNow() //nolint:errcheck // the server has closed it
		send(t, dead, secret())
		receive(t, dead)
		<-time.After(time.Minute)
		if err := dead.Write(t.Context(), websocket.MessageText, []byte(`{"id":1,"method":"echo"}`)); err == nil {
			_, b, err := dead.Read(t.Context())
			for err == nil {
				t.Errorf("read %s", b)
				_, b, err = dead.Read(t.Context())
			}
		}
	})
}

// A connection without a request, or without a further one, is closed.
func TestIdleConnectionsEnd(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		sent string
		most time.Duration
	}{
		"silent":            {"", 10 * time.Second},
		"half a header":     {"GET / HTTP/1.1\r\nHost:", 10 * time.Second},
		"half a body":       {"POST /session HTTP/1.1\r\nHost: 127.0.0.1\r\nOrigin: http://127.0.0.1\r\nContent-Length: 99\r\n\r\n{", 20 * time.Second},
		"after its request": {"GET / HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n", 30 * time.Second},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			serving(t, func(t *testing.T, m *memory, _ func() string) {
				conn := m.dial()
				defer conn.Close()
				go func() { _, _ = io.WriteString(conn, tt.sent) }()
				begin := time.Now()
				_, _ = io.Copy(io.Discard, conn)
				if waited := time.Since(begin); waited > tt.most {
					t.Errorf("closed after %v", waited)
				}
			})
		})
	}
}
