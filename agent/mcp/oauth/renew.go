package oauth

import (
	"context"
	"errors"
	"net/url"
)

// renewal is one attempt to get a usable token. All requests that need one wait for
// the same attempt, so that a refresh token is used once.
type renewal struct {
	done    chan struct{}
	stale   string
	refused bool
	grant   *grant
	err     error
}

// current returns the grant for a request, renewed if its token ends soon; nil if
// there is none.
func (c *account) current(ctx context.Context) (*grant, error) {
	c.mu.Lock()
	g, loaded := c.grant, c.loaded
	c.mu.Unlock()
	now := c.authority.cfg.Now()
	if loaded && (g.access() == "" || g.fresh(now)) {
		return g, nil
	}
	next, err := c.renew(ctx, g.access(), false)
	if err != nil && g != nil && g.valid(now) && ctx.Err() == nil {
		return g, nil // it could not be renewed yet, and still holds
	}
	return next, err
}

// renew returns a grant whose token is not the stale one, or nil if there is none.
// Refused says that the server has refused the stale token, or a request without one.
func (c *account) renew(ctx context.Context, stale string, refused bool) (*grant, error) {
	c.mu.Lock()
	if g := c.grant; c.loaded && g.access() != "" && g.Access != stale && g.fresh(c.authority.cfg.Now()) {
		c.mu.Unlock()
		return g, nil
	}
	r := c.renewal
	if r == nil || r.stale != stale || refused && !r.refused {
		r = &renewal{done: make(chan struct{}), stale: stale, refused: refused}
		before := c.renewal
		if !c.authority.start(func() { c.run(r, before) }) {
			c.mu.Unlock()
			return nil, ErrClosed
		}
		c.renewal = r
	}
	c.mu.Unlock()
	select {
	case <-r.done:
		return r.grant, r.err
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// run makes one attempt, after the attempt before it. It does not end with the
// request that wanted it, because a refresh token may be gone once it was sent.
func (c *account) run(r, before *renewal) {
	defer close(r.done)
	if before != nil {
		<-before.done
	}
	ctx, cancel := context.WithTimeout(c.authority.ctx, tokenTime)
	defer cancel()
	g, err := c.obtain(ctx, r.stale, r.refused)
	c.mu.Lock()
	defer c.mu.Unlock()
	r.grant, r.err = g, err
	if err == nil {
		c.grant, c.loaded = g, true
	}
	if needs := (*NeedsUser)(nil); errors.As(err, &needs) {
		c.grant, c.loaded = nil, true
	}
	if c.renewal == r {
		c.renewal = nil
	}
}

// obtain takes the first token that works: what is kept, because another process may
// have renewed it, what the configuration gives without a person, and what the
// refresh token gives.
func (c *account) obtain(ctx context.Context, stale string, refused bool) (*grant, error) {
	stored, err := c.load(ctx)
	if err != nil {
		return nil, err
	}
	now := c.authority.cfg.Now()
	if stored.access() != stale && stored != nil && stored.fresh(now) {
		return stored, nil
	}
	if c.configured().Remote.OAuth.Unattended.Grant != "" {
		if !refused && stored == nil {
			return nil, nil // the server may need no token
		}
		return c.obtainUnattended(ctx)
	}
	switch {
	case stored == nil, stored.Access == "" && stored.Refresh == "" && !refused:
		return nil, nil
	case stored.Access == "" && stored.Refresh == "":
		return nil, &NeedsUser{Why: WhyEnded}
	case stored.Refresh == "" && (refused || !stored.valid(now)):
		return nil, c.end(ctx, stored, nil)
	case stored.Refresh == "":
		return stored, nil
	}
	return c.refresh(ctx, stored)
}

// refresh exchanges the refresh token (RFC 6749, 6). One that is refused has ended,
// unless another process has used it meanwhile.
func (c *account) refresh(ctx context.Context, stored *grant) (*grant, error) {
	s, err := c.authority.site(ctx, c.configured())
	if err != nil {
		return nil, err
	}
	form := url.Values{"grant_type": {"refresh_token"}, "refresh_token": {stored.Refresh}, "resource": {stored.Resource}}
	next, err := s.ask(ctx, "a new token", *stored, form)
	if no := (*refusal)(nil); errors.As(err, &no) && no.final() {
		if newer, err := c.load(ctx); err == nil && newer != nil && newer.Refresh != stored.Refresh && newer.fresh(c.authority.cfg.Now()) {
			return newer, nil
		}
		return nil, c.end(ctx, stored, no)
	}
	if err != nil {
		return nil, err
	}
	// A token that cannot be kept is used for as long as the program runs.
	if err := c.save(ctx, next); err != nil {
		c.authority.report(c.configured().Name, err)
	}
	return next, nil
}

// final reports whether the authorisation server will say the same tomorrow.
func (r *refusal) final() bool {
	switch r.code {
	case codeGrant, codeClient, "unauthorized_client", "invalid_scope", "unsupported_grant_type":
		return true
	}
	return false
}

// end forgets tokens that have ended, and keeps what we are to the authorisation
// server unless that has ended, too. It returns the error for the request.
func (c *account) end(ctx context.Context, stored *grant, because *refusal) error {
	left := *stored
	left.Access, left.Refresh, left.Expires, left.Proof = "", "", 0, nil
	needs := &NeedsUser{Why: WhyEnded}
	if because != nil {
		if needs.Err = because; because.code == codeClient {
			left.Client = client{}
		}
	}
	if err := c.save(ctx, &left); err != nil {
		c.authority.report(c.configured().Name, err)
	}
	return needs
}
