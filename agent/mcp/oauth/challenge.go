package oauth

import (
	"net/http"
	"slices"
	"strings"
)

const (
	maxChallenge = 16 << 10 // bytes of all WWW-Authenticate headers that are read
	maxScopes    = 64       // scopes of one request
	maxScope     = 256      // bytes of one scope
)

// challenge is what a server says in WWW-Authenticate when it refuses a request
// (RFC 6750, RFC 9728).
type challenge struct {
	Metadata string   // where the metadata of the protected resource is
	Scopes   []string // what it asks for
	Code     string   // such as insufficient_scope
	DPoP     bool     // it asks for proofs of possession
}

// challengeOf reads the Bearer and DPoP challenges of an answer. An unreadable
// challenge is left out: the server is then asked for its metadata at the usual
// places.
func challengeOf(header http.Header) challenge {
	var out challenge
	left := maxChallenge
	for _, line := range header.Values("WWW-Authenticate") {
		if left -= len(line); left < 0 {
			break
		}
		for _, one := range parseChallenges(line) {
			dpop := strings.EqualFold(one.scheme, "DPoP")
			if !dpop && !strings.EqualFold(one.scheme, "Bearer") {
				continue
			}
			out.DPoP = out.DPoP || dpop
			if out.Metadata == "" {
				out.Metadata = one.params["resource_metadata"]
			}
			if out.Code == "" {
				out.Code = one.params["error"]
			}
			if len(out.Scopes) == 0 {
				out.Scopes = scopesIn(one.params["scope"])
			}
		}
	}
	return out
}

// scopesIn splits a list of scopes. Scopes with characters that no scope has are
// left out (RFC 6749, 3.3).
func scopesIn(text string) []string {
	var out []string
	for scope := range strings.FieldsSeq(text) {
		if len(scope) <= maxScope && !strings.ContainsFunc(scope, notScope) && !slices.Contains(out, scope) {
			out = append(out, scope)
		}
		if len(out) == maxScopes {
			break
		}
	}
	return out
}

func notScope(r rune) bool { return r <= ' ' || r >= 0x7f || r == '"' || r == '\\' }

// oneChallenge is a scheme with its parameters, whose names are in lower case.
type oneChallenge struct {
	scheme string
	params map[string]string
}

// parseChallenges parses the value of a WWW-Authenticate header: a list of
// challenges whose parameters are lists too, separated by the same commas
// (RFC 9110, 11.6.1). It stops where the value breaks the grammar.
func parseChallenges(text string) []oneChallenge {
	var out []oneChallenge
	p := parser{rest: text}
	for {
		p.separators()
		name := p.token()
		if name == "" {
			return out
		}
		spaced := p.spaces()
		if len(out) > 0 && p.byte('=') {
			value, ok := p.value()
			if !ok {
				return out
			}
			// The first of two parameters of one name counts.
			last := out[len(out)-1].params
			if key := strings.ToLower(name); last[key] == "" {
				last[key] = value
			}
			continue
		}
		out = append(out, oneChallenge{scheme: name, params: map[string]string{}})
		if spaced {
			p.token68()
		}
	}
}

// parser reads a header from its front.
type parser struct{ rest string }

func (p *parser) separators() { p.rest = strings.TrimLeft(p.rest, " \t,") }

func (p *parser) spaces() bool {
	before := len(p.rest)
	p.rest = strings.TrimLeft(p.rest, " \t")
	return len(p.rest) < before
}

func (p *parser) byte(c byte) bool {
	if p.rest == "" || p.rest[0] != c {
		return false
	}
	p.rest = p.rest[1:]
	return true
}

func (p *parser) take(ok func(c byte) bool) string {
	end := 0
	for end < len(p.rest) && ok(p.rest[end]) {
		end++
	}
	taken := p.rest[:end]
	p.rest = p.rest[end:]
	return taken
}

func (p *parser) token() string { return p.take(isTokenByte) }

// token68 skips the credentials that some schemes have in place of parameters.
func (p *parser) token68() {
	ahead := *p
	ahead.take(func(c byte) bool { return isTokenByte(c) || c == '/' })
	ahead.take(func(c byte) bool { return c == '=' })
	ahead.spaces()
	if ahead.rest == "" || ahead.rest[0] == ',' {
		*p = ahead
	}
}

// value reads a token or a quoted string.
func (p *parser) value() (string, bool) {
	p.spaces()
	if !p.byte('"') {
		// Some servers do not quote addresses.
		bare := p.take(func(c byte) bool { return c > ' ' && c < 0x7f && c != ',' && c != '"' })
		return bare, bare != ""
	}
	var value strings.Builder
	for p.rest != "" {
		c := p.rest[0]
		p.rest = p.rest[1:]
		switch {
		case c == '"':
			return value.String(), true
		case c == '\\' && p.rest != "":
			c, p.rest = p.rest[0], p.rest[1:]
		}
		value.WriteByte(c)
	}
	return "", false
}

func isTokenByte(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || strings.IndexByte("!#$%&'*+-.^_`|~", c) >= 0
}
