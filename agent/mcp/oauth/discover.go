package oauth

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"net/url"
	"slices"
	"strings"
)

// maxDocument is how much of a document about authorisation is read. The largest
// that are published have some kilobytes.
const maxDocument = 256 << 10

// resourceMetadata is what a server says about itself (RFC 9728).
type resourceMetadata struct {
	Resource string   `json:"resource"`
	Servers  []string `json:"authorization_servers"`
	Scopes   []string `json:"scopes_supported"`
}

// issuerMetadata is what an authorisation server says about itself (RFC 8414, OpenID
// Connect Discovery).
type issuerMetadata struct {
	Issuer        string   `json:"issuer"`
	Authorization string   `json:"authorization_endpoint"`
	Token         string   `json:"token_endpoint"`
	Registration  string   `json:"registration_endpoint"`
	Revocation    string   `json:"revocation_endpoint"`
	Scopes        []string `json:"scopes_supported"`
	Challenges    []string `json:"code_challenge_methods_supported"`
	AuthMethods   []string `json:"token_endpoint_auth_methods_supported"`
	DPoP          []string `json:"dpop_signing_alg_values_supported"`
	ClientIDs     bool     `json:"client_id_metadata_document_supported"`
	Iss           bool     `json:"authorization_response_iss_parameter_supported"`
}

// found is what discovery finds: what tokens are for, who issues them and which
// scopes the server lists.
type found struct {
	resource string
	issuer   issuerMetadata
	scopes   []string
}

// errAbsent says that there is no document at an address.
var errAbsent = errors.New("no such document")

// discover finds the authorisation server of a server, from what the server said when
// it refused a request. The chain has a fixed length: the server names its
// authorisation servers, and one of these describes itself.
func (s *site) discover(ctx context.Context, said challenge) (found, error) {
	meta, err := s.resourceMetadata(ctx, said)
	if errors.Is(err, errAbsent) {
		return s.discoverOld(ctx)
	}
	if err != nil {
		return found{}, err
	}
	issuer, err := s.chooseIssuer(meta.Servers)
	if err != nil {
		return found{}, err
	}
	described, err := s.issuerMetadata(ctx, issuer)
	if errors.Is(err, errAbsent) {
		err = fmt.Errorf("the authorisation server at %s publishes no metadata", hostOf(issuer))
	}
	return found{resource: meta.Resource, issuer: described, scopes: cleanScopes(meta.Scopes)}, err
}

// discoverOld is for servers of the protocol of March 2025, which are their own
// authorisation servers and need not describe themselves.
func (s *site) discoverOld(ctx context.Context) (found, error) {
	origin := s.url.Scheme + "://" + s.url.Host
	if s.cfg.Issuer != "" && !sameIssuer(s.cfg.Issuer, origin) {
		return found{}, errIssuer(origin)
	}
	described, err := s.issuerMetadata(ctx, origin)
	if errors.Is(err, errAbsent) {
		described, err = issuerMetadata{
			Issuer: origin, Authorization: origin + "/authorize", Token: origin + "/token", Registration: origin + "/register",
			AuthMethods: []string{authNone, authBasic, authPost},
		}, nil
	}
	return found{resource: s.canonical(), issuer: described}, err
}

// chooseIssuer returns the first authorisation server, or the one that the
// configuration binds the client to.
func (s *site) chooseIssuer(issuers []string) (string, error) {
	if len(issuers) == 0 {
		return "", errors.New("the server's metadata names no authorisation server")
	}
	if s.cfg.Issuer == "" {
		return issuers[0], nil
	}
	if at := slices.IndexFunc(issuers, func(one string) bool { return sameIssuer(one, s.cfg.Issuer) }); at >= 0 {
		return issuers[at], nil
	}
	return "", errIssuer(issuers[0])
}

// errIssuer is for a server that sends us to another authorisation server than the
// one that our client was registered with, which would get the client's secret.
func errIssuer(issuer string) error {
	return fmt.Errorf("the server now names another authorisation server, %s, than the one that the client is registered with", hostOf(issuer))
}

// resourceMetadata looks for the server's metadata where the challenge says, at the
// place for the server's path, and at the root. A document for another resource is
// refused, not passed over.
func (s *site) resourceMetadata(ctx context.Context, said challenge) (resourceMetadata, error) {
	origin := s.url.Scheme + "://" + s.url.Host
	const wellKnown = "/.well-known/oauth-protected-resource"
	places := []string{said.Metadata}
	if said.Metadata == "" {
		places = []string{origin + wellKnown}
		if path := strings.TrimSuffix(s.url.EscapedPath(), "/"); path != "" {
			places = []string{origin + wellKnown + path, origin + wellKnown}
		}
	}
	for _, place := range places {
		var meta resourceMetadata
		err := s.get(ctx, "server's metadata", place, &meta)
		if errors.Is(err, errAbsent) && said.Metadata == "" {
			continue
		}
		if err != nil {
			return meta, errNotAbsent(err)
		}
		if !s.covers(meta.Resource) {
			return meta, fmt.Errorf("the server's metadata is about another server, %s", hostOf(meta.Resource))
		}
		return meta, nil
	}
	return resourceMetadata{}, errAbsent
}

// errNotAbsent makes a missing document that was announced an error of its own.
func errNotAbsent(err error) error {
	if errors.Is(err, errAbsent) {
		return errors.New("the server's metadata is not where the server says")
	}
	return err
}

// covers reports whether a resource is the server or has the server below it.
func (s *site) covers(resource string) bool {
	u, err := checkURL("resource", resource)
	if err != nil || !sameOrigin(u, s.url) {
		return false
	}
	above := strings.TrimSuffix(u.EscapedPath(), "/")
	rest, ok := strings.CutPrefix(s.url.EscapedPath(), above)
	return ok && (rest == "" || rest[0] == '/')
}

// canonical is the server's address as a resource (RFC 8707).
func (s *site) canonical() string {
	return s.url.Scheme + "://" + strings.ToLower(s.url.Host) + strings.TrimSuffix(s.url.EscapedPath(), "/")
}

func sameOrigin(a, b *url.URL) bool {
	return a.Scheme == b.Scheme && strings.EqualFold(a.Hostname(), b.Hostname()) && portOf(a) == portOf(b)
}

func portOf(u *url.URL) string {
	if port := u.Port(); port != "" {
		return port
	}
	return map[string]string{"http": "80", "https": "443"}[u.Scheme]
}

// issuerMetadata reads what an authorisation server says about itself, and refuses
// what claims to be another or could be used against us.
func (s *site) issuerMetadata(ctx context.Context, issuer string) (issuerMetadata, error) {
	u, err := checkURL("authorisation server", issuer)
	if err != nil {
		return issuerMetadata{}, err
	}
	origin, path := u.Scheme+"://"+u.Host, strings.TrimSuffix(u.EscapedPath(), "/")
	places := []string{origin + "/.well-known/oauth-authorization-server" + path, origin + "/.well-known/openid-configuration" + path}
	if path != "" {
		places = append(places, origin+path+"/.well-known/openid-configuration")
	}
	for _, place := range places {
		var meta issuerMetadata
		err := s.get(ctx, "authorisation server's metadata", place, &meta)
		if errors.Is(err, errAbsent) {
			continue
		}
		if err == nil {
			err = meta.check(issuer)
		}
		return meta, err
	}
	return issuerMetadata{}, errAbsent
}

func (m issuerMetadata) check(issuer string) error {
	if !sameIssuer(m.Issuer, issuer) {
		return fmt.Errorf("the authorisation server at %s says that it is another, %s", hostOf(issuer), hostOf(m.Issuer))
	}
	for _, endpoint := range []struct {
		what, text string
		needed     bool
	}{
		{"authorisation endpoint", m.Authorization, true},
		{"token endpoint", m.Token, true},
		{"registration endpoint", m.Registration, false},
		{"revocation endpoint", m.Revocation, false},
	} {
		if endpoint.text == "" && !endpoint.needed {
			continue
		}
		if _, err := checkURL(endpoint.what, endpoint.text); err != nil {
			return err
		}
	}
	if !slices.Contains(m.Challenges, "S256") {
		return fmt.Errorf("the authorisation server at %s does not protect its codes (PKCE with S256)", hostOf(issuer))
	}
	return nil
}

// sameIssuer compares issuers as texts, but for a slash at the end, about which
// servers and their authorisation servers often disagree.
func sameIssuer(a, b string) bool { return strings.TrimSuffix(a, "/") == strings.TrimSuffix(b, "/") }

// hostOf returns the printable host of an address, for messages.
func hostOf(text string) string {
	if u, err := url.Parse(text); err == nil && u.Host != "" {
		return printable(u.Host, 100)
	}
	return "an unreadable address"
}

// printable cuts a text to most bytes and replaces what is not printable ASCII.
func printable(text string, most int) string {
	out := []byte(text[:min(len(text), most)])
	for i, c := range out {
		if c < ' ' || c >= 0x7f {
			out[i] = '?'
		}
	}
	return string(out)
}

// get reads a document, following a few redirects, each of which is checked like the
// first address.
func (s *site) get(ctx context.Context, what, address string, into any) error {
	for range maxRedirects + 1 {
		u, err := checkURL(what, address)
		if err != nil {
			return err
		}
		req, err := http.NewRequestWithContext(ctx, http.MethodGet, u.String(), nil)
		if err != nil {
			return fmt.Errorf("ask for the %s: %w", what, err)
		}
		req.Header.Set("Accept", "application/json")
		status, header, body, err := s.do(req)
		switch {
		case err != nil:
			return fmt.Errorf("ask for the %s: %w", what, err)
		case status >= 300 && status < 400 && header.Get("Location") != "":
			next, err := u.Parse(header.Get("Location"))
			if err != nil {
				return fmt.Errorf("the %s redirects to what is not an address", what)
			}
			if u.Scheme == "https" && next.Scheme != "https" {
				return fmt.Errorf("the %s redirects from an encrypted address to one that is not", what)
			}
			address = next.String()
			continue
		case status >= 400 && status < 500:
			return errAbsent
		case status != http.StatusOK:
			return fmt.Errorf("the %s cannot be read: %s answered with status %d", what, hostOf(address), status)
		}
		return decode(what, header, body, into)
	}
	return fmt.Errorf("the %s redirects too often", what)
}

func decode(what string, header http.Header, body []byte, into any) error {
	kind, _, err := mime.ParseMediaType(header.Get("Content-Type"))
	if err != nil || kind != "application/json" && !strings.HasSuffix(kind, "+json") {
		return errAbsent // many servers answer every path with a page
	}
	if err := json.Unmarshal(body, into); err != nil {
		return fmt.Errorf("the %s is not the JSON that it should be", what)
	}
	return nil
}

var errDocumentSize = fmt.Errorf("the answer has more than %d kB", maxDocument>>10)

// do sends a request and reads the whole answer within the limit. An error does not
// have the address's path or query, which may have secrets.
func (s *site) do(req *http.Request) (int, http.Header, []byte, error) {
	res, err := s.client.Do(req)
	if err != nil {
		return 0, nil, nil, bare(err)
	}
	defer res.Body.Close()
	body, err := io.ReadAll(io.LimitReader(res.Body, maxDocument+1))
	if err == nil && len(body) > maxDocument {
		err = errDocumentSize
	}
	if err != nil {
		return 0, nil, nil, bare(err)
	}
	return res.StatusCode, res.Header, body, nil
}

// bare takes the address out of an error of an HTTP client.
func bare(err error) error {
	if wrapped := (*url.Error)(nil); errors.As(err, &wrapped) {
		return wrapped.Err
	}
	return err
}
