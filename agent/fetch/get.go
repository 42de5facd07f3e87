package fetch

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/netip"
	"net/textproto"
	"net/url"
	"strconv"
	"strings"
	"time"

	"atelier.dev/atelier/agent/network"
	"atelier.dev/atelier/internal/outbound"
	"golang.org/x/net/idna"
)

// The limits of an exchange.
const (
	maxAddress    = 2_000 // characters
	maxRedirects  = 5
	maxHeader     = 64 << 10
	handshakeTime = 10 * time.Second
	usualTime     = 30 * time.Second
	// maxPage limits a page as it is after decompression, in bytes.
	maxPage = 4 << 20
	// maxPDF limits a PDF, of which a beginning is no use.
	maxPDF = 20 << 20
)

// address is an address of the web that may be asked for.
type address struct {
	url    *url.URL
	target network.Target
}

func (a address) String() string { return a.url.String() }

// parse reads an address. The error is a phrase for the model.
func parse(text string) (address, error) {
	if len(text) > maxAddress {
		return address{}, fmt.Errorf("the address has more than %d characters", maxAddress)
	}
	u, err := url.Parse(text)
	switch {
	case err != nil || u.Opaque != "" || u.Host == "":
		return address{}, errors.New("the address is not a whole one: write it as https://host/path")
	case u.Scheme != "http" && u.Scheme != "https":
		return address{}, errors.New("only addresses with http:// and https:// can be fetched")
	case u.User != nil:
		return address{}, errors.New("an address with a user or a password cannot be fetched: leave them out")
	}
	port := uint64(443)
	if u.Scheme == "http" {
		port = 80
	}
	if digits := u.Port(); digits != "" {
		if port, err = strconv.ParseUint(digits, 10, 16); err != nil {
			return address{}, errors.New("the port of the address is not a number from 1 to 65535")
		}
	}
	target, err := network.NewTarget(u.Hostname(), uint16(port))
	if err != nil {
		return address{}, fmt.Errorf("the address cannot be fetched: %w; write a name in another script in its ASCII form, which begins with xn--", err)
	}
	return address{u, target}, nil
}

// tidied returns an address as a model means it: with a scheme, the host in lower case
// and in ASCII, without a fragment. What cannot be read stays as it is.
func tidied(text string) string {
	text = strings.TrimSpace(text)
	if text != "" && !strings.Contains(text, "://") {
		text = "https://" + text
	}
	u, err := url.Parse(text)
	if err != nil {
		return text
	}
	u.Fragment, u.RawFragment = "", ""
	if host, err := idna.Lookup.ToASCII(u.Hostname()); err == nil && host != "" {
		if u.Port() != "" {
			host += ":" + u.Port()
		}
		u.Host = host
	}
	return u.String()
}

// openHeaders are the headers that a call may set.
var openHeaders = map[string]string{
	"Accept":          "text/markdown, text/html;q=0.9, application/xhtml+xml;q=0.9, text/plain;q=0.8, application/json;q=0.8, */*;q=0.5",
	"Accept-Language": "en, *;q=0.5",
}

func mayBeSent(header string) bool {
	_, ok := openHeaders[textproto.CanonicalMIMEHeaderKey(header)]
	return ok
}

// fetch asks for a page. An error is a sentence for the model.
func (cfg Config) fetch(ctx context.Context, at address, headers map[string]string) (page, error) {
	timed, cancel := context.WithTimeout(ctx, cmp.Or(cfg.Timeout, usualTime))
	defer cancel()
	client, err := cfg.client(timed, at.target)
	if err != nil {
		return page{}, err
	}
	req, err := http.NewRequestWithContext(timed, http.MethodGet, at.String(), nil)
	if err != nil {
		return page{}, fmt.Errorf("the address cannot be read: %w", err)
	}
	for name, value := range openHeaders {
		req.Header.Set(name, value)
	}
	for name, value := range headers {
		req.Header.Set(name, value)
	}
	req.Header.Set("User-Agent", "Mozilla/5.0 (compatible; Atelier)")
	p, err := exchange(timed, client, req)
	var refusal *network.Refusal
	switch {
	case err == nil:
		return p, nil
	case ctx.Err() != nil:
		return page{}, fmt.Errorf("the call was interrupted: %w", ctx.Err())
	case timed.Err() != nil:
		return page{}, fmt.Errorf("the host %s did not answer in full within %s. Try it again later, or use another source", at.target.Host(), cmp.Or(cfg.Timeout, usualTime))
	case errors.As(err, &refusal):
		return page{}, fmt.Errorf("the page %s was not fetched: %w. The hosts that may be reached are in the user's settings (sandbox.network)", at, explained(refusal))
	}
	return page{}, fmt.Errorf("the page %s could not be fetched: %w", at, bare(err))
}

// explained says what a refusal means for a page.
func explained(r *network.Refusal) error {
	switch r.Reason {
	case network.Closed, network.Unlisted, network.Local, network.Private:
		return fmt.Errorf("%s is this computer, a private network or a cloud's own service, which is only reached if the user allows it", r.Host)
	}
	return r
}

// bare returns an error without the address that package net/http puts before it.
func bare(err error) error {
	var u *url.Error
	if errors.As(err, &u) {
		return u.Err
	}
	return err
}

// client returns a client that reaches one host and nothing else: no proxy, and nothing
// that is not public behind its name.
func (cfg Config) client(ctx context.Context, to network.Target) (*http.Client, error) {
	var set network.Settings
	if cfg.Hosts != nil {
		var err error
		if set, err = cfg.Hosts(ctx); err != nil {
			return nil, fmt.Errorf("the settings say which hosts may be reached, and cannot be read: %w", err)
		}
	}
	set.AllowLocalBinding = false // which is about what commands listen on
	if public(to) {
		set.AllowedDomains = append(append([]string(nil), set.AllowedDomains...), to.String())
	}
	rules, _ := network.New(set) // what cannot be read allows nothing
	transport := &http.Transport{
		DialContext: network.Dialer{Rules: rules, Lookup: cfg.Lookup}.DialContext, DisableKeepAlives: true, ForceAttemptHTTP2: true,
		TLSHandshakeTimeout: handshakeTime, MaxResponseHeaderBytes: maxHeader,
	}
	return &http.Client{Transport: outbound.Through(outbound.Page, transport), CheckRedirect: func(next *http.Request, via []*http.Request) error {
		if len(via) > maxRedirects {
			return fmt.Errorf("it leads on to itself more than %d times", maxRedirects)
		}
		if to, err := parse(next.URL.String()); err != nil || !sameHost(to.url, via[0].URL) {
			return http.ErrUseLastResponse
		}
		next.Header.Del("Referer")
		return nil
	}}, nil
}

// public reports whether a host may be on the internet, as far as that can be told before
// its name is looked up.
func public(t network.Target) bool {
	if addr, err := netip.ParseAddr(t.Host()); err == nil {
		return network.Public(addr)
	}
	return strings.Contains(t.Host(), ".")
}

// sameHost reports whether a redirect stays where it was allowed: on the same host and
// port, or from http to https.
func sameHost(next, first *url.URL) bool {
	if !strings.EqualFold(next.Hostname(), first.Hostname()) {
		return false
	}
	return next.Scheme == first.Scheme && next.Port() == first.Port() || first.Scheme == "http" && next.Scheme == "https" && first.Port() == "" && next.Port() == ""
}

func exchange(ctx context.Context, client *http.Client, req *http.Request) (page, error) {
	resp, err := client.Do(req)
	if err != nil {
		return page{}, err
	}
	defer resp.Body.Close()
	p := page{url: resp.Request.URL.String(), status: resp.StatusCode}
	if resp.StatusCode/100 == 3 {
		next, err := resp.Location()
		if err != nil {
			return page{}, fmt.Errorf("it answered with the status %d and no address to go on to", resp.StatusCode)
		}
		if to, err := parse(next.String()); err == nil {
			p.redirect = to.String()
			return p, nil
		}
		return page{}, errors.New("it leads to an address that cannot be fetched")
	}
	most := maxPage
	if strings.HasPrefix(resp.Header.Get("Content-Type"), "application/pdf") {
		most = maxPDF
	}
	body, err := io.ReadAll(io.LimitReader(resp.Body, int64(most)+1))
	if err != nil && len(body) == 0 {
		return page{}, err
	}
	if ctx.Err() != nil {
		return page{}, ctx.Err()
	}
	broken := err != nil
	if cut := len(body) > most; cut || broken {
		body = body[:min(len(body), most)]
		p.cut = cutShort
		if broken {
			p.cut = cutBroken
		}
	}
	return p, p.read(ctx, resp.Header.Get("Content-Type"), body)
}
