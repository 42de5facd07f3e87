package proxy

import (
	"bufio"
	"bytes"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"net/url"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"atelier.dev/atelier/agent/network"
)

// served is a proxy that a test runs.
type served struct {
	*Proxy
	addr string
	l    net.Listener
	done chan struct{}
}

func (s *served) reports() string { return strings.Join(s.Refused(), "\n") }

// serve runs a proxy on loopback. Every name leads to this computer.
func serve(t *testing.T, secret string, allowed ...string) *served {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	return serveOn(t, l, secret, allowed...)
}

func serveOn(t *testing.T, l net.Listener, secret string, allowed ...string) *served {
	t.Helper()
	rules, err := network.New(network.Settings{AllowedDomains: allowed, AllowLocalBinding: true})
	if err != nil {
		t.Fatal(err)
	}
	p := New(network.Dialer{Rules: rules, Lookup: func(context.Context, string) ([]netip.Addr, error) {
		return []netip.Addr{netip.MustParseAddr("127.0.0.1")}, nil
	}})
	s := &served{Proxy: p, addr: l.Addr().String(), l: l, done: make(chan struct{})}
	p.secret = secret
	go func() { defer close(s.done); p.Serve(l) }()
	t.Cleanup(s.stop)
	return s
}

func (s *served) stop() {
	_ = s.l.Close()
	<-s.done
}

// client returns a client that goes through the proxy.
func (s *served) client(t *testing.T, scheme, userinfo string) *http.Client {
	t.Helper()
	proxy, err := url.Parse(scheme + "://" + userinfo + s.addr)
	if err != nil {
		t.Fatal(err)
	}
	transport := &http.Transport{Proxy: http.ProxyURL(proxy), TLSClientConfig: &tls.Config{InsecureSkipVerify: true}}
	t.Cleanup(transport.CloseIdleConnections)
	return &http.Client{Transport: transport}
}

// site is a web server; in its addresses, name.example stands for this computer.
func site(t *testing.T, secure bool) (address string) {
	t.Helper()
	handler := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if r.Context().Err() != nil || err != nil {
			panic(http.ErrAbortHandler)
		}
		fmt.Fprintf(w, "%s %s%s %d bytes", r.Method, r.Host, r.RequestURI, len(body))
		for _, name := range []string{"Proxy-Authorization", "Proxy-Connection", "X-Hop", "User-Agent"} {
			if value := r.Header.Get(name); value != "" {
				fmt.Fprintf(w, " %s: %s", name, value)
			}
		}
	})
	server := httptest.NewUnstartedServer(handler)
	if secure {
		server.StartTLS()
	} else {
		server.Start()
	}
	t.Cleanup(server.Close)
	return strings.Replace(server.URL, "127.0.0.1", "name.example", 1)
}

func get(t *testing.T, client *http.Client, address string) string {
	t.Helper()
	answer, err := client.Get(address)
	if err != nil {
		return "failed: " + err.Error()
	}
	defer answer.Body.Close()
	body, err := io.ReadAll(answer.Body)
	if err != nil {
		t.Fatal(err)
	}
	return fmt.Sprintf("%d %s", answer.StatusCode, body)
}

func TestAllowedHostsAreReachedAndOthersAreNot(t *testing.T) {
	t.Parallel()
	for _, secure := range []bool{false, true} {
		address := site(t, secure)
		elsewhere := strings.Replace(address, "name.example", "evil.example", 1)
		for _, scheme := range []string{"http", "socks5"} {
			s := serve(t, "", "name.example:*")
			client := s.client(t, scheme, "")
			host := strings.TrimPrefix(strings.TrimPrefix(address, "http://"), "https://")
			want := "200 GET " + host + "/a%2Fb?c=%20 0 bytes User-Agent: Go-http-client/1.1"
			if got := get(t, client, address+"/a%2Fb?c=%20"); got != want {
				t.Errorf("%s by %s: %s instead of %s", address, scheme, got, want)
			}
			if got := get(t, client, elsewhere); strings.HasPrefix(got, "200") {
				t.Errorf("%s by %s: %s", elsewhere, scheme, got)
			}
			if got, want := s.reports(), strings.Replace(host, "name", "evil", 1)+" is not in allowedDomains"; got != want {
				t.Errorf("%s by %s: reported %q instead of %q", elsewhere, scheme, got, want)
			}
			s.stop()
			if got := get(t, client, address); !strings.HasPrefix(got, "failed") {
				t.Errorf("after the proxy's end: %s", got)
			}
		}
	}
}

func TestTheRefusalIsToldToThePlainRequest(t *testing.T) {
	t.Parallel()
	s := serve(t, "", "name.example")
	answer, err := s.client(t, "http", "").Post("http://evil.example/secret-path?token=x", "text/plain", strings.NewReader(strings.Repeat("x", 300_000)))
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	body, _ := io.ReadAll(answer.Body)
	want := "The sandbox's proxy refused this request: evil.example:80 is not in allowedDomains.\n"
	if answer.StatusCode != http.StatusForbidden || string(body) != want || answer.Status != "403 Forbidden: evil.example:80 is not in allowedDomains" {
		t.Errorf("%s: %s", answer.Status, body)
	}
	if strings.Contains(s.reports(), "secret-path") {
		t.Errorf("the report has the path: %s", s.reports())
	}
}

func TestBodiesPassWhole(t *testing.T) {
	t.Parallel()
	const size = 3 << 20
	for _, secure := range []bool{false, true} {
		address := site(t, secure)
		client := serve(t, "", "name.example:*").client(t, "http", "")
		for name, body := range map[string]io.Reader{
			"sized": bytes.NewReader(make([]byte, size)), "chunked": io.LimitReader(zeros{}, size),
		} {
			answer, err := client.Post(address+"/", "text/plain", body)
			if err != nil {
				t.Fatal(err)
			}
			text, _ := io.ReadAll(answer.Body)
			_ = answer.Body.Close()
			if !strings.Contains(string(text), fmt.Sprintf("%d bytes", size)) {
				t.Errorf("%s, %s: %s", address, name, text)
			}
		}
	}
}

type zeros struct{}

func (zeros) Read(p []byte) (int, error) { clear(p); return len(p), nil }

func TestTheSecretIsAskedFor(t *testing.T) {
	t.Parallel()
	for _, secure := range []bool{false, true} {
		address := site(t, secure)
		s := serve(t, "s3cret", "name.example:*")
		for _, scheme := range []string{"http", "socks5"} {
			for _, userinfo := range []string{"", "atelier:wrong@", "other:s3cret@", "atelier:@"} {
				if got := get(t, s.client(t, scheme, userinfo), address); strings.HasPrefix(got, "200") {
					t.Errorf("%s with %q: %s", scheme, userinfo, got)
				}
			}
			got := get(t, s.client(t, scheme, "atelier:s3cret@"), address)
			if !strings.HasPrefix(got, "200") || strings.Contains(got, "Proxy-") {
				t.Errorf("%s with the secret: %s", scheme, got)
			}
		}
		if s.reports() != "" {
			t.Errorf("reported %s", s.reports())
		}
	}
}

// say sends bytes to the proxy and returns the first line of the answer.
func (s *served) say(t *testing.T, text string) string {
	t.Helper()
	conn, err := net.Dial("tcp", s.addr)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	if _, err := io.WriteString(conn, text); err != nil {
		t.Fatal(err)
	}
	line, err := bufio.NewReader(conn).ReadString('\n')
	if err != nil && !errors.Is(err, io.EOF) {
		t.Fatalf("%.40q: %v", text, err)
	}
	return strings.TrimRight(line, "\r\n")
}

func TestRequestsOfHTTPThatAreNotAnswered(t *testing.T) {
	t.Parallel()
	s := serve(t, "", "name.example")
	const bad, forbidden = "HTTP/1.1 400 Bad Request", "HTTP/1.1 403 Forbidden"
	for _, row := range []struct{ request, want string }{
		{"GET / HTTP/1.1\r\nHost: name.example\r\n\r\n", bad},
		{"GET https://name.example/ HTTP/1.1\r\nHost: name.example\r\n\r\n", bad},
		{"GET ftp://name.example/ HTTP/1.1\r\nHost: name.example\r\n\r\n", bad},
		{"GET http://evil.example/ HTTP/1.1\r\nHost: name.example\r\n\r\n", forbidden}, // the address counts, not the header
		{"GET http://name.example@evil.example/ HTTP/1.1\r\nHost: name.example\r\n\r\n", forbidden},
		{"GET http://evil.example#name.example/ HTTP/1.1\r\nHost: name.example\r\n\r\n", bad},
		{"GET http://evil.example\\name.example/ HTTP/1.1\r\nHost: name.example\r\n\r\n", forbidden},
		{"GET http:///name.example HTTP/1.1\r\nHost: name.example\r\n\r\n", forbidden},
		{"CONNECT name.example HTTP/1.1\r\nHost: name.example\r\n\r\n", forbidden},
		{"CONNECT name.example:22 HTTP/1.1\r\nHost: name.example\r\n\r\n", forbidden},
		{"CONNECT evil.example\x00.name.example:443 HTTP/1.1\r\nHost: name.example\r\n\r\n", forbidden},
		{"CONNECT evil.example%00name.example:443 HTTP/1.1\r\nHost: name.example\r\n\r\n", forbidden},
		{"CONNECT http://name.example:443 HTTP/1.1\r\nHost: name.example\r\n\r\n", forbidden},
		{"CONNECT  name.example:443 HTTP/1.1\r\n\r\n", bad},
		{"CONNECT name.example:443\r\n\r\n", bad},
		{"CONNECT name.example:443 HTTP/1.1\r\nno colon\r\n\r\n", bad},
		{"\r\n\r\n", bad},
		{"\x04\x01\x00\x50\x00\x00\x00\x01\x00name.example\x00\n", bad}, // SOCKS4
		{"CONNECT name.example:443 HTTP/1.1\r\nX: " + strings.Repeat("x", mostHeader) + "\r\n\r\n", bad},
		{"CONNECT " + strings.Repeat("x", 2*mostHeader), bad},
	} {
		if got := s.say(t, row.request); !strings.HasPrefix(got, row.want) {
			t.Errorf("%.60q: %q instead of %q", row.request, got, row.want)
		}
	}
}

func TestRequestsOfSOCKSThatAreNotAnswered(t *testing.T) {
	t.Parallel()
	s := serve(t, "", "name.example")
	const hello = "\x05\x01\x00"
	name := func(host string) string { return "\x03" + string(rune(len(host))) + host }
	for _, row := range []struct {
		request string
		want    byte // the reply, after the greeting's
	}{
		{hello + "\x05\x01\x00" + name("evil.example") + "\x01\xbb", replyForbidden},
		{hello + "\x05\x01\x00" + name("name.example") + "\x00\x16", replyForbidden},
		{hello + "\x05\x01\x00" + name("evil.example\x00.name.example") + "\x01\xbb", replyForbidden},
		{hello + "\x05\x01\x00" + name("") + "\x01\xbb", replyForbidden},
		{hello + "\x05\x01\x00\x01\x7f\x00\x00\x01\x01\xbb", replyForbidden},
		{hello + "\x05\x01\x00\x01\xa9\xfe\xa9\xfe\x00\x50", replyForbidden},
		{hello + "\x05\x01\x00\x04" + strings.Repeat("\x00", 15) + "\x01\x01\xbb", replyForbidden},
		{hello + "\x05\x02\x00" + name("name.example") + "\x01\xbb", replyCommand}, // BIND
		{hello + "\x05\x03\x00" + name("name.example") + "\x01\xbb", replyCommand}, // UDP
		{hello + "\x05\x01\x00\x09xxxxxx", replyType},
		{hello + "\x04\x01\x00" + name("name.example") + "\x01\xbb", replyType},
		{"\x05\x01\x02", noMethod},
	} {
		answer := s.say(t, row.request)
		if len(answer) < 2 || answer[len(answer)-1] != row.want && (len(answer) < 4 || answer[3] != row.want) {
			t.Errorf("%q: %q instead of %d", row.request, answer, row.want)
		}
	}
}

func TestReportsAreBounded(t *testing.T) {
	t.Parallel()
	s := serve(t, "", "name.example")
	for i := range 2 * mostReports {
		for range 2 {
			s.say(t, fmt.Sprintf("CONNECT evil%d.example:443 HTTP/1.1\r\n\r\n", i))
		}
	}
	if n := len(strings.Split(s.reports(), "\n")); n != mostReports {
		t.Errorf("%d reports instead of %d", n, mostReports)
	}
}

// When the listener is closed, open tunnels end, and nothing is left running.
func TestTheEndOfTheListenerEndsEverything(t *testing.T) {
	t.Parallel()
	upstream, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer upstream.Close()
	s := serve(t, "", "name.example:*")
	conn, err := net.Dial("tcp", s.addr)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	port := netip.MustParseAddrPort(upstream.Addr().String()).Port()
	fmt.Fprintf(conn, "CONNECT name.example:%d HTTP/1.1\r\n\r\nearly", port)
	there, err := upstream.Accept()
	if err != nil {
		t.Fatal(err)
	}
	defer there.Close()
	early := make([]byte, 5) // sent before the answer
	if _, err := io.ReadFull(there, early); err != nil || string(early) != "early" {
		t.Fatalf("%q, %v", early, err)
	}
	s.stop()
	if _, err := io.ReadAll(there); err != nil && !strings.Contains(err.Error(), "reset") {
		t.Error(err)
	}
	if rest, err := io.ReadAll(conn); err == nil && !strings.HasPrefix(string(rest), "HTTP/1.1 200 ") {
		t.Errorf("%q", rest)
	}
}

// Beyond the limit a connection is closed at once; when another one ends, there
// is room again.
func TestConnectionsAreBounded(t *testing.T) {
	t.Parallel()
	s := serve(t, "", "name.example")
	var open []net.Conn
	defer func() {
		for _, conn := range open {
			_ = conn.Close()
		}
	}()
	dial := func() net.Conn {
		conn, err := net.Dial("tcp", s.addr)
		if err != nil {
			t.Fatal(err)
		}
		open = append(open, conn)
		return conn
	}
	for range mostConnections {
		dial()
	}
	if rest, err := io.ReadAll(dial()); len(rest) > 0 || err != nil {
		t.Errorf("a connection too many: %q, %v", rest, err)
	}
	_, _ = io.WriteString(open[0], "\n") // is answered, and ends
	if line, err := bufio.NewReader(open[0]).ReadString('\n'); err != nil || !strings.Contains(line, "400") {
		t.Errorf("%q, %v", line, err)
	}
}

// A proxy serves a socket in a folder as well.
func TestServesOnASocket(t *testing.T) {
	t.Parallel()
	address := site(t, false)
	path := filepath.Join(t.TempDir(), "s")
	l, err := net.Listen("unix", path)
	if err != nil {
		t.Skipf("no sockets in folders here: %v", err)
	}
	s := serveOn(t, l, "", "name.example:*")
	proxy := &url.URL{Scheme: "http", Host: "proxy.invalid"}
	transport := &http.Transport{Proxy: http.ProxyURL(proxy), DialContext: func(context.Context, string, string) (net.Conn, error) { return net.Dial("unix", path) }}
	defer transport.CloseIdleConnections()
	if got := get(t, &http.Client{Transport: transport}, address); !strings.HasPrefix(got, "200") {
		t.Errorf("%s; %s", got, s.reports())
	}
}

// A proxy that others can reach has a secret of its own, in the variables alone.
func TestEnviron(t *testing.T) {
	t.Parallel()
	p := New(network.Dialer{})
	environ := strings.Join(p.Environ("127.0.0.1:3128", false), " ")
	if !strings.Contains(environ, "HTTPS_PROXY=http://127.0.0.1:3128 https_proxy=http://127.0.0.1:3128 ") ||
		!strings.HasSuffix(environ, " NO_PROXY=localhost,127.0.0.1,::1 no_proxy=localhost,127.0.0.1,::1") || p.secret != "" {
		t.Errorf("alone: %s", environ)
	}
	for _, allowed := range []string{"localhost:3000", "127.0.0.1:*", "[::1]:3000"} {
		rules, err := network.New(network.Settings{AllowedDomains: []string{allowed}})
		if err != nil {
			t.Fatal(err)
		}
		p = New(network.Dialer{Rules: rules})
		environ = strings.Join(p.Environ("127.0.0.1:3128", true), " ")
		if len(p.secret) < 20 || !strings.Contains(environ, " all_proxy=http://atelier:"+p.secret+"@127.0.0.1:3128 ") || !strings.HasSuffix(environ, " NO_PROXY= no_proxy=") {
			t.Errorf("shared, with %s: %s", allowed, environ)
		}
	}
}

// curl is another author's reading of the protocols.
func TestCurlGoesThrough(t *testing.T) {
	t.Parallel()
	curl, err := exec.LookPath("curl")
	if err != nil {
		t.Skip("curl is not installed")
	}
	for _, secure := range []bool{false, true} {
		address := site(t, secure)
		s := serve(t, "s3cret", "name.example:*")
		for _, scheme := range []string{"http", "socks5h"} {
			through := scheme + "://atelier:s3cret@" + s.addr
			out, err := exec.CommandContext(t.Context(), curl, "-sSk", "--noproxy", "", "-x", through, address+"/x").CombinedOutput()
			if err != nil || !strings.HasPrefix(string(out), "GET name.example:") {
				t.Errorf("%s through %s: %v, %s", address, through, err, out)
			}
			out, err = exec.CommandContext(t.Context(), curl, "-sSkf", "--noproxy", "", "-x", through, strings.Replace(address, "name.", "evil.", 1)).CombinedOutput()
			if err == nil {
				t.Errorf("evil.example through %s: %s", through, out)
			}
		}
		if !strings.Contains(s.reports(), "evil.example") {
			t.Errorf("reported %q", s.reports())
		}
	}
}

// K-47: without hosts the proxy refuses at once, and the words of the status, which
// is all that many programs print, name the host.
func TestNoHostsMeansARefusalAtOnce(t *testing.T) {
	t.Parallel()
	for _, host := range []string{"registry.npmjs.org:443", "pypi.org:443", "proxy.golang.org:443", "index.crates.io:443", "10.0.0.1:80", "localhost:5432"} {
		p := New(network.Dialer{Lookup: func(context.Context, string) ([]netip.Addr, error) {
			t.Error("a name was looked up")
			return nil, nil
		}})
		ours, theirs := net.Pipe()
		go p.answer(t.Context(), theirs) // ends with the connection
		if _, err := fmt.Fprintf(ours, "CONNECT %s HTTP/1.1\r\nHost: %[1]s\r\n\r\n", host); err != nil {
			t.Fatal(err)
		}
		line, err := bufio.NewReader(ours).ReadString('\n')
		want := host + " is not reachable, because commands have no network here"
		if line != "HTTP/1.1 403 Forbidden: "+want+"\r\n" || err != nil {
			t.Errorf("%q, %v", line, err)
		}
		if got := p.Refused(); len(got) != 1 || got[0] != want {
			t.Errorf("reported %q", got)
		}
		_ = ours.Close()
	}
}
