package oauth

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"
)

// How a client authenticates at a token endpoint.
const (
	authNone  = "none"
	authBasic = "client_secret_basic"
	authPost  = "client_secret_post"
	authKey   = "private_key_jwt"
)

// maxToken is how long a token may be, so that a request with it fits into the
// headers that servers accept.
const maxToken = 16 << 10

// refusal is an error that an authorisation server answered with. Its words are
// bounded, printable, and have none of our secrets.
type refusal struct{ what, code, words string }

func (r *refusal) Error() string {
	text := fmt.Sprintf("the authorisation server refused %s: %s", r.what, r.code)
	if r.words != "" {
		text += " (" + r.words + ")"
	}
	return text
}

// The codes of refusals that mean something to us.
const (
	codeGrant  = "invalid_grant"
	codeClient = "invalid_client"
	codeNonce  = "use_dpop_nonce"
	codeScope  = "insufficient_scope"
)

// tokenAnswer is what a token endpoint answers.
type tokenAnswer struct {
	Access  string          `json:"access_token"`
	Refresh string          `json:"refresh_token"`
	Type    string          `json:"token_type"`
	Expires json.RawMessage `json:"expires_in"` // a number, though some write a text
	Scope   string          `json:"scope"`
	Issued  string          `json:"issued_token_type"`

	Code  string `json:"error"`
	Words string `json:"error_description"`
}

// ask sends a request to the token endpoint of a grant, and returns the grant with
// the tokens of the answer. Its scopes were asked for, and are granted unless the
// answer says otherwise.
func (s *site) ask(ctx context.Context, what string, g grant, form url.Values) (*grant, error) {
	answer, err := s.post(ctx, what, g, form)
	if err != nil {
		return nil, err
	}
	bound := strings.EqualFold(answer.Type, "DPoP")
	switch {
	case answer.Type != "" && !bound && !strings.EqualFold(answer.Type, "Bearer"):
		return nil, fmt.Errorf("the authorisation server issued a token of a kind that we cannot use: %s", printable(answer.Type, 40))
	case bound && g.Proof == nil:
		return nil, fmt.Errorf("the authorisation server bound its token to a key that we did not show")
	case !isToken(answer.Access):
		return nil, fmt.Errorf("the authorisation server answered without a token that can be used")
	}
	if !bound {
		g.Proof = nil
	}
	g.Access, g.Expires = answer.Access, s.expiry(answer.Expires)
	if isToken(answer.Refresh) { // without a new one, the old one stays
		g.Refresh = answer.Refresh
	}
	if answer.Scope != "" {
		g.Scopes = scopesIn(answer.Scope)
	}
	return &g, nil
}

func isToken(text string) bool {
	return text != "" && len(text) <= maxToken && !strings.ContainsFunc(text, func(r rune) bool { return r <= ' ' || r >= 0x7f })
}

// expiry returns when a token ends, in seconds since 1970, or 0 if the answer does
// not say.
func (s *site) expiry(raw json.RawMessage) int64 {
	seconds, err := strconv.ParseFloat(strings.Trim(string(raw), `"`), 64)
	if err != nil || !(seconds > 0) {
		return 0
	}
	const most = 10 * 365 * 24 * 3600
	return s.now().Unix() + int64(min(seconds, most))
}

// post sends a form to the token endpoint of a grant. Redirects are not followed.
func (s *site) post(ctx context.Context, what string, g grant, form url.Values) (tokenAnswer, error) {
	var answer tokenAnswer
	nonce := ""
	for again := true; ; again = false {
		req, err := s.tokenRequest(ctx, g, form)
		if err != nil {
			return answer, fmt.Errorf("ask for %s: %w", what, err)
		}
		if g.Proof != nil {
			req.Header.Set("DPoP", g.Proof.prove(http.MethodPost, req.URL, "", nonce, s.now()))
		}
		status, header, body, err := s.do(req)
		if err != nil {
			return answer, fmt.Errorf("ask for %s: %w", what, err)
		}
		answer = tokenAnswer{}
		readable := json.Unmarshal(body, &answer) == nil
		if status == http.StatusOK && readable && answer.Code == "" {
			return answer, nil
		}
		if nonce = header.Get("DPoP-Nonce"); again && answer.Code == codeNonce && isToken(nonce) && g.Proof != nil {
			continue
		}
		if !readable || answer.Code == "" || status >= 500 {
			return answer, fmt.Errorf("ask for %s: %s answered with status %d", what, hostOf(g.Endpoint), status)
		}
		return answer, &refusal{what: what, code: printable(answer.Code, 60), words: s.words(answer.Words, g, form)}
	}
}

func (s *site) tokenRequest(ctx context.Context, g grant, form url.Values) (*http.Request, error) {
	endpoint, err := checkURL("token endpoint", g.Endpoint)
	if err != nil {
		return nil, err
	}
	sent := url.Values{}
	for name, values := range form {
		sent[name] = slices.Clone(values)
	}
	switch g.Client.Method {
	case authPost:
		sent.Set("client_id", g.Client.ID)
		sent.Set("client_secret", g.Client.Secret)
	case authKey:
		assertion, err := s.signed(g)
		if err != nil {
			return nil, err
		}
		sent.Set("client_id", g.Client.ID)
		sent.Set("client_assertion_type", "urn:ietf:params:oauth:client-assertion-type:jwt-bearer")
		sent.Set("client_assertion", assertion)
	case authNone:
		sent.Set("client_id", g.Client.ID)
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, endpoint.String(), strings.NewReader(sent.Encode()))
	if err != nil {
		return nil, err
	}
	req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	req.Header.Set("Accept", "application/json")
	if g.Client.Method == authBasic {
		req.SetBasicAuth(url.QueryEscape(g.Client.ID), url.QueryEscape(g.Client.Secret)) // RFC 6749, 2.3.1
	}
	return req, nil
}

// words returns what an authorisation server says about an error, unless it repeats
// a secret of ours.
func (s *site) words(text string, g grant, form url.Values) string {
	secrets := []string{g.Client.Secret, g.Access, g.Refresh}
	for _, name := range []string{"code", "code_verifier", "refresh_token", "assertion", "subject_token", "token"} {
		secrets = append(secrets, form.Get(name))
	}
	for _, secret := range secrets {
		if secret != "" && (strings.Contains(text, secret) || strings.Contains(text, url.QueryEscape(secret))) {
			return ""
		}
	}
	return printable(text, 200)
}

// method chooses how a client with a secret authenticates. Without a list the
// servers' default is the header (RFC 8414).
func method(supported []string, secret string) string {
	switch {
	case secret == "":
		return authNone
	case slices.Contains(supported, authBasic) || !slices.Contains(supported, authPost):
		return authBasic
	}
	return authPost
}

// tokenTime limits one conversation with a token endpoint.
const tokenTime = 30 * time.Second
