package sandbox

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"sync"
	"testing"
	"time"

	"atelier.dev/atelier/agent/network"
	"atelier.dev/atelier/agent/network/proxy"
	"atelier.dev/atelier/agent/sandbox/confine"
)

// watched is a proxy that says when it has ended.
type watched struct {
	confine.Proxy
	done chan struct{}
}

func (w *watched) Serve(l net.Listener) {
	defer close(w.done)
	w.Proxy.Serve(l)
}

// newWatched returns a proxy for name.example, which leads to this computer.
func newWatched(t *testing.T) *watched {
	t.Helper()
	rules, err := network.New(network.Settings{AllowedDomains: []string{"name.example:*"}, AllowLocalBinding: true})
	if err != nil {
		t.Fatal(err)
	}
	lookup := func(context.Context, string) ([]netip.Addr, error) {
		return []netip.Addr{netip.MustParseAddr("127.0.0.1")}, nil
	}
	return &watched{Proxy: proxy.New(network.Dialer{Rules: rules, Lookup: lookup}), done: make(chan struct{})}
}

// website is a server on this computer. Its address is a port.
func website(t *testing.T) (port string) {
	t.Helper()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { fmt.Fprint(w, "hello from ", r.Host) }))
	t.Cleanup(server.Close)
	return server.URL[strings.LastIndexByte(server.URL, ':')+1:]
}

// fetch is a shell's line that asks the proxy in HTTP_PROXY for a page.
const fetch = `fetch() {
	exec 3<>"/dev/tcp/${HTTP_PROXY#http://*:}" 2>/dev/null || exec 3<>"/dev/tcp/127.0.0.1/${HTTP_PROXY##*:}" || return
	printf 'GET http://%s/ HTTP/1.0\r\n\r\n' "$1" >&3; cat <&3; exec 3>&-
}
`

// Only what the proxy lets through is reached, and only through it. OAS-641, K-17.
func TestTheProxyIsTheOnlyWayOut(t *testing.T) {
	t.Parallel()
	everyNamespace(t, onlyWayOut)
}

func onlyWayOut(t *testing.T, by enforcer) {
	port := website(t)
	for _, row := range []struct{ name, line, want, refused string }{
		{"allowed", "fetch name.example:" + port, "hello from name.example:" + port, ""},
		{"not allowed", "fetch evil.example:" + port, "403 Forbidden", "evil.example:" + port + " is not in allowedDomains"},
		{"past the proxy", "exec 3<>/dev/tcp/127.0.0.1/" + port, "Connection refused", ""},
		{"at once, by many", "for i in 1 2 3 4 5; do fetch name.example:" + port + " & done; wait", strings.Repeat("hello ", 5), ""},
		{"no names without it", "getent hosts name.example || echo unknown", "unknown", ""},
	} {
		w := newWatched(t)
		result, err := Run(t.Context(), Spec{
			by: by, Argv: []string{"bash", "-c", fetch + row.line}, Merge: true,
			Confine: &confine.Profile{Network: confine.NetworkProxy, Proxy: w},
		})
		if err != nil {
			t.Fatal(err)
		}
		<-w.done // with the command
		got := result.Stdout
		if strings.Count(got, "hello") > 1 {
			got = strings.Repeat("hello ", strings.Count(got, "hello"))
		}
		if !strings.Contains(got, row.want) || strings.Join(w.Refused(), "\n") != row.refused {
			t.Errorf("%s: refused %q, printed %s", row.name, w.Refused(), result.Stdout)
		}
	}
}

// K-47: a command without hosts is refused at once by a proxy, also behind a pipe, and
// what it wanted is known when it has ended.
func TestWithoutHostsAProxyRefuses(t *testing.T) {
	t.Parallel()
	needsLauncher(t)
	for _, line := range []string{
		"fetch registry.npmjs.org:443", "fetch registry.npmjs.org:443 | cat | tail -1", "(fetch registry.npmjs.org:443) >/dev/null; true",
		"fetch registry.npmjs.org:443 & wait", "fetch registry.npmjs.org:443 || fetch registry.npmjs.org:443",
	} {
		p := &confine.Profile{Proxy: proxy.New(network.Dialer{})}
		result, err := Run(t.Context(), Spec{Argv: []string{"bash", "-c", fetch + line}, Merge: true, Confine: p})
		want := "The sandbox's proxy refused hosts to this command: registry.npmjs.org:443 is not reachable, because commands have no network here."
		if err != nil || result.Confined.Refusals() != want || result.Duration > 5*time.Second {
			t.Errorf("%s: %v, %s, after %v: %s", line, err, result.Confined.Refusals(), result.Duration, result.Stdout)
		}
	}
}

// dead is a proxy that ends at once.
type dead struct{}

func (dead) Environ(addr string, _ bool) []string { return []string{"HTTP_PROXY=http://" + addr} }
func (dead) Serve(net.Listener)                   {}
func (dead) Refused() []string                    { return nil }
func (dead) Wanted() []string                     { return nil }

func TestADeadProxyLeavesNoNetwork(t *testing.T) {
	t.Parallel()
	everyNamespace(t, deadProxy)
}

func deadProxy(t *testing.T, by enforcer) {
	port := website(t)
	for name, p := range map[string]confine.Proxy{"dead": dead{}, "none": nil} {
		result, err := Run(t.Context(), Spec{
			by: by, Argv: []string{"bash", "-c", "HTTP_PROXY=http://127.0.0.1:3128\n" + fetch + "fetch name.example:" + port}, Merge: true,
			Confine: &confine.Profile{Network: confine.NetworkProxy, Proxy: p},
		})
		if err != nil || !strings.Contains(result.Stdout, "Connection refused") && !strings.Contains(result.Stdout, "reset") && result.Stdout != "" {
			t.Errorf("%s: %v, %s", name, err, result.Stdout)
		}
	}
}

// A command that runs on, here on a terminal, has its way out until it ends.
func TestTheProxyEndsWithItsCommand(t *testing.T) {
	t.Parallel()
	everyNamespace(t, proxyEnds)
}

func proxyEnds(t *testing.T, by enforcer) {
	port := website(t)
	w := newWatched(t)
	reached := make(chan struct{})
	var once sync.Once
	var seen strings.Builder
	p, err := Start(t.Context(), Spec{
		by: by, Argv: []string{"bash", "-c", fetch + "read -r host; fetch $host; sleep 1000"}, Input: true, TTY: true,
		Output: func(text string) {
			if seen.WriteString(text); strings.Contains(seen.String(), "hello from") {
				once.Do(func() { close(reached) })
			}
		},
		Confine: &confine.Profile{Network: confine.NetworkProxy, Proxy: w},
	})
	if err != nil {
		t.Fatal(err)
	}
	if err := p.Write("name.example:" + port + "\n"); err != nil {
		t.Fatal(err)
	}
	<-reached
	select {
	case <-w.done:
		t.Error("the proxy ended before its command")
	default:
	}
	p.Stop()
	<-w.done
}

// BenchmarkProxied measures what a proxy adds to the start of a confined command.
func BenchmarkProxied(b *testing.B) {
	needsLauncher(b)
	for name, profile := range map[string]confine.Profile{
		"alone": {}, "proxied": {Network: confine.NetworkProxy, Proxy: proxy.New(network.Dialer{})},
	} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				if _, err := Run(b.Context(), Spec{Argv: []string{"/bin/true"}, Confine: &profile}); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
