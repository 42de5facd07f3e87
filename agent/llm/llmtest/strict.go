package llmtest

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"
)

// Rules are what a provider demands of the calls in a conversation that it is
// sent. A refusal says why in the provider's own words.
type Rules struct {
	// Name and ID are the forms of a tool's name and of a call's id, as regular
	// expressions.
	Name, ID string
	// NameWords and IDWords say that one has another form, IDTwice that an id
	// was used before and ArgumentsWords that arguments cannot be read.
	NameWords, IDWords, IDTwice, ArgumentsWords string
	// Status is that of a refusal.
	Status int

	name, id *regexp.Regexp // compiled when they are first needed: most programs need none
}

// The rules of providers, as far as they are known from their refusals.
var (
	AnthropicRules = Rules{
		Name: `^[a-zA-Z0-9_-]{1,128}$`, ID: `^[a-zA-Z0-9_-]+$`,
		NameWords:      "messages.1.content.0.tool_use.name: String should match pattern '^[a-zA-Z0-9_-]{1,128}$'",
		IDWords:        "messages.1.content.0.tool_use.id: String should match pattern '^[a-zA-Z0-9_-]+$'",
		IDTwice:        "messages.3.content.0: `tool_use` ids must be unique",
		ArgumentsWords: "messages.1.content.0.tool_use.input: Input should be a valid dictionary",
		Status:         http.StatusBadRequest,
	}
	OpenAIRules = Rules{
		Name: `^[a-zA-Z0-9_-]{1,128}$`, ID: `^.{1,64}$`,
		NameWords: "Invalid 'input[1].name': string does not match pattern. Expected a string that matches the pattern '^[a-zA-Z0-9_-]+$'.",
		IDWords:   "Invalid 'input[1].call_id': string too long. Expected a string with maximum length 64.",
		IDTwice:   "Duplicate item found with call_id.", ArgumentsWords: "Invalid arguments.",
		Status: http.StatusBadRequest,
	}
	GoogleRules = Rules{
		Name: `^[a-zA-Z_][a-zA-Z0-9_.:-]{0,63}$`, ID: `^.*$`,
		NameWords: "Invalid function name. Must start with a letter or an underscore.",
		IDWords:   "Invalid id.", IDTwice: "Duplicate id.", ArgumentsWords: "Invalid value at 'contents[1].parts[0].function_call.args'",
		Status: http.StatusBadRequest,
	}
	MistralRules = Rules{
		Name: `^[a-zA-Z0-9_-]{1,64}$`, ID: `^[a-zA-Z0-9]{9}$`,
		NameWords: "Function name was x but must be a-z, A-Z, 0-9, or contain underscores and dashes, with a maximum length of 64.",
		IDWords:   "Tool call id was x but must be a-z, A-Z, 0-9, with a length of 9.",
		IDTwice:   "Duplicate tool call id in assistant message", ArgumentsWords: "Invalid function call arguments",
		Status: http.StatusBadRequest,
	}
	OllamaRules = Rules{
		Name: `.`, ID: `.`,
		NameWords: "invalid tool call name", IDWords: "invalid tool call id", IDTwice: "duplicate tool call id",
		ArgumentsWords: "invalid tool call arguments", Status: http.StatusBadRequest,
	}
	LlamaCppRules = Rules{
		Name: `.`, ID: `.`,
		NameWords: "Missing tool call name", IDWords: "Missing tool call id", IDTwice: "Duplicate tool call id",
		ArgumentsWords: "Failed to parse tool call arguments as JSON", Status: http.StatusInternalServerError,
	}
)

// Strict has the server refuse every conversation that breaks the rules, as
// long as it breaks them. A refused request takes no round.
func (s *Server) Strict(rules Rules) {
	rules.name, rules.id = regexp.MustCompile(rules.Name), regexp.MustCompile(rules.ID)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.rules = &rules
}

// refusal says why the rules forbid a request; empty where they do not.
func (s *Server) refusal(path string, body []byte) (why string, status int) {
	s.mu.Lock()
	rules := s.rules
	s.mu.Unlock()
	if rules == nil || s.SkipBodies {
		return "", 0
	}
	return rules.check(path, body), rules.Status
}

// spoken is a call in a conversation, or the result of one.
type spoken struct {
	result    bool
	id, name  string
	arguments []byte
}

func (r *Rules) check(path string, body []byte) string {
	if !json.Valid(body) || !utf8.Valid(body) || halfPairs(body) {
		return "The request body is not valid JSON: no low surrogate in string"
	}
	items, err := conversation(path, body)
	if err != nil {
		return err.Error()
	}
	used := map[string]bool{}
	var open []spoken
	for _, it := range items {
		if it.result {
			at := slices.IndexFunc(open, func(c spoken) bool { return c.id == it.id && (it.name == "" || c.name == it.name) })
			if at < 0 {
				return "unexpected result of a call: " + it.id
			}
			open = slices.Delete(open, at, at+1)
			continue
		}
		var object map[string]any
		switch {
		case !r.name.MatchString(it.name):
			return r.NameWords
		case !r.id.MatchString(it.id):
			return r.IDWords
		case it.id != "" && used[it.id]:
			return r.IDTwice
		case json.Unmarshal(it.arguments, &object) != nil || object == nil || nested(object) > mostNested:
			return r.ArgumentsWords
		}
		used[it.id] = true
		open = append(open, it)
	}
	if len(open) > 0 {
		return "a call has no result: " + open[0].id
	}
	return ""
}

// mostNested is how deeply arguments may be nested.
const mostNested = 100

func nested(v any) int {
	deepest := 0
	switch v := v.(type) {
	case map[string]any:
		for _, member := range v {
			deepest = max(deepest, nested(member)+1)
		}
	case []any:
		for _, item := range v {
			deepest = max(deepest, nested(item)+1)
		}
	}
	return deepest
}

// halfPairs reports whether JSON holds half of a surrogate pair, which
// decoding replaces.
func halfPairs(body []byte) bool {
	var v any
	if json.Unmarshal(body, &v) != nil {
		return true
	}
	count := func(b []byte) int {
		return bytes.Count(b, []byte("\uFFFD")) + strings.Count(strings.ToLower(string(b)), `\ufffd`)
	}
	decoded, err := json.Marshal(v)
	return err != nil || count(decoded) > count(body)
}

// conversation reads the calls and results out of a request of any format.
func conversation(path string, body []byte) ([]spoken, error) {
	var request struct {
		Input    []json.RawMessage `json:"input"`
		Messages []json.RawMessage `json:"messages"`
		Contents []json.RawMessage `json:"contents"`
	}
	if err := json.Unmarshal(body, &request); err != nil {
		return nil, fmt.Errorf("read the request: %w", err)
	}
	var read func(json.RawMessage) ([]spoken, error)
	switch {
	case strings.HasSuffix(path, "/responses"):
		read = readItem
	case strings.HasSuffix(path, "/chat/completions"):
		read = readChat
	case strings.HasSuffix(path, "/messages"):
		read = readMessage
	default:
		read = readContent
	}
	var all []spoken
	for _, raw := range slices.Concat(request.Input, request.Messages, request.Contents) {
		items, err := read(raw)
		if err != nil {
			return nil, fmt.Errorf("read the conversation: %w", err)
		}
		all = append(all, items...)
	}
	return all, nil
}

func readItem(raw json.RawMessage) ([]spoken, error) {
	var it struct{ Type, CallID, Name, Arguments string }
	var id struct {
		CallID string `json:"call_id"`
	}
	if err := json.Unmarshal(raw, &id); err != nil {
		return nil, err
	}
	_ = json.Unmarshal(raw, &it) // other kinds have members of other types
	switch it.Type {
	case "function_call":
		return []spoken{{id: id.CallID, name: it.Name, arguments: []byte(it.Arguments)}}, nil
	case "custom_tool_call":
		return []spoken{{id: id.CallID, name: it.Name, arguments: []byte("{}")}}, nil
	case "function_call_output", "custom_tool_call_output":
		return []spoken{{result: true, id: id.CallID}}, nil
	}
	return nil, nil
}

func readChat(raw json.RawMessage) ([]spoken, error) {
	var m struct {
		Role      string `json:"role"`
		ResultID  string `json:"tool_call_id"`
		ToolCalls []struct {
			ID       string                           `json:"id"`
			Function struct{ Name, Arguments string } `json:"function"`
		} `json:"tool_calls"`
	}
	if err := json.Unmarshal(raw, &m); err != nil {
		return nil, err
	}
	if m.Role == "tool" {
		return []spoken{{result: true, id: m.ResultID}}, nil
	}
	var calls []spoken
	for _, c := range m.ToolCalls {
		calls = append(calls, spoken{id: c.ID, name: c.Function.Name, arguments: []byte(c.Function.Arguments)})
	}
	return calls, nil
}

func readMessage(raw json.RawMessage) ([]spoken, error) {
	var m struct {
		Content []struct {
			Type, ID, Name string
			ToolUseID      string `json:"tool_use_id"`
			Input          json.RawMessage
		} `json:"content"`
	}
	if err := json.Unmarshal(raw, &m); err != nil {
		return nil, err
	}
	var all []spoken
	for _, c := range m.Content {
		switch c.Type {
		case "tool_use":
			all = append(all, spoken{id: c.ID, name: c.Name, arguments: c.Input})
		case "tool_result":
			all = append(all, spoken{result: true, id: c.ToolUseID})
		}
	}
	return all, nil
}

func readContent(raw json.RawMessage) ([]spoken, error) {
	var m struct {
		Parts []struct {
			Call *struct {
				ID, Name string
				Args     json.RawMessage
			} `json:"functionCall"`
			Result *struct{ ID, Name string } `json:"functionResponse"`
		} `json:"parts"`
	}
	if err := json.Unmarshal(raw, &m); err != nil {
		return nil, err
	}
	var all []spoken
	for _, p := range m.Parts {
		if p.Call != nil {
			args := p.Call.Args
			if len(args) == 0 {
				args = json.RawMessage("{}") // which they need not have
			}
			all = append(all, spoken{id: p.Call.ID, name: p.Call.Name, arguments: args})
		}
		if p.Result != nil {
			all = append(all, spoken{result: true, id: p.Result.ID, name: p.Result.Name})
		}
	}
	return all, nil
}
