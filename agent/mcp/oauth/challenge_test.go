package oauth

import (
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestChallenges(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]challenge{
		``:                            {},
		`Bearer`:                      {},
		`Bearer realm="x"`:            {},
		`Basic realm="x", scope="no"`: {},
		`Bearer resource_metadata="https://h/x", scope="a b"`:                   {Metadata: "https://h/x", Scopes: []string{"a", "b"}},
		`bearer   SCOPE = "a" ,, error=insufficient_scope`:                      {Scopes: []string{"a"}, Code: "insufficient_scope"},
		`Bearer resource_metadata=https://h:8/x?a=b, error="e"`:                 {Metadata: "https://h:8/x?a=b", Code: "e"},
		`Basic realm="a, Bearer scope=\"x\"", Bearer scope="y"`:                 {Scopes: []string{"y"}},
		`Negotiate abc==, Bearer scope="y"`:                                     {Scopes: []string{"y"}},
		`Negotiate, Bearer scope="y"`:                                           {Scopes: []string{"y"}},
		`Bearer scope="a", DPoP algs="ES256", error="use_dpop_nonce"`:           {Scopes: []string{"a"}, Code: "use_dpop_nonce", DPoP: true},
		`Bearer scope="a", scope="b"`:                                           {Scopes: []string{"a"}},
		`Bearer scope="a a \"b\" c\\d ` + "\u00e9" + `"`:                        {Scopes: []string{"a"}},
		`Bearer scope="a" error="no comma"`:                                     {Scopes: []string{"a"}, Code: "no comma"},
		`Bearer scope="unterminated`:                                            {},
		`Bearer =x`:                                                             {},
		`"Bearer"`:                                                              {},
		`Bearer scope="` + strings.Repeat("x", maxScope+1) + `"`:                {},
		`Bearer ` + strings.Repeat(`a="b", `, maxChallenge) + `scope="too far"`: {},
	} {
		if diff := cmp.Diff(want, challengeOf(http.Header{"Www-Authenticate": {text}})); diff != "" {
			t.Errorf("%.80s (-want +got):\n%s", text, diff)
		}
	}
	two := http.Header{"Www-Authenticate": {`Basic realm="x"`, `Bearer scope="a"`, `Bearer error="e"`}}
	if diff := cmp.Diff(challenge{Scopes: []string{"a"}, Code: "e"}, challengeOf(two)); diff != "" {
		t.Errorf("several headers (-want +got):\n%s", diff)
	}
	many := http.Header{"Www-Authenticate": {`Bearer scope="` + strings.Repeat("a b c d e f g h i j ", 99) + numbers(200) + `"`}}
	if got := len(challengeOf(many).Scopes); got != maxScopes {
		t.Errorf("%d scopes", got)
	}
}

func numbers(n int) string {
	var out strings.Builder
	for i := range n {
		out.WriteString(" s")
		for ; i > 0; i /= 10 {
			out.WriteByte('0' + byte(i%10))
		}
	}
	return out.String()
}

// FuzzChallenge checks that whatever a server says, what is read of it is bounded and can
// stand in an address.
func FuzzChallenge(f *testing.F) {
	for _, seed := range []string{`Bearer a="b", c=d`, `Negotiate abc==`, `Bearer a = "\"" , Basic`, `,,=,"`, `Bearer scope="a b\`} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		got := challengeOf(http.Header{"Www-Authenticate": {text}})
		if len(got.Metadata)+len(got.Code) > len(text) || len(got.Scopes) > maxScopes {
			t.Errorf("more than was said: %+v", got)
		}
		for _, scope := range got.Scopes {
			if scope == "" || len(scope) > maxScope || strings.ContainsFunc(scope, notScope) {
				t.Errorf("scope %q", scope)
			}
		}
	})
}
