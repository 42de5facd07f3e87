package hook

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"regexp"
	"slices"
	"strings"
	"time"

	"atelier.dev/atelier/agent/network"
	"atelier.dev/atelier/agent/sandbox"
	"atelier.dev/atelier/internal/outbound"
)

// request posts the input to an address. Only an answer with a status of success
// counts.
func (e *Engine) request(ctx context.Context, r *run) {
	timed, cancel := context.WithTimeout(ctx, cmp.Or(r.handler.Terms.Timeout, agentTime))
	defer cancel()
	req, err := e.post(timed, r)
	if err != nil {
		return // the run says why
	}
	client, err := e.client(req.URL)
	if err != nil {
		r.fail(CauseRequest, err.Error())
		return
	}
	status, body, err := exchange(client, req)
	switch {
	case ctx.Err() != nil:
		r.outcome = OutcomeInterrupted
	case timed.Err() != nil:
		r.outcome = OutcomeTimedOut
	case err != nil:
		r.fail(CauseRequest, plainError(err))
	case status/100 != 2:
		r.printed = &Printed{Code: status, Stdout: body}
		r.fail(CauseStatus, fmt.Sprint(status))
	case len(body) > outputLimit:
		r.printed = &Printed{Code: status, Stdout: body}
		r.fail(CauseOutput, "")
	default:
		r.printed = &Printed{Code: status, Stdout: body}
		r.read(readText(r.about.Point, body))
	}
}

// post returns the request. On an error, the run has failed.
func (e *Engine) post(ctx context.Context, r *run) (*http.Request, error) {
	address := e.placed(r.handler.Request.URL)
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, address, bytes.NewReader(r.input))
	if err != nil || !isAddress(address) {
		r.fail(CauseRequest, "the address is not right")
		return nil, errors.Join(err, errors.New("no address"))
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("User-Agent", "atelier-hook")
	for name, text := range r.handler.Request.Headers {
		text, missing := e.header(r, text)
		if missing != "" {
			r.fail(CauseNotAllowed, missing)
			return nil, errors.New(missing)
		}
		req.Header.Set(name, text)
		if !slices.Contains(openHeaders, http.CanonicalHeaderKey(name)) {
			_, token, _ := strings.Cut(text, " ") // after a scheme, such as Bearer
			r.secrets = append(r.secrets, text, token)
		}
	}
	return req, nil
}

// openHeaders are headers whose values are not secret.
var openHeaders = []string{"Accept", "Accept-Language", "Content-Type", "User-Agent"}

// variable is a variable in the text of a header.
var variable = regexp.MustCompile(`\$(?:\{([A-Za-z_][A-Za-z0-9_]*)\}|([A-Za-z_][A-Za-z0-9_]*))`)

// header replaces the variables that the hook may use. A hook of a project gets
// none that looks like a secret, unless the user always lets it pass.
func (e *Engine) header(r *run, text string) (filled, missing string) {
	filter := sandbox.Filter{Allow: e.Allow}
	if !r.handler.Origin.Scope.foreign() {
		filter.Inherit = sandbox.InheritAll
	}
	environ := filter.Apply(sandbox.Environ())
	filled = variable.ReplaceAllStringFunc(text, func(found string) string {
		name := strings.Trim(found, "${}")
		at := slices.IndexFunc(environ, func(entry string) bool { return strings.HasPrefix(entry, name+"=") })
		if at < 0 || !slices.Contains(r.handler.Request.Allowed, name) {
			missing = name
			return ""
		}
		secret := environ[at][len(name)+1:]
		r.secrets = append(r.secrets, secret)
		return secret
	})
	return filled, missing
}

// The limits of an exchange with a server.
const (
	mostRedirects  = 3
	mostHeader     = 64 << 10
	handshakeLimit = 10 * time.Second
)

// client returns a client that reaches the address and nothing else: no proxy,
// no other host, and no private network behind a public name. The user has seen
// the address before the hook runs, so that it need not be among the hosts of
// commands; those that are denied stay denied.
func (e *Engine) client(to *url.URL) (*http.Client, error) {
	var set network.Settings
	if e.Network != nil {
		set.DeniedDomains = e.Network().DeniedDomains
	}
	set.AllowedDomains = []string{hostPort(to)}
	rules, err := network.New(set)
	if err != nil {
		return nil, fmt.Errorf("read the rules for hosts: %w", err)
	}
	transport := &http.Transport{
		DialContext: network.Dialer{Rules: rules}.DialContext, DisableKeepAlives: true,
		TLSHandshakeTimeout: handshakeLimit, MaxResponseHeaderBytes: mostHeader,
	}
	return &http.Client{Transport: outbound.Through(outbound.Hook, transport), CheckRedirect: func(next *http.Request, via []*http.Request) error {
		switch {
		case len(via) > mostRedirects:
			return errors.New("the server redirects too often")
		case next.URL.Scheme != to.Scheme || hostPort(next.URL) != hostPort(to):
			return fmt.Errorf("the server redirects to another host, %s", next.URL.Host)
		case next.Method != http.MethodPost:
			return errors.New("the server redirects to something that takes no input")
		}
		return nil
	}}, nil
}

func hostPort(u *url.URL) string {
	port := u.Port()
	if port == "" {
		port = map[string]string{"https": "443"}[u.Scheme]
	}
	return net.JoinHostPort(strings.ToLower(u.Hostname()), cmp.Or(port, "80"))
}

// exchange sends a request and reads the answer, one byte more than is allowed at
// most.
func exchange(client *http.Client, req *http.Request) (status int, body string, err error) {
	resp, err := client.Do(req)
	if err != nil {
		return 0, "", err
	}
	defer resp.Body.Close()
	read, err := io.ReadAll(io.LimitReader(resp.Body, outputLimit+1))
	return resp.StatusCode, strings.ToValidUTF8(string(read), "\uFFFD"), err
}

// plainError returns the error without the address, which may have a secret in
// it.
func plainError(err error) string {
	var wrapped *url.Error
	if errors.As(err, &wrapped) {
		err = wrapped.Err
	}
	if errors.Is(err, os.ErrDeadlineExceeded) {
		return "it did not answer in time"
	}
	return err.Error()
}
