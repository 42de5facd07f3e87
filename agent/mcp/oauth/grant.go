package oauth

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"time"

	"atelier.dev/atelier/agent/mcp"
)

// TokenStore keeps what the user's consent gave us: one secret text for each key, in the
// keyring. Load returns an empty text if there is none. It is safe for concurrent
// use, and other processes may use the same texts.
type TokenStore interface {
	Load(ctx context.Context, key string) (string, error)
	Save(ctx context.Context, key, secret string) error
	Remove(ctx context.Context, key string) error
}

// Key returns the name under which the tokens of a server are kept. It follows from
// the server's address and the client, so that tokens never go to another address
// under the same name.
func Key(s mcp.Server) string {
	sum := sha256.Sum256([]byte(strings.Join([]string{s.Remote.URL, s.Remote.ID, s.Remote.OAuth.ClientID, s.Remote.OAuth.Issuer}, "\x00")))
	host := "server"
	if u, err := url.Parse(s.Remote.URL); err == nil && u.Hostname() != "" {
		host = printable(u.Hostname(), 60)
	}
	return "mcp " + host + " " + hex.EncodeToString(sum[:8])
}

// grant is what is kept of a server. It never changes; a new one takes its place.
type grant struct {
	Resource   string   `json:"resource"`
	Issuer     string   `json:"issuer"`
	Endpoint   string   `json:"token_endpoint"`
	Revocation string   `json:"revocation_endpoint,omitempty"`
	Client     client   `json:"client"`
	Access     string   `json:"access_token,omitempty"`
	Refresh    string   `json:"refresh_token,omitempty"`
	Scopes     []string `json:"scopes,omitempty"`
	// Expires is in seconds since 1970; 0 if the server did not say.
	Expires int64 `json:"expires,omitempty"`
	// Proof is the key that the tokens are bound to; nil if anybody may use them.
	Proof proofKey `json:"proof_key,omitempty"`
}

// client is what we are to an authorisation server.
type client struct {
	ID     string `json:"id"`
	Secret string `json:"secret,omitempty"`
	Method string `json:"method,omitempty"` // how it authenticates at the token endpoint
	// Redirect is the address that was registered; empty if nothing was registered
	// for us.
	Redirect string `json:"redirect,omitempty"`
	Expires  int64  `json:"expires,omitempty"` // of the secret
}

// early is how long before its end a token is renewed, for requests that are on
// their way when it ends.
const early = 30 * time.Second

func (g *grant) fresh(now time.Time) bool {
	return g.Access != "" && (g.Expires == 0 || now.Add(early).Before(time.Unix(g.Expires, 0)))
}

func (g *grant) valid(now time.Time) bool {
	return g.Access != "" && (g.Expires == 0 || now.Before(time.Unix(g.Expires, 0)))
}

// access returns the access token; empty if there is no grant.
func (g *grant) access() string {
	if g == nil {
		return ""
	}
	return g.Access
}

// missing returns the scopes that a grant lacks.
func (g *grant) missing(scopes []string) []string {
	if g == nil {
		return scopes
	}
	return slices.DeleteFunc(slices.Clone(scopes), func(one string) bool { return slices.Contains(g.Scopes, one) })
}

// union returns the scopes of both lists, in order.
func union(a, b []string) []string {
	out := slices.Clone(a)
	for _, one := range b {
		if !slices.Contains(out, one) {
			out = append(out, one)
		}
	}
	return out[:min(len(out), maxScopes)]
}

// cleanScopes leaves out what cannot be a scope.
func cleanScopes(scopes []string) []string { return scopesIn(strings.Join(scopes, " ")) }

func (a *account) load(ctx context.Context) (*grant, error) {
	text, err := a.store.Load(ctx, a.key)
	if err != nil {
		return nil, fmt.Errorf("read the tokens of the server: %w", err)
	}
	if text == "" {
		return nil, nil
	}
	g := &grant{}
	if json.Unmarshal([]byte(text), g) != nil {
		return nil, nil // as good as none: the user authorises us again
	}
	return g, nil
}

func (a *account) save(ctx context.Context, g *grant) error {
	text, err := json.Marshal(g)
	if err == nil {
		err = a.store.Save(ctx, a.key, string(text))
	}
	if err != nil {
		return fmt.Errorf("keep the tokens of the server: %w", err)
	}
	return nil
}
