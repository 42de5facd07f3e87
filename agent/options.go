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

// ProviderOptions are additions to each request in a provider's own terms: beta
// switches, safety settings, its own tools. They are the same in every request
// of a session, so that the prefix of its requests stays the same.
type ProviderOptions struct {
	Header http.Header
	// Body has extra members of the request's body. They override members that
	// the adapter writes.
	Body map[string]json.RawMessage
	// Tools are tools that the provider runs itself, such as
	// {"googleSearch":{}}, in addition to the session's. Only Gemini supports
	// them.
	Tools []json.RawMessage
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

// check reports what cannot be sent to a provider, or would take the place of
// what a session sends by itself.
func (o ProviderOptions) check(provider string) error {
	if err := o.checkTools(provider); err != nil {
		return err
	}
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

func (o ProviderOptions) checkTools(provider string) error {
	for _, tool := range o.Tools {
		var object map[string]json.RawMessage
		switch {
		case provider != "gemini":
			return fmt.Errorf("%s takes no tools of its own beside the session's", provider)
		case json.Unmarshal(tool, &object) != nil || len(object) == 0:
			return fmt.Errorf("a tool of the provider's own is not a JSON object that names it")
		case object["functionDeclarations"] != nil || object["function_declarations"] != nil:
			return fmt.Errorf("functions are the session's own tools")
		case o.Body["tools"] != nil:
			return fmt.Errorf(`the member "tools" of the body would take the place of the provider's own tools`)
		}
	}
	return nil
}

// over returns base with o's headers and members replacing those of the same
// name, and with the tools of both. It shares nothing with either.
func (o ProviderOptions) over(base ProviderOptions) ProviderOptions {
	merged := ProviderOptions{Header: http.Header{}, Body: map[string]json.RawMessage{}}
	for _, layer := range []ProviderOptions{base, o} {
		for name, values := range layer.Header {
			merged.Header[http.CanonicalHeaderKey(name)] = slices.Clone(values)
		}
		for name, value := range layer.Body {
			merged.Body[name] = slices.Clone(value)
		}
		for _, tool := range layer.Tools {
			merged.Tools = append(merged.Tools, slices.Clone(tool))
		}
	}
	return merged
}

// checkOptions checks the options of all providers, in a fixed order.
func checkOptions(all map[string]ProviderOptions) error {
	for _, provider := range slices.Sorted(maps.Keys(all)) {
		if err := all[provider].check(provider); err != nil {
			return fmt.Errorf("read the options of %s: %w", provider, err)
		}
	}
	return nil
}

// options returns what a request to a model says besides: its profile's options
// with the configuration's over them, and the settings.
func (t *turn) options(model llm.Origin, profile Profile) (llm.Options, error) {
	s := t.session
	o := s.cfg.Options[model.Provider].over(profile.Options)
	if err := o.check(model.Provider); err != nil {
		return llm.Options{}, &llm.Error{
			Class: llm.ClassConfig, Provider: model.Provider, Message: fmt.Sprintf("the options of its profile cannot be sent: %v", err), Cause: err,
		}
	}
	return llm.Options{ThinkingTokens: s.transcript.Settings.ThinkingTokens, Header: o.Header, Body: o.Body, Tools: o.Tools}, nil
}
