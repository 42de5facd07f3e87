package agent

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"regexp"
	"slices"
	"strings"

	"atelier.dev/atelier/agent/llm"
)

// ProviderOptions are what requests to a provider's models say besides, in the
// provider's own words: beta switches, safety settings, its own tools. They are
// the same in every request of a session, so that the prefix of its requests
// stays the same.
type ProviderOptions struct {
	Header http.Header
	// Body are members of the request's body. One that the adapter writes too
	// takes the place of the adapter's.
	Body map[string]json.RawMessage
}

var (
	headerName = regexp.MustCompile("^[!#$%&'*+.^_`|~0-9A-Za-z-]+$")
	// reservedHeaders carry the key or frame the request.
	reservedHeaders = []string{
		"Authorization", "Proxy-Authorization", "X-Api-Key", "Api-Key", "X-Goog-Api-Key", "Cookie", "Host", "Connection",
		"Content-Type", "Content-Length", "Content-Encoding", "Transfer-Encoding", "Accept-Encoding",
	}
	// reservedMembers are the conversation, under all APIs' names for it.
	reservedMembers = []string{
		"model", "messages", "input", "contents", "system", "instructions", "systemInstruction", "system_instruction", "stream",
	}
)

// check reports what cannot be sent, or would take the place of what a session
// sends by itself.
func (o ProviderOptions) check() error {
	for name, values := range o.Header {
		name = http.CanonicalHeaderKey(name)
		switch {
		case !headerName.MatchString(name):
			return fmt.Errorf("%q is not the name of a header", name)
		case slices.Contains(reservedHeaders, name):
			return fmt.Errorf("the header %s is the session's own", name)
		case slices.ContainsFunc(values, func(v string) bool {
			return strings.ContainsFunc(v, func(r rune) bool { return r < ' ' && r != '\t' || r == 0x7f })
		}):
			return fmt.Errorf("the value of the header %s holds control characters", name)
		}
	}
	for name, value := range o.Body {
		switch {
		case name == "":
			return fmt.Errorf("a member of the body has no name")
		case slices.Contains(reservedMembers, name):
			return fmt.Errorf("the member %q of the body is the session's own", name)
		case !json.Valid(value):
			return fmt.Errorf("the member %q of the body is not JSON", name)
		}
	}
	return nil
}

// over returns base with o's headers and members in the place of those of the
// same name. It shares nothing with either.
func (o ProviderOptions) over(base ProviderOptions) ProviderOptions {
	merged := ProviderOptions{Header: http.Header{}, Body: map[string]json.RawMessage{}}
	for _, layer := range []ProviderOptions{base, o} {
		for name, values := range layer.Header {
			merged.Header[http.CanonicalHeaderKey(name)] = slices.Clone(values)
		}
		for name, value := range layer.Body {
			merged.Body[name] = slices.Clone(value)
		}
	}
	return merged
}

// checkOptions checks the options of all providers, in a fixed order.
func checkOptions(all map[string]ProviderOptions) error {
	for _, provider := range slices.Sorted(maps.Keys(all)) {
		if err := all[provider].check(); err != nil {
			return fmt.Errorf("read the options of %s: %w", provider, err)
		}
	}
	return nil
}

// options returns what a request to a model says besides: its profile's options
// with the configuration's over them, and the settings.
func (t *turn) options(who llm.Origin, profile Profile) (llm.Options, error) {
	s := t.session
	o := s.cfg.Options[who.Provider].over(profile.Options)
	if err := o.check(); err != nil {
		return llm.Options{}, &llm.Error{
			Class: llm.ClassConfig, Provider: who.Provider, Message: fmt.Sprintf("the options of its profile cannot be sent: %v", err), Cause: err,
		}
	}
	return llm.Options{ThinkingTokens: s.transcript.Settings.ThinkingTokens, Header: o.Header, Body: o.Body}, nil
}
