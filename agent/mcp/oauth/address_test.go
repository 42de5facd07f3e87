package oauth

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/netip"
	"net/url"
	"strings"
	"testing"

	"atelier.dev/atelier/agent/mcp/oauth/oauthtest"
)

func TestAddresses(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{ // a part of the error
		"https://as.example.com":                                "",
		"https://as.example.com:8443/a?b=c":                     "",
		"https://10.1.2.3/token":                                "", // where it leads is checked when it is dialled
		"http://localhost:8080/x":                               "",
		"http://127.0.0.1/x":                                    "",
		"http://[::1]:80/x":                                     "",
		"":                                                      "not a web address",
		"as.example.com/token":                                  "not a web address",
		"//as.example.com/token":                                "not a web address",
		"javascript:alert(1)":                                   "not a web address",
		"javascript://localhost/%0aalert(1)":                    "not a web address",
		"file:///etc/passwd":                                    "not a web address",
		"data:text/html,x":                                      "not a web address",
		"vbscript:x":                                            "not a web address",
		"ftp://as.example.com/":                                 "not a web address",
		"https:as.example.com":                                  "not a web address",
		"https://":                                              "not a web address",
		"http://as.example.com/token":                           "not encrypted",
		"http://192.168.0.1/token":                              "not encrypted",
		"http://localhost.example.com/token":                    "not encrypted",
		"http://127.0.0.1.example.com/token":                    "not encrypted",
		"https://user@as.example.com/":                          "user name",
		"https://as.example.com@evil.example/":                  "user name",
		"https://as.example.com/#fragment":                      "fragment",
		"https://as.example.com/#":                              "fragment",
		"https://2130706433/":                                   "plain name",
		"https://0x7f.1/":                                       "plain name",
		"https://as.example.com./":                              "plain name",
		"https://as.example.com%2f.evil.example/":               "",
		"https://as.ex\u0430mple.com/":                          "plain name",
		"https://[fe80::1%25eth0]/":                             "plain name",
		"https://as.example.com:0/":                             "plain name",
		"https://as.example.com:99999/":                         "plain name",
		"https://as.example.com/" + strings.Repeat("a", maxURL): "too long",
		"https://as.example.com/\x00":                           "not a web address",
	} {
		_, err := checkURL("address", text)
		if want == "" && err != nil && !strings.Contains(text, "%2f") {
			t.Errorf("%q: %v", text, err)
		}
		if want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("%q: %v, want %q", text, err, want)
		}
	}
}

// names is a resolver.
type names map[string]string

func (n names) look(_ context.Context, host string) (out []netip.Addr, err error) {
	for text := range strings.FieldsSeq(n[host]) {
		out = append(out, netip.MustParseAddr(text))
	}
	if len(out) == 0 {
		err = errors.New("no such host")
	}
	return out, err
}

// A server cannot have us reach a network that it is not in.
func TestReach(t *testing.T) {
	t.Parallel()
	dns := names{
		"public.example": "93.184.216.34", "internal.example": "10.1.2.3", "loop.example": "127.0.0.1",
		"both.example": "93.184.216.34 10.1.2.3", "meta.example": "169.254.169.254", "six.example": "fd00::1",
	}
	for _, test := range []struct {
		server, host, addr string
		want               bool
	}{
		{"public.example", "as.example", "93.184.216.35", true},
		{"public.example", "as.example", "10.0.0.1", false},
		{"public.example", "as.example", "192.168.1.1", false},
		{"public.example", "as.example", "127.0.0.1", false},
		{"public.example", "as.example", "::1", false},
		{"public.example", "as.example", "::ffff:127.0.0.1", false},
		{"public.example", "as.example", "fd00::2", false},
		{"public.example", "as.example", "169.254.169.254", false},
		{"public.example", "as.example", "100.100.100.200", false},
		{"public.example", "as.example", "0.0.0.0", false},
		{"public.example", "as.example", "64:ff9b::a00:1", false},
		{"internal.example", "as.example", "10.9.9.9", true},
		{"internal.example", "as.example", "fd00::2", true},
		{"internal.example", "as.example", "127.0.0.1", false},
		{"internal.example", "as.example", "169.254.169.254", false},
		{"internal.example", "as.example", "93.184.216.35", true},
		{"six.example", "as.example", "10.9.9.9", true},
		{"both.example", "as.example", "10.9.9.9", false},
		{"both.example", "both.example", "10.1.2.3", true}, // the server itself, which is reached anyway
		{"loop.example", "localhost", "127.0.0.1", true},
		{"localhost", "localhost", "::1", true},
		{"localhost", "as.example", "10.9.9.9", false},
		{"127.0.0.1", "as.example", "127.0.0.1", true},
		{"meta.example", "as.example", "169.254.169.254", false},
	} {
		r, err := reachOf(t.Context(), &url.URL{Scheme: "https", Host: test.server}, dns.look)
		if err != nil {
			t.Fatal(err)
		}
		if got := r.allows(test.host, netip.MustParseAddr(test.addr)); got != test.want {
			t.Errorf("for %s, %s at %s: %v", test.server, test.host, test.addr, got)
		}
	}
}

// A name that leads elsewhere from one look-up to the next is checked with the address that
// is dialled.
func TestTheAddressIsCheckedWhenItIsDialled(t *testing.T) {
	t.Parallel()
	dns := names{"public.example": "93.184.216.34", "as.example": "127.0.0.1"}
	r, err := reachOf(t.Context(), &url.URL{Scheme: "https", Host: "public.example"}, dns.look)
	if err != nil {
		t.Fatal(err)
	}
	for _, address := range []string{"https://as.example/", "https://127.0.0.1/", "https://localhost/", "https://[::1]/", "https://169.254.169.254/latest"} {
		res, err := r.client().Get(address)
		if err == nil {
			res.Body.Close()
			t.Fatalf("%s answered", address)
		}
		if refused := (*addressError)(nil); !errors.As(err, &refused) {
			t.Errorf("%s: %v", address, err)
		}
	}
}

// hostile is a world whose server answers some paths in its own way.
func hostile(t *testing.T, paths map[string]http.HandlerFunc) *world {
	return newWorld(t, oauthtest.Config{Intercept: func(w http.ResponseWriter, r *http.Request) bool {
		answer, ok := paths[r.URL.Path]
		if ok {
			answer(w, r)
		}
		return ok
	}})
}

const (
	aboutResource = "/.well-known/oauth-protected-resource/mcp"
	aboutIssuer   = "/.well-known/oauth-authorization-server/issuer"
)

func says(format string, args ...any) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		_, _ = fmt.Fprintf(w, format, args...)
	}
}

func to(address string) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, address, http.StatusFound) }
}

// Documents that are wrong, or meant to harm.
func TestDiscoveryOfHostileServers(t *testing.T) {
	t.Parallel()
	endless := func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		for range 64 {
			if _, err := io.WriteString(w, `{"a":"`+strings.Repeat("x", 64<<10)); err != nil {
				return
			}
		}
	}
	for name, test := range map[string]struct {
		path   string
		answer http.HandlerFunc
		want   string
	}{
		"redirect into the private network": {aboutResource, to("https://10.0.0.1/secret"), "private network"},
		"redirect to the cloud":             {aboutResource, to("https://169.254.169.254/latest/meta-data"), "private network"},
		"redirect without encryption":       {aboutResource, to("http://example.com/"), "not encrypted"},
		"redirect to a script":              {aboutResource, to("javascript:alert(1)"), "not a web address"},
		"redirect to a file":                {aboutResource, to("file:///etc/passwd"), "not a web address"},
		"redirect to itself":                {aboutResource, to(aboutResource), "too often"},
		"huge":                              {aboutResource, endless, "256 kB"},
		"another server":                    {aboutResource, says(`{"resource":"https://evil.example/mcp?secret=1","authorization_servers":["https://as.example"]}`), "another server, evil.example"},
		"a neighbour":                       {aboutResource, func(w http.ResponseWriter, r *http.Request) { says(`{"resource":"http://%s/mc"}`, r.Host)(w, r) }, "another server"},
		"no authorisation server":           {aboutResource, func(w http.ResponseWriter, r *http.Request) { says(`{"resource":"http://%s"}`, r.Host)(w, r) }, "names no"},
		"issuer is a script": {aboutResource, func(w http.ResponseWriter, r *http.Request) {
			says(`{"resource":"http://%s","authorization_servers":["javascript:alert(1)"]}`, r.Host)(w, r)
		}, "not a web address"},
		"issuer in the private network": {aboutResource, func(w http.ResponseWriter, r *http.Request) {
			says(`{"resource":"http://%s","authorization_servers":["https://192.168.1.1/"]}`, r.Host)(w, r)
		}, "private network"},
		"not JSON":                  {aboutResource, says(`<html>`), "not the JSON"},
		"wrong JSON":                {aboutResource, says(`{"resource":{"a":1}}`), "not the JSON"},
		"an error":                  {aboutResource, func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusInternalServerError) }, "status 500"},
		"a page":                    {aboutResource, func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "<html>") }, "not where the server says"},
		"another issuer":            {aboutIssuer, says(`{"issuer":"https://evil.example"}`), "it is another, evil.example"},
		"no issuer":                 {aboutIssuer, says(`{}`), "it is another"},
		"no metadata of the issuer": {aboutIssuer, http.NotFound, "publishes no metadata"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := hostile(t, map[string]http.HandlerFunc{test.path: test.answer})
			w.needs("whoami", WhyFirst)
			_, _, err := w.a.Authorise(t.Context(), w.server)
			if err == nil || !strings.Contains(err.Error(), test.want) || strings.Contains(err.Error(), "secret") {
				t.Errorf("authorise: %v, want %q", err, test.want)
			}
			w.counted(map[string]int{"register": 0, "authorize": 0})
		})
	}
}

func TestEndpointsOfHostileIssuers(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		member string
		value  any
		want   string
	}{
		"consent by a script":        {"authorization_endpoint", "javascript:alert(1)", "authorisation endpoint is not a web address"},
		"consent without encryption": {"authorization_endpoint", "http://as.example.com/authorize", "not encrypted"},
		"no place for consent":       {"authorization_endpoint", "", "authorisation endpoint is not a web address"},
		"tokens from a file":         {"token_endpoint", "file:///etc/passwd", "token endpoint is not a web address"},
		"tokens without encryption":  {"token_endpoint", "http://as.example.com/token", "not encrypted"},
		"register at a user":         {"registration_endpoint", "https://a:b@as.example.com/", "user name"},
		"register in the network":    {"registration_endpoint", "https://10.0.0.1/register", "private network"},
		"revoke by a script":         {"revocation_endpoint", "data:,x", "not a web address"},
		"no PKCE":                    {"code_challenge_methods_supported", nil, "PKCE"},
		"plain PKCE":                 {"code_challenge_methods_supported", []string{"plain"}, "PKCE"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, oauthtest.Config{Issuer: func(doc map[string]any) { doc[test.member] = test.value }})
			_, _, err := w.a.Authorise(t.Context(), w.server)
			if err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("authorise: %v, want %q", err, test.want)
			}
		})
	}
	t.Run("tokens from the private network", func(t *testing.T) {
		t.Parallel()
		w := newWorld(t, oauthtest.Config{Issuer: func(doc map[string]any) { doc["token_endpoint"] = "https://10.0.0.1/token" }})
		if err := w.consents(); err == nil || !strings.Contains(err.Error(), "private network") {
			t.Errorf("authorise: %v", err)
		}
	})
}

// Where a server's documents are, in the versions of the protocol.
func TestWhereDocumentsAre(t *testing.T) {
	t.Parallel()
	absent := http.NotFound
	silent := func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusUnauthorized) }
	for name, paths := range map[string]map[string]http.HandlerFunc{
		"the challenge says nothing": {"/mcp": silent},
		"at the root": {"/mcp": silent, aboutResource: absent, "/.well-known/oauth-protected-resource": func(w http.ResponseWriter, r *http.Request) {
			says(`{"resource":"http://%s","authorization_servers":["http://%[1]s/issuer/"]}`, r.Host)(w, r)
		}},
		"OpenID Connect": {aboutIssuer: absent, "/issuer/.well-known/openid-configuration": func(w http.ResponseWriter, r *http.Request) {
			says(`{"issuer":"http://%[1]s/issuer","authorization_endpoint":"http://%[1]s/authorize","token_endpoint":"http://%[1]s/token","registration_endpoint":"http://%[1]s/register","code_challenge_methods_supported":["S256"],"token_endpoint_auth_methods_supported":["none"]}`, r.Host)(w, r)
		}},
		"of March 2025": {"/mcp": silent, aboutResource: absent},
		"moved": {aboutResource: to("/moved"), "/moved": func(w http.ResponseWriter, r *http.Request) {
			says(`{"resource":"http://%s/mcp","authorization_servers":["http://%[1]s/issuer"]}`, r.Host)(w, r)
		}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := hostile(t, paths)
			if _, _, err := w.a.Authorise(t.Context(), w.server); err != nil {
				t.Errorf("authorise: %v", err)
			}
			w.counted(map[string]int{"register": 1})
		})
	}
}

// A server of another company's network may move its authorisation server; what we are
// to the old one is nothing to the new one.
func TestTheAuthorisationServerChanges(t *testing.T) {
	t.Parallel()
	second, err := oauthtest.Start(oauthtest.Config{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(second.Close)
	moved := false
	w := newWorld(t, oauthtest.Config{Resource: func(doc map[string]any) {
		if moved {
			doc["authorization_servers"] = []string{second.Issuer}
		}
	}})
	w.authorise()
	before := w.drawer.text(w.server)
	moved = true
	w.at.Revoke()
	w.needs("whoami", WhyEnded)
	w.authorise()
	if second.Count("register") != 1 || second.Count("authorization_code") != 1 {
		t.Errorf("the new one: %d registrations, %d codes", second.Count("register"), second.Count("authorization_code"))
	}
	if after := w.drawer.text(w.server); after == before || strings.Contains(after, w.at.Issuer) {
		t.Errorf("kept: %s", after)
	}
}

// Behind a proxy only what an address spells can be checked.
func TestHostsBehindAProxy(t *testing.T) {
	t.Parallel()
	r := reach{server: "public.example", at: placePublic}
	for host, want := range map[string]bool{
		"as.example": true, "93.184.216.34": true, "public.example": true,
		"localhost": false, "LOCALHOST": false, "127.0.0.1": false, "::1": false, "10.0.0.1": false, "169.254.169.254": false,
	} {
		if err := r.checkHost(host); (err == nil) != want {
			t.Errorf("%s: %v", host, err)
		}
	}
}
