package oauth

import (
	"cmp"
	"context"
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/base64"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"time"

	"atelier.dev/atelier/agent/mcp"
)

const (
	prepareTime = 30 * time.Second // to find and register at an authorisation server
	flowTime    = 10 * time.Minute // for the user to consent
)

// flow is one time that the user authorises Atelier.
type flow struct {
	account *account
	site    *site
	issuer  issuerMetadata
	grant   grant // what is asked for, without tokens yet
	reused  bool  // the client was registered for an earlier flow

	state, verifier string
	begun           sync.Once
	end             sync.Once
	done            chan struct{} // closed when err is set
	closed          chan struct{} // closed when the port is
	err             error
}

// Authorise begins to authorise Atelier at a server. The user opens the returned
// address in a browser, which comes back to a port of this computer. Wait returns nil
// once there are tokens, or why there are none; when its context ends, so does the
// attempt, as it does after ten minutes, with [Authority.Close], and when
// Authorise is called again for the server.
func (a *Authority) Authorise(ctx context.Context, s mcp.Server) (address string, wait func(context.Context) error, err error) {
	if s.Remote.OAuth.Unattended.Grant != "" {
		return "", nil, ErrUnattended
	}
	ctx, cancel := context.WithTimeout(ctx, prepareTime)
	defer cancel()
	c := a.account(s)
	f, err := c.prepare(ctx)
	if err != nil {
		return "", nil, err
	}
	c.replace(f, ErrReplaced)
	at, err := listen(s.Remote.OAuth, f.grant.Client.Redirect)
	if err == nil {
		if err = f.become(ctx, at.address); err == nil && a.start(func() { f.serve(at) }) {
			return f.address(), f.wait, nil
		}
		at.close()
	}
	f.finish(cmp.Or(err, ErrClosed))
	close(f.closed)
	return "", nil, f.err
}

// replace ends the flow before this one, for the given reason, and waits until its port
// is free again and nothing of it is kept any more.
func (c *account) replace(f *flow, why error) {
	c.mu.Lock()
	before := c.flow
	c.flow = f
	c.mu.Unlock()
	if before != nil {
		before.finish(why)
		<-before.closed
	}
}

// prepare finds out where the user consents, and to what.
func (c *account) prepare(ctx context.Context) (*flow, error) {
	s, err := c.authority.site(ctx, c.configured())
	if err != nil {
		return nil, err
	}
	c.mu.Lock()
	said, refused := c.said, c.refused
	c.mu.Unlock()
	if !refused {
		if said, err = s.probe(ctx); err != nil {
			return nil, err
		}
	}
	found, err := s.discover(ctx, said)
	if err != nil {
		return nil, err
	}
	stored, err := c.load(ctx)
	if err != nil {
		return nil, err
	}
	f := &flow{account: c, site: s, issuer: found.issuer, state: rand.Text(), verifier: rand.Text() + rand.Text(), done: make(chan struct{}), closed: make(chan struct{})}
	f.grant = grant{
		Resource: found.resource, Issuer: found.issuer.Issuer, Endpoint: found.issuer.Token, Revocation: found.issuer.Revocation,
	}
	var granted []string
	if stored != nil && stored.Issuer == f.grant.Issuer { // a client is nothing to another authorisation server
		f.grant.Client, granted = stored.Client, stored.Scopes
	}
	f.grant.Scopes = s.scopes(found, said, granted)
	f.grant.Proof, err = found.proof()
	return f, err
}

// probe asks the server how it wants us to authorise, if it has not said so yet.
func (s *site) probe(ctx context.Context) (challenge, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, s.url.String(), strings.NewReader(`{"jsonrpc":"2.0","id":1,"method":"ping"}`))
	if err != nil {
		return challenge{}, err
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Accept", "application/json, text/event-stream")
	res, err := s.client.Do(req)
	if err != nil {
		return challenge{}, fmt.Errorf("ask the server: %w", bare(err))
	}
	drain(res)
	return challengeOf(res.Header), nil
}

// become makes us a client of the authorisation server: the one of the configuration,
// one with a metadata document, the one that was registered before for the same
// address, or a new one.
func (f *flow) become(ctx context.Context, redirect string) error {
	cfg, known := f.site.cfg, f.grant.Client
	switch {
	case cfg.ClientID != "":
		f.grant.Client = client{ID: cfg.ClientID, Secret: cfg.ClientSecret, Method: method(f.issuer.AuthMethods, cfg.ClientSecret)}
	case cfg.MetadataURL != "" && f.issuer.ClientIDs:
		f.grant.Client = client{ID: cfg.MetadataURL, Method: authNone}
	case known.ID != "" && known.Redirect == redirect && (known.Expires == 0 || f.site.now().Unix() < known.Expires):
		f.reused = true
	default:
		registered, err := f.site.register(ctx, f.issuer, f.account.authority.cfg.Version, redirect, f.grant.Scopes)
		if err != nil {
			return err
		}
		f.grant.Client = registered
	}
	f.grant.Client.Redirect = redirect
	return nil
}

// address is where the user consents.
func (f *flow) address() string {
	u, err := url.Parse(f.issuer.Authorization) // checked before
	if err != nil {
		return ""
	}
	sum := sha256.Sum256([]byte(f.verifier))
	q := u.Query()
	for name, value := range map[string]string{
		"response_type": "code", "client_id": f.grant.Client.ID, "redirect_uri": f.grant.Client.Redirect, "state": f.state,
		"code_challenge": base64.RawURLEncoding.EncodeToString(sum[:]), "code_challenge_method": "S256", "resource": f.grant.Resource,
	} {
		q.Set(name, value)
	}
	q.Del("scope")
	if len(f.grant.Scopes) > 0 {
		q.Set("scope", strings.Join(f.grant.Scopes, " "))
	}
	if slices.Contains(f.grant.Scopes, scopeOffline) {
		q.Set("prompt", "consent") // OpenID Connect, 11
	}
	u.RawQuery = q.Encode()
	return u.String()
}

// returned handles what the browser came back with. Known reports whether it belongs to
// this flow; anything may call a port of this computer.
func (f *flow) returned(q url.Values) (known bool, err error) {
	state := q["state"]
	if len(state) != 1 || subtle.ConstantTimeCompare([]byte(state[0]), []byte(f.state)) != 1 {
		return false, nil
	}
	f.begun.Do(func() { f.finish(f.redeem(q)) })
	return true, f.err // set, because finish was called before
}

// redeem exchanges the code for tokens, and keeps them.
func (f *flow) redeem(q url.Values) error {
	select {
	case <-f.done:
		return f.err
	default:
	}
	if err := f.checkIssuer(q["iss"]); err != nil {
		return err
	}
	if code := q.Get("error"); code != "" {
		return errors.Join(ErrDenied, &refusal{what: "the user's consent", code: printable(code, 60), words: printable(q.Get("error_description"), 200)})
	}
	codes := q["code"]
	if len(codes) != 1 || codes[0] == "" {
		return errors.New("the browser came back without a code")
	}
	ctx, cancel := context.WithTimeout(f.account.authority.ctx, tokenTime)
	defer cancel()
	got, err := f.site.ask(ctx, "a token", f.grant, url.Values{
		"grant_type": {"authorization_code"}, "code": {codes[0]}, "redirect_uri": {f.grant.Client.Redirect},
		"code_verifier": {f.verifier}, "resource": {f.grant.Resource},
	})
	if err != nil {
		return err
	}
	select {
	case <-f.done:
		return f.err // it was replaced or given up meanwhile
	default:
	}
	c := f.account
	err = c.save(ctx, got)
	c.mu.Lock()
	c.grant, c.loaded, c.nonce = got, true, ""
	c.mu.Unlock()
	return err
}

// checkIssuer holds that the answer is from the authorisation server that was asked, so
// that another one cannot have us send its code there (RFC 9207). Issuers are
// compared as texts.
func (f *flow) checkIssuer(iss []string) error {
	switch {
	case len(iss) == 0 && f.issuer.Iss:
		return errors.New("the answer does not say which authorisation server it is from")
	case len(iss) == 0, len(iss) == 1 && iss[0] == f.issuer.Issuer:
		return nil
	}
	return errors.New("the answer is from another authorisation server than the one that was asked")
}

// finish ends the flow, once.
func (f *flow) finish(err error) {
	f.end.Do(func() {
		f.err = err
		close(f.done)
	})
}

// wait returns how the flow ended.
func (f *flow) wait(ctx context.Context) error {
	select {
	case <-f.done:
	case <-ctx.Done():
		f.finish(ctx.Err())
	}
	<-f.closed
	return f.err
}

// serve answers the browser until the flow has ended.
func (f *flow) serve(at *callback) {
	defer close(f.closed)
	stop := at.serve(f.returned)
	timeout := time.NewTimer(flowTime)
	defer timeout.Stop()
	select {
	case <-f.done:
	case <-timeout.C:
		f.finish(ErrExpired)
	case <-f.account.authority.ctx.Done():
		f.finish(ErrClosed)
	}
	stop()
	if f.err != nil && f.reused {
		f.unregister()
	}
}

// unregister forgets a client that was registered earlier and did not work this time:
// an authorisation server that has forgotten a client tells the user, but not us.
func (f *flow) unregister() {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(f.account.authority.ctx), revokeTime)
	defer cancel()
	stored, err := f.account.load(ctx)
	if err != nil || stored == nil || stored.Client.ID != f.grant.Client.ID || stored.Access != "" || stored.Refresh != "" {
		return
	}
	stored.Client = client{}
	if err := f.account.save(ctx, stored); err != nil {
		f.account.authority.report(f.account.configured().Name, err)
	}
}
