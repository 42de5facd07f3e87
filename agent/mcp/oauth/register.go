package oauth

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
)

// registration is the request and the answer of dynamic registration (RFC 7591).
type registration struct {
	Name      string   `json:"client_name,omitempty"`
	Version   string   `json:"software_version,omitempty"`
	Type      string   `json:"application_type,omitempty"`
	Redirects []string `json:"redirect_uris,omitempty"`
	Grants    []string `json:"grant_types,omitempty"`
	Responses []string `json:"response_types,omitempty"`
	Method    string   `json:"token_endpoint_auth_method,omitempty"`
	Scope     string   `json:"scope,omitempty"`

	ID      string `json:"client_id,omitempty"`
	Secret  string `json:"client_secret,omitempty"`
	Expires int64  `json:"client_secret_expires_at,omitempty"`
}

// register makes us a client of an authorisation server.
func (s *site) register(ctx context.Context, issuer issuerMetadata, version, redirect string, scopes []string) (client, error) {
	if issuer.Registration == "" {
		return client{}, ErrNoRegistration
	}
	endpoint, err := checkURL("registration endpoint", issuer.Registration)
	if err != nil {
		return client{}, err
	}
	asked := registration{
		Name: "Atelier", Version: version, Type: "native", Redirects: []string{redirect}, Responses: []string{"code"},
		Grants: []string{"authorization_code", "refresh_token"}, Method: authBasic, Scope: strings.Join(scopes, " "),
	}
	if slices.Contains(issuer.AuthMethods, authNone) {
		asked.Method = authNone
	} else if len(issuer.AuthMethods) > 0 {
		asked.Method = method(issuer.AuthMethods, "secret")
	}
	text, err := json.Marshal(asked)
	if err != nil {
		return client{}, err
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, endpoint.String(), strings.NewReader(string(text)))
	if err != nil {
		return client{}, err
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Accept", "application/json")
	status, _, body, err := s.do(req)
	if err != nil {
		return client{}, fmt.Errorf("register at the authorisation server: %w", err)
	}
	return registered(status, body, asked, hostOf(issuer.Registration))
}

func registered(status int, body []byte, asked registration, host string) (client, error) {
	var answer struct {
		registration
		Code  string `json:"error"`
		Words string `json:"error_description"`
	}
	if err := json.Unmarshal(body, &answer); err != nil || status >= 500 || status >= 300 && answer.Code == "" {
		return client{}, fmt.Errorf("register at the authorisation server: %s answered with status %d", host, status)
	}
	if answer.Code != "" {
		return client{}, &refusal{what: "to register a client", code: printable(answer.Code, 60), words: printable(answer.Words, 200)}
	}
	if !isText(answer.ID) || answer.Secret != "" && !isText(answer.Secret) {
		return client{}, errors.New("the authorisation server registered a client without an id that can be used")
	}
	out := client{ID: answer.ID, Secret: answer.Secret, Method: answer.Method, Redirect: asked.Redirects[0], Expires: answer.Expires}
	switch {
	case out.Secret == "":
		out.Method = authNone
	case out.Method != authBasic && out.Method != authPost && out.Method != authNone:
		out.Method = asked.Method
	}
	return out, nil
}

// isText reports whether an id or a secret is printable and not too long.
func isText(text string) bool {
	return text != "" && len(text) <= maxToken && printable(text, maxToken) == text
}
