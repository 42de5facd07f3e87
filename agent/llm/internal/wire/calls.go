package wire

import (
	"bytes"
	"encoding/json"
	"strconv"
	"strings"
	"unicode/utf8"

	"atelier.dev/atelier/agent/llm"
)

// A model may write a call that its own provider refuses when it is sent back:
// one with a malformed name, a repeated id, or arguments that are not JSON.
// Such a call stays in the conversation, so that every later request would be
// refused. Calls are therefore sent in a form that all providers accept, and a
// call and its result always in the same form.

// IDs has the ids under which a conversation's calls are sent: the provider's
// own to their origin, ours to any other provider, which may refuse a foreign
// id. Ours also replaces an id that the provider repeated or that its API would
// refuse.
type IDs struct {
	target llm.Origin
	echo   bool              // in any form
	sent   map[string]string // by our id
	taken  map[string]bool
}

// NewIDs returns the ids of a conversation without calls, for a request to
// target. echo sends ids back to their origin in any form: some models number
// their calls in them, and some gateways keep a reasoning signature there.
// Otherwise an id has at most 64 letters, digits, _ and -.
func NewIDs(target llm.Origin, echo bool) *IDs {
	return &IDs{target: target, echo: echo, sent: map[string]string{}, taken: map[string]bool{}}
}

// Add takes the calls of a message. Call it for each message before the message
// is lowered, in the order of the conversation.
func (ids *IDs) Add(m llm.Message) {
	same := m.Origin.Same(ids.target)
	for _, p := range m.Parts {
		c := p.Call
		if p.Kind != llm.PartToolCall || c == nil {
			continue
		}
		id := c.ID
		if same && !ids.taken[c.WireID] && ids.accepts(c.WireID) {
			id = c.WireID
		}
		ids.sent[c.ID], ids.taken[id] = id, true
	}
}

const (
	maxName   = 64      // of an id or a called tool that every API accepts
	maxEchoed = 4 << 10 // of an id in another form that is sent back
)

// plain replaces a character that an API may refuse in an id or a name.
func plain(r rune) rune {
	switch {
	case r >= 'a' && r <= 'z', r >= 'A' && r <= 'Z', r >= '0' && r <= '9', r == '_', r == '-':
		return r
	default:
		return '_'
	}
}

// accepts reports whether the target accepts an id of its own.
func (ids *IDs) accepts(id string) bool {
	if !ids.echo {
		return id != "" && len(id) <= maxName && strings.Map(plain, id) == id
	}
	odd := strings.ContainsFunc(id, func(r rune) bool { return r <= ' ' || r > '~' })
	return id != "" && len(id) <= maxEchoed && !odd
}

// Call returns the id under which the call with our id is sent.
func (ids *IDs) Call(id string) string { return ids.sent[id] }

// Result returns the id that a result answers.
func (ids *IDs) Result(r *llm.ToolResult) string {
	if id, ok := ids.sent[r.CallID]; ok {
		return id
	}
	return r.CallID
}

// Verbatim reports whether a call can go back to its origin as it came.
func (ids *IDs) Verbatim(c *llm.ToolCall) bool {
	return (c.WireID == "" || ids.sent[c.ID] == c.WireID) && CallName(c.Name) == c.Name &&
		(c.Custom || bytes.Equal(Arguments(c), c.Arguments))
}

// CallName returns the name under which a call is sent: at most 64 letters, digits,
// _ and -, beginning with a letter or _. Models invent names for tools that they
// were never shown.
func CallName(name string) string {
	clean := strings.Map(plain, name)
	switch {
	case clean == "":
		return "unnamed"
	case clean[0] == '-' || clean[0] >= '0' && clean[0] <= '9':
		clean = "_" + clean
	}
	return clean[:min(len(clean), maxName)]
}

// maxDepth limits the nesting of arguments; some providers' parsers stop at a
// hundred levels.
const maxDepth = 64

// Arguments returns a call's arguments for an API that accepts only an object:
// what the model sent, or an object that quotes it.
func Arguments(c *llm.ToolCall) json.RawMessage {
	if input := c.Input(); bytes.HasPrefix(bytes.TrimSpace(input), []byte("{")) && depth(input) <= maxDepth && json.Valid(input) {
		return readable(input)
	}
	return JSON(map[string]string{"invalid_arguments": string(c.Arguments)})
}

// depth returns how deeply a JSON value is nested.
func depth(raw []byte) int {
	deepest, level, quoted := 0, 0, false
	for i := 0; i < len(raw); i++ {
		switch b := raw[i]; {
		case quoted && b == '\\':
			i++
		case b == '"':
			quoted = !quoted
		case quoted:
		case b == '{' || b == '[':
			level++
			deepest = max(deepest, level)
		case b == '}' || b == ']':
			level--
		}
	}
	return deepest
}

// readable replaces parts of a valid JSON value that Go's parser accepts and
// others refuse: bytes that are not UTF-8, and halves of surrogate pairs.
func readable(raw []byte) []byte {
	if !utf8.Valid(raw) {
		raw = bytes.ToValidUTF8(raw, []byte("\uFFFD"))
	}
	if !bytes.Contains(raw, []byte(`\u`)) {
		return raw
	}
	const escape = len(`\uXXXX`)
	var out []byte // nil while nothing is replaced
	for i := 0; i < len(raw); i++ {
		if raw[i] != '\\' {
			continue
		}
		switch unit := codeUnit(raw[i:]); {
		case unit < 0: // another escape
			i++
		case unit < 0xD800 || unit > 0xDFFF:
			i += escape - 1
		case unit < 0xDC00 && low(codeUnit(raw[i+escape:])):
			i += 2*escape - 1
		default:
			if out == nil {
				out = bytes.Clone(raw)
			}
			copy(out[i:], `\ufffd`)
			i += escape - 1
		}
	}
	if out == nil {
		return raw
	}
	return out
}

func low(unit int) bool { return unit >= 0xDC00 && unit <= 0xDFFF }

// codeUnit reads the escape \uXXXX at the start of s; it is negative if there
// is none.
func codeUnit(s []byte) int {
	if len(s) < 6 || s[0] != '\\' || s[1] != 'u' {
		return -1
	}
	n, err := strconv.ParseUint(string(s[2:6]), 16, 16)
	if err != nil {
		return -1
	}
	return int(n)
}
