package wire

import (
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"errors"
	"html"
	"net"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"time"
	"unicode"

	"atelier.dev/atelier/agent/llm"
	"atelier.dev/atelier/internal/outbound"
)

// Config says how to reach a provider.
type Config struct {
	Provider string
	// KeyHeader is the header of the key; empty means Authorization with a
	// bearer token.
	KeyHeader string
	// Local marks a model server that people run themselves, at any address.
	Local bool
	llm.AdapterConfig
}

// Endpoint is one provider's address and key. It is safe for concurrent use.
type Endpoint struct {
	provider  string
	base      string
	key       string
	keyHeader string
	header    http.Header
	client    *http.Client
	idle      time.Duration
	nearby    bool // a server on this machine, or one that people run themselves
	secrets   []string
	// invalid says why no request is possible; nil if requests are.
	invalid *llm.Error
}

// NewEndpoint returns an endpoint. The first call reports a mistake in cfg, as
// an error of class config.
func NewEndpoint(cfg Config) *Endpoint {
	e := &Endpoint{
		provider:  cfg.Provider,
		key:       strings.TrimSpace(cfg.APIKey),
		keyHeader: cfg.KeyHeader,
		header:    cfg.Header,
		client:    cfg.HTTPClient,
		idle:      cfg.IdleTimeout,
	}
	if e.client == nil {
		e.client = sharedClient()
	} else {
		client := *e.client
		client.CheckRedirect = stay
		e.client = &client
	}
	e.addSecret(e.key)
	for _, values := range cfg.Header {
		for _, value := range values { // which may be a scheme and a token
			e.addSecret(value)
			for _, word := range strings.Fields(value) {
				e.addSecret(word)
			}
		}
	}
	u, err := url.Parse(strings.TrimSpace(cfg.BaseURL))
	switch {
	case err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https":
		e.invalid = e.failure(llm.ClassConfig, "the base URL is not an http or https address")
		return e
	case strings.ContainsFunc(e.key, unicode.IsControl):
		e.invalid = e.failure(llm.ClassConfig, "the key holds a line break or another control character")
	}
	if password, ok := u.User.Password(); ok {
		e.addSecret(password)
	}
	e.nearby = cfg.Local || IsLocal(u.Hostname())
	u.RawQuery, u.Fragment = "", ""
	u.Path = strings.TrimRight(u.Path, "/") + "/"
	e.base = u.String()
	return e
}

// BaseURL returns the address with a trailing slash and its credentials.
func (e *Endpoint) BaseURL() string { return e.base }

// Shown returns the address in a form that may be displayed and stored.
func (e *Endpoint) Shown() string {
	u, err := url.Parse(e.base)
	if err != nil {
		return ""
	}
	u.User = nil
	return strings.TrimRight(u.String(), "/")
}

// Key returns the key or password of the user, or an empty string.
func (e *Endpoint) Key() string { return e.key }

// Authorization returns the header that authenticates the user; both are empty
// if there is no key.
func (e *Endpoint) Authorization() (header, value string) {
	switch {
	case e.key == "":
		return "", ""
	case e.keyHeader != "":
		return e.keyHeader, e.key
	default:
		return "Authorization", "Bearer " + e.key
	}
}

// Nearby reports whether a server on this machine or in a private network
// answers, or one that people run themselves.
func (e *Endpoint) Nearby() bool { return e.nearby }

// Client makes the requests.
func (e *Endpoint) Client() *http.Client { return e.client }

// addSecret keeps s out of every message, also in the forms in which servers
// and proxies echo it. A short string without a digit is a placeholder such as
// "ollama": it is not secret, and messages may need the word.
func (e *Endpoint) addSecret(s string) {
	if len(s) < 4 || len(s) < 8 && !strings.ContainsAny(s, "0123456789") {
		return
	}
	quoted, _ := json.Marshal(s) // a string can be encoded
	forms := []string{
		s, url.QueryEscape(s), url.PathEscape(s), strings.Trim(string(quoted), `"`), html.EscapeString(s), hex.EncodeToString([]byte(s)),
	}
	for _, text := range []string{s, "Bearer " + s, ":" + s} {
		for _, encoding := range []*base64.Encoding{base64.RawStdEncoding, base64.RawURLEncoding} {
			forms = append(forms, encoding.EncodeToString([]byte(text)))
		}
	}
	e.secrets = append(e.secrets, forms...)
}

// sharedClient has no overall timeout, which would cut long answers. A call's
// watchdog handles silence.
var sharedClient = sync.OnceValue(func() *http.Client {
	return &http.Client{CheckRedirect: stay, Transport: outbound.Through(outbound.Model, &http.Transport{
		Proxy:               http.ProxyFromEnvironment,
		DialContext:         (&net.Dialer{Timeout: dialTimeout, KeepAlive: 30 * time.Second}).DialContext,
		TLSHandshakeTimeout: dialTimeout,
		ForceAttemptHTTP2:   true,
		MaxIdleConnsPerHost: 8,
		IdleConnTimeout:     90 * time.Second,
	})}
})

var errElsewhere = errors.New("redirects to another address")

// stay refuses to follow a redirect to another origin (another host or port, or
// from https to http), because the key and the conversation would be sent
// along.
func stay(req *http.Request, via []*http.Request) error {
	if from := via[0].URL; req.URL.Scheme != from.Scheme || req.URL.Host != from.Host {
		return errElsewhere
	}
	if len(via) >= maxRedirects {
		return errors.New("too many redirects")
	}
	return nil
}

const maxRedirects = 10

const dialTimeout = 10 * time.Second

// IsLocal reports whether a host is this machine, or one of a private network, by its spelling
// alone.
func IsLocal(host string) bool {
	ip := net.ParseIP(host)
	return ip.IsLoopback() || ip.IsPrivate() || host == "localhost" || strings.HasSuffix(host, ".localhost") || host == "host.docker.internal"
}

// TrimVersion cuts the API's version off the end of an address. Some settings
// include it, and the vendors' SDKs add it themselves.
func TrimVersion(baseURL, version string) string {
	return strings.TrimSuffix(TrimMethod(baseURL), version)
}

// TrimMethod cuts the name of a method off the end of an address, which some
// documentation includes.
func TrimMethod(baseURL string) string {
	address := strings.TrimRight(strings.TrimSpace(baseURL), "/")
	for _, method := range []string{"/chat/completions", "/completions", "/responses", "/messages", "/models"} {
		address = strings.TrimRight(strings.TrimSuffix(address, method), "/")
	}
	return address
}

// Versioned is TrimMethod, and adds the API's version to an address without a path.
func Versioned(baseURL string) string {
	address := TrimMethod(baseURL)
	if u, err := url.Parse(address); err == nil && u.Host != "" && u.Path == "" && u.RawQuery == "" {
		return address + "/v1"
	}
	return address
}
