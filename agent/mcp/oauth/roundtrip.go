package oauth

import (
	"context"
	"io"
	"net/http"
	"net/url"

	"atelier.dev/atelier/agent/mcp"
)

// RoundTripper returns a round tripper that adds the server's token to requests for
// the server's own origin, renews it when it ends, and fails with a [NeedsUser] if
// the user has to authorise Atelier. Requests that already carry an authorisation
// are sent as they are. Base must not follow redirects by itself.
func (a *Authority) RoundTripper(s mcp.Server, base http.RoundTripper) http.RoundTripper {
	home, err := url.Parse(s.Remote.URL)
	if err != nil {
		return base
	}
	return &carrying{account: a.account(s), home: home, base: base}
}

type carrying struct {
	account *account
	home    *url.URL
	base    http.RoundTripper
}

// CloseIdleConnections lets an http.Client close those of the base.
func (t *carrying) CloseIdleConnections() {
	if base, ok := t.base.(interface{ CloseIdleConnections() }); ok {
		base.CloseIdleConnections()
	}
}

// attempts limits how often one request is sent: with the token that is known,
// renewed, and with a nonce for either.
const attempts = 4

// RoundTrip implements [http.RoundTripper].
func (t *carrying) RoundTrip(req *http.Request) (*http.Response, error) {
	if req.Header.Get("Authorization") != "" || !sameOrigin(req.URL, t.home) {
		return t.base.RoundTrip(req)
	}
	g, err := t.account.current(req.Context())
	if err != nil {
		closeBody(req)
		return nil, err
	}
	sent := req
	for attempt := 1; ; attempt++ {
		res, err := t.base.RoundTrip(t.account.carry(sent, g))
		if err != nil {
			return nil, err
		}
		next, err := t.account.judge(req.Context(), res, g)
		if err != nil {
			drain(res)
			return nil, err
		}
		if next == nil || attempt == attempts {
			return res, nil
		}
		if sent = again(req); sent == nil {
			return res, nil
		}
		drain(res)
		g = next
	}
}

// carry returns the request with the token, and with the proof of its key.
func (c *account) carry(req *http.Request, g *grant) *http.Request {
	if g.access() == "" {
		return req
	}
	out := req.Clone(req.Context())
	if g.Proof == nil {
		out.Header.Set("Authorization", "Bearer "+g.Access)
		return out
	}
	c.mu.Lock()
	nonce := c.nonce
	c.mu.Unlock()
	out.Header.Set("Authorization", "DPoP "+g.Access)
	out.Header.Set("DPoP", g.Proof.prove(req.Method, req.URL, g.Access, nonce, c.authority.cfg.Now()))
	return out
}

// judge returns the grant with which the request is to be sent again, nil if the
// answer is the answer, or why the user is needed.
func (c *account) judge(ctx context.Context, res *http.Response, g *grant) (*grant, error) {
	nonced := c.learnNonce(res, g)
	if res.StatusCode != http.StatusUnauthorized && res.StatusCode != http.StatusForbidden {
		return nil, nil
	}
	said := challengeOf(res.Header)
	if said.Code == codeNonce {
		if !nonced {
			return nil, nil
		}
		return g, nil
	}
	if res.StatusCode == http.StatusForbidden {
		// A server that refuses what it asked for would have us ask for ever.
		missing := g.missing(said.Scopes)
		if said.Code != codeScope || len(missing) == 0 {
			return nil, nil
		}
		c.remember(said)
		return nil, &NeedsUser{Why: WhyScopes, Scopes: missing}
	}
	c.remember(said)
	next, err := c.renew(ctx, g.access(), true)
	switch {
	case err != nil:
		return nil, err
	case next.access() != "" && next.access() != g.access():
		return next, nil
	case g.access() != "":
		return nil, &NeedsUser{Why: WhyRefused, Scopes: said.Scopes}
	}
	return nil, &NeedsUser{Why: WhyFirst, Scopes: said.Scopes}
}

// learnNonce keeps the nonce that a server wants in proofs, and reports whether it
// is another one.
func (c *account) learnNonce(res *http.Response, g *grant) bool {
	nonce := res.Header.Get("DPoP-Nonce")
	if g == nil || g.Proof == nil || !isToken(nonce) {
		return false
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.nonce == nonce {
		return false
	}
	c.nonce = nonce
	return true
}

func (c *account) remember(said challenge) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.said, c.refused = said, true
}

// again returns the request with its body from the start, or nil if the body cannot
// be sent twice.
func again(req *http.Request) *http.Request {
	if req.Body == nil || req.Body == http.NoBody {
		return req
	}
	if req.GetBody == nil {
		return nil
	}
	body, err := req.GetBody()
	if err != nil {
		return nil
	}
	out := req.Clone(req.Context())
	out.Body = body
	return out
}

func closeBody(req *http.Request) {
	if req.Body != nil {
		_ = req.Body.Close()
	}
}

// drain reads the little that a refusal says, so that the connection can be used
// again.
func drain(res *http.Response) {
	_, _ = io.CopyN(io.Discard, res.Body, 4<<10)
	_ = res.Body.Close()
}
