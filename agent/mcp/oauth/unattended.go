package oauth

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strings"

	"atelier.dev/atelier/agent/mcp"
)

const (
	jwtBearer = "urn:ietf:params:oauth:grant-type:jwt-bearer"
	idJAG     = "urn:ietf:params:oauth:token-type:id-jag"
)

// obtainUnattended gets a token as the configuration says, once: what is refused is not
// tried in another way.
func (c *account) obtainUnattended(ctx context.Context) (*grant, error) {
	c.mu.Lock()
	said := c.said
	c.mu.Unlock()
	s, err := c.authority.site(ctx, c.configured())
	if err != nil {
		return nil, err
	}
	g, err := s.unattended(ctx, said)
	if no := (*refusal)(nil); errors.As(err, &no) && no.final() {
		return nil, &NeedsUser{Why: WhyClient, Err: no}
	}
	if err != nil {
		return nil, err
	}
	if err := c.save(ctx, g); err != nil {
		c.authority.report(c.configured().Name, err)
	}
	return g, nil
}

func (s *site) unattended(ctx context.Context, said challenge) (*grant, error) {
	found, err := s.discover(ctx, said)
	if err != nil {
		return nil, err
	}
	how := s.cfg.Unattended
	g := grant{
		Resource: found.resource, Issuer: found.issuer.Issuer, Endpoint: found.issuer.Token,
		Client: client{ID: s.cfg.ClientID, Secret: s.cfg.ClientSecret, Method: method(found.issuer.AuthMethods, s.cfg.ClientSecret)},
	}
	if how.PrivateKey != "" {
		g.Client.Method = authKey
	}
	if g.Proof, err = found.proof(); err != nil {
		return nil, err
	}
	g.Scopes = s.scopes(found, said, nil)
	form := url.Values{"resource": {found.resource}}
	if len(g.Scopes) > 0 {
		form.Set("scope", strings.Join(g.Scopes, " "))
	}
	switch how.Grant {
	case mcp.GrantClient:
		form.Set("grant_type", "client_credentials")
	case mcp.GrantAssertion:
		form.Set("grant_type", jwtBearer)
		form.Set("assertion", how.Assertion)
	case mcp.GrantIdentity:
		assertion, err := s.identity(ctx, found)
		if err != nil {
			return nil, err
		}
		form.Set("grant_type", jwtBearer)
		form.Set("assertion", assertion)
	default:
		return nil, fmt.Errorf("there is no way to a token called %q", how.Grant)
	}
	return s.ask(ctx, "a token", g, form)
}

// identity exchanges the user's identity in a company for an assertion that the
// company lets the user have the server (RFC 8693).
func (s *site) identity(ctx context.Context, found found) (string, error) {
	how := s.cfg.Unattended
	at := grant{Endpoint: how.IdentityURL, Client: client{ID: how.IdentityClient, Method: authNone}}
	form := url.Values{
		"grant_type":           {"urn:ietf:params:oauth:grant-type:token-exchange"},
		"requested_token_type": {idJAG},
		"subject_token":        {how.Assertion},
		"subject_token_type":   {"urn:ietf:params:oauth:token-type:id_token"},
		"audience":             {found.issuer.Issuer},
		"resource":             {found.resource},
	}
	answer, err := s.post(ctx, "the user's assertion", at, form)
	switch {
	case err != nil:
		return "", err
	case answer.Issued != idJAG || !isToken(answer.Access):
		return "", errors.New("the company's authorisation server answered without an assertion")
	}
	return answer.Access, nil
}

// proof returns a new key if the authorisation server binds tokens to keys, else nil.
func (f found) proof() (proofKey, error) {
	if !slices.Contains(f.issuer.DPoP, "ES256") {
		return nil, nil
	}
	return newProofKey()
}

// scopes are what we ask for: what the configuration says, or the server asked for, or
// lists; always with what was granted before and is asked for now, and with the
// right to refresh tokens where it has to be asked for.
func (s *site) scopes(found found, said challenge, granted []string) []string {
	scopes := cleanScopes(s.cfg.Scopes)
	switch {
	case len(scopes) > 0:
		scopes = union(scopes, said.Scopes)
	case len(said.Scopes) > 0:
		scopes = said.Scopes
	default:
		scopes = found.scopes
	}
	scopes = union(granted, scopes)
	if s.cfg.Unattended.Grant == "" && slices.Contains(found.issuer.Scopes, scopeOffline) {
		scopes = union(scopes, []string{scopeOffline})
	}
	return scopes
}

const scopeOffline = "offline_access"
