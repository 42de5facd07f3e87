package oauth

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/sha256"
	"crypto/x509"
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"io"
	"math/big"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"atelier.dev/atelier/agent/mcp"
	"atelier.dev/atelier/agent/mcp/oauth/oauthtest"
	"github.com/google/go-cmp/cmp"
)

// What token endpoints answer instead of a token.
func TestAnswersOfTokenEndpoints(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		status       int
		answer, want string
	}{
		"a page":             {200, `<html>`, "status 200"},
		"nothing":            {200, ``, "status 200"},
		"an empty object":    {200, `{}`, "without a token"},
		"another kind":       {200, `{"access_token":"t","token_type":"MAC"}`, "cannot use: MAC"},
		"a bound token":      {200, `{"access_token":"t","token_type":"DPoP"}`, "bound its token"},
		"a header":           {200, `{"access_token":"t\r\nX-Evil: 1"}`, "without a token"},
		"a huge token":       {200, `{"access_token":"` + strings.Repeat("t", maxToken+1) + `"}`, "without a token"},
		"a huge answer":      {200, `{"access_token":"` + strings.Repeat("t", maxDocument) + `"}`, "256 kB"},
		"an error":           {400, `{"error":"invalid_grant","error_description":"no"}`, "invalid_grant (no)"},
		"an error with 200":  {200, `{"error":"invalid_grant"}`, "invalid_grant"},
		"hostile words":      {400, `{"error":"\u001b[2J` + strings.Repeat("e", 999) + `","error_description":"` + strings.Repeat("w", 9999) + `"}`, "?[2Jee"},
		"a redirect":         {307, ``, "status 307"},
		"a server that fell": {503, `{"error":"x"}`, "status 503"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := hostile(t, map[string]http.HandlerFunc{"/token": func(w http.ResponseWriter, r *http.Request) {
				w.Header().Set("Location", "https://evil.example/")
				w.WriteHeader(test.status)
				_, _ = io.WriteString(w, test.answer)
			}})
			err := w.consents()
			if err == nil || !strings.Contains(err.Error(), test.want) || len(err.Error()) > 500 {
				t.Errorf("authorise: %v, want %q", err, test.want)
			}
		})
	}
}

// An authorisation server that repeats our secrets does not get them into an error.
func TestErrorsHaveNoSecrets(t *testing.T) {
	t.Parallel()
	var secrets []string
	w := hostile(t, map[string]http.HandlerFunc{"/token": func(w http.ResponseWriter, r *http.Request) {
		_ = r.ParseForm()
		var all []string
		for name, values := range r.PostForm {
			if !slices.Contains([]string{"grant_type", "resource", "redirect_uri", "client_id"}, name) {
				secrets = append(secrets, values...)
				all = append(all, values...)
			}
		}
		text, _ := json.Marshal(map[string]string{"error": "server_error", "error_description": strings.Join(all, " ")})
		w.WriteHeader(http.StatusBadRequest)
		_, _ = w.Write(text)
	}})
	err := w.consents()
	if err == nil || len(secrets) < 2 {
		t.Fatalf("authorise: %v, with %d secrets", err, len(secrets))
	}
	for _, secret := range secrets {
		if strings.Contains(err.Error(), secret) {
			t.Errorf("the error has %q: %v", secret, err)
		}
	}
}

func TestExpiry(t *testing.T) {
	t.Parallel()
	s := &site{now: func() time.Time { return time.Unix(1000, 0) }}
	for text, want := range map[string]int64{
		`60`: 1060, `"60"`: 1060, `60.5`: 1060, `0`: 0, `-1`: 0, `null`: 0, ``: 0, `"soon"`: 0, `[1]`: 0, `"NaN"`: 0, `1e300`: 1000 + 10*365*24*3600,
	} {
		if got := s.expiry(json.RawMessage(text)); got != want {
			t.Errorf("%s: %d, want %d", text, got, want)
		}
	}
}

// claims returns the header and the claims of a token whose signature holds.
func claims(t *testing.T, text string, key *ecdsa.PublicKey) (header, body map[string]any) {
	t.Helper()
	parts := strings.Split(text, ".")
	if len(parts) != 3 {
		t.Fatalf("%q is no token", text)
	}
	for i, into := range []*map[string]any{&header, &body} {
		raw, err := base64.RawURLEncoding.DecodeString(parts[i])
		if err == nil {
			err = json.Unmarshal(raw, into)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if key == nil {
		jwk := header["jwk"].(map[string]any)
		coordinate := func(name string) []byte {
			raw, err := base64.RawURLEncoding.DecodeString(jwk[name].(string))
			if err != nil {
				t.Fatal(err)
			}
			return raw
		}
		var err error
		if key, err = ecdsa.ParseUncompressedPublicKey(elliptic.P256(), slices.Concat([]byte{4}, coordinate("x"), coordinate("y"))); err != nil {
			t.Fatal(err)
		}
	}
	signature, err := base64.RawURLEncoding.DecodeString(parts[2])
	if err != nil || len(signature) != 64 {
		t.Fatalf("signature: %v", err)
	}
	sum := sha256.Sum256([]byte(parts[0] + "." + parts[1]))
	if !ecdsa.Verify(key, sum[:], new(big.Int).SetBytes(signature[:32]), new(big.Int).SetBytes(signature[32:])) {
		t.Error("the signature is wrong")
	}
	return header, body
}

// Tokens are bound to a key where the authorisation server can do that, and both
// servers may ask for a nonce in the proofs.
func TestTokensThatAreBoundToAKey(t *testing.T) {
	t.Parallel()
	seen := map[string]bool{}
	prove := func(rw http.ResponseWriter, r *http.Request, token, nonce string) bool {
		_, body := claims(t, r.Header.Get("DPoP"), nil)
		want := map[string]any{"htm": "POST", "htu": "http://" + r.Host + r.URL.Path}
		if token != "" {
			sum := sha256.Sum256([]byte(token))
			want["ath"] = base64.RawURLEncoding.EncodeToString(sum[:])
		}
		jti := fmt.Sprint(body["jti"])
		if seen[jti] {
			t.Error("a proof was sent twice")
		}
		seen[jti] = true
		given := body["nonce"]
		for _, name := range []string{"jti", "iat", "nonce"} {
			delete(body, name)
		}
		if diff := cmp.Diff(want, body); diff != "" {
			t.Errorf("claims (-want +got):\n%s", diff)
		}
		if given == nonce {
			return true
		}
		rw.Header().Set("DPoP-Nonce", nonce)
		rw.Header().Set("WWW-Authenticate", `DPoP error="use_dpop_nonce"`)
		rw.Header().Set("Content-Type", "application/json")
		rw.WriteHeader(map[bool]int{true: http.StatusBadRequest, false: http.StatusUnauthorized}[token == ""])
		_, _ = io.WriteString(rw, `{"error":"use_dpop_nonce"}`)
		return false
	}
	w := newWorld(t, oauthtest.Config{
		Issuer: func(doc map[string]any) { doc["dpop_signing_alg_values_supported"] = []string{"RS256", "ES256"} },
		Answer: func(answer map[string]any) { answer["token_type"] = "DPoP" },
		Intercept: func(rw http.ResponseWriter, r *http.Request) bool {
			switch r.URL.Path {
			case "/token":
				return !prove(rw, r, "", "nonce-of-the-issuer")
			case "/mcp":
				token, bound := strings.CutPrefix(r.Header.Get("Authorization"), "DPoP ")
				if bound && prove(rw, r, token, "nonce") {
					r.Header.Set("Authorization", "Bearer "+token)
					return false
				}
				return bound
			}
			return false
		},
	})
	w.needs("whoami", WhyFirst)
	w.authorise()
	w.works("whoami")
	w.works("whoami")
	w.a = w.another() // the key is kept, too
	w.works("whoami")
	w.at.Expire()
	w.works("whoami")
	w.counted(map[string]int{"authorization_code": 1, "refresh_token": 1})
}

// exchange is a company's authorisation server: it gives an assertion for an identity.
func exchange(t *testing.T, w *world, rw http.ResponseWriter, got url.Values) {
	want := url.Values{
		"grant_type": {"urn:ietf:params:oauth:grant-type:token-exchange"}, "requested_token_type": {idJAG}, "subject_token": {"identity"},
		"subject_token_type": {"urn:ietf:params:oauth:token-type:id_token"}, "audience": {w.at.Issuer}, "resource": {w.at.URL}, "client_id": {"us"},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("the exchange (-want +got):\n%s", diff)
	}
	says(`{"access_token":%q,"issued_token_type":%q,"token_type":"N_A"}`, oauthtest.Assertion, idJAG)(rw, nil)
}

// newKey returns a private key, also as PEM.
func newKey(t *testing.T) (*ecdsa.PrivateKey, string) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	raw, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	return key, string(pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: raw}))
}

func TestUnattended(t *testing.T) {
	t.Parallel()
	key, private := newKey(t)
	for name, test := range map[string]struct {
		oauth mcp.OAuth
		check func(t *testing.T, w *world, r *http.Request)
		want  Why // of the refusal; empty if there is none
	}{
		"a client with a secret": {oauth: mcp.OAuth{ClientID: "me", ClientSecret: "s", Unattended: mcp.Unattended{Grant: mcp.GrantClient}},
			check: func(t *testing.T, _ *world, r *http.Request) {
				if r.PostForm.Get("client_id") != "" || r.Header.Get("Authorization") == "" || r.PostForm.Get("scope") != "read" {
					t.Errorf("the request: %v", r.PostForm)
				}
			}},
		"a client with a key": {oauth: mcp.OAuth{ClientID: "me", Unattended: mcp.Unattended{Grant: mcp.GrantClient, PrivateKey: private}},
			check: func(t *testing.T, w *world, r *http.Request) {
				_, body := claims(t, r.PostForm.Get("client_assertion"), &key.PublicKey)
				if body["iss"] != "me" || body["sub"] != "me" || body["aud"] != w.at.Issuer {
					t.Errorf("claims: %v", body)
				}
			}},
		"an assertion": {oauth: mcp.OAuth{ClientID: "me", Unattended: mcp.Unattended{Grant: mcp.GrantAssertion, Assertion: oauthtest.Assertion}},
			check: func(*testing.T, *world, *http.Request) {}},
		"a refused assertion": {oauth: mcp.OAuth{ClientID: "me", Unattended: mcp.Unattended{Grant: mcp.GrantAssertion, Assertion: "wrong"}},
			check: func(t *testing.T, _ *world, r *http.Request) {
				if r.PostForm.Get("assertion") != "wrong" || r.PostForm.Get("grant_type") != jwtBearer {
					t.Errorf("the request: %v", r.PostForm)
				}
			}, want: WhyClient},
		"the user's identity": {oauth: mcp.OAuth{ClientID: "me", ClientSecret: "s", Unattended: mcp.Unattended{
			Grant: mcp.GrantIdentity, Assertion: "identity", IdentityURL: "/company", IdentityClient: "us",
		}}, check: func(t *testing.T, _ *world, r *http.Request) {
			if strings.Contains(r.PostForm.Encode(), "identity") {
				t.Errorf("the server's own authorisation server got the identity: %v", r.PostForm)
			}
		}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			asked := 0
			var w *world
			w = newWorld(t, oauthtest.Config{Scopes: []string{"read"},
				Issuer: func(doc map[string]any) { doc["token_endpoint_auth_methods_supported"] = []string{authBasic, authKey} },
				Intercept: func(rw http.ResponseWriter, r *http.Request) bool {
					_ = r.ParseForm()
					switch r.URL.Path {
					case "/token":
						asked++
						test.check(t, w, r)
					case "/company":
						exchange(t, w, rw, r.PostForm)
						return true
					}
					return false
				}})
			w.server.Remote.OAuth = test.oauth
			if how := &w.server.Remote.OAuth.Unattended; how.IdentityURL != "" {
				how.IdentityURL = strings.Replace(w.at.URL, "/mcp", how.IdentityURL, 1)
			}
			if test.want != "" {
				w.needs("whoami", test.want)
			} else {
				w.works("whoami")
				w.works("whoami")
				w.at.Expire()
				w.works("whoami")
			}
			if want := map[bool]int{true: 1, false: 2}[test.want != ""]; asked != want {
				t.Errorf("it asked %d times for a token, want %d", asked, want)
			}
			if _, _, err := w.a.Authorise(t.Context(), w.server); err != ErrUnattended {
				t.Errorf("authorise: %v", err)
			}
		})
	}
}
