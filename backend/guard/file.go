package guard

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"atelier.dev/atelier/agent"
	"atelier.dev/atelier/agent/permission/rule"
)

// maxFile limits a settings file, in bytes.
const maxFile = 1 << 20

// content is what a settings file says.
type content struct {
	rules   []written
	sandbox json.RawMessage // nil if there is none
}

// written is a rule as it stands in a file or among those of a session.
type written struct {
	rule.Rule
	line int
	err  error // why it cannot be read
}

// member is a member of an object in a file; at is where its value begins.
type member struct {
	key string
	raw json.RawMessage
	at  int
}

// lists are the members of "permissions" that have rules.
var lists = []struct {
	key      string
	decision agent.Decision
}{{"deny", agent.Deny}, {"ask", agent.Ask}, {"allow", agent.Allow}}

// syntaxError is a fault of a file at a line.
type syntaxError struct {
	line int
	err  error
}

func (e *syntaxError) Error() string { return fmt.Sprintf("line %d: %v", e.line, e.err) }
func (e *syntaxError) Unwrap() error { return e.err }

// parse reads a settings file. What cannot be understood as rules makes the whole
// file unreadable, except a single rule.
func parse(b []byte, scope agent.Scope) (content, error) {
	var c content
	if len(bytes.TrimSpace(b)) == 0 {
		return c, nil
	}
	fail := func(at int, err error) (content, error) {
		return content{}, &syntaxError{1 + bytes.Count(b[:min(at, len(b))], []byte("\n")), err}
	}
	top, at, err := members(b, 0)
	if err != nil {
		return fail(at, err)
	}
	for _, m := range top {
		switch m.key {
		case "sandbox":
			c.sandbox = m.raw
		case "permissions":
			inner, at, err := members(m.raw, m.at)
			if err != nil {
				return fail(at, err)
			}
			for _, list := range lists {
				for _, l := range inner {
					if l.key != list.key {
						continue
					}
					items, at, err := elements(l.raw, l.at)
					if err != nil {
						return fail(at, err)
					}
					for _, item := range items {
						w := readRule(item.raw)
						w.Decision, w.Scope = list.decision, scope
						w.line = 1 + bytes.Count(b[:item.at], []byte("\n"))
						c.rules = append(c.rules, w)
					}
				}
			}
		}
	}
	if len(c.rules) > rule.MaxRules {
		return fail(0, fmt.Errorf("it has more than %d rules", rule.MaxRules))
	}
	return c, nil
}

// ruleObject is a rule with its end.
type ruleObject struct {
	Rule    string `json:"rule"`
	Expires string `json:"expires,omitempty"` // RFC 3339
}

// readRule reads an element of a list: a rule, or an object with a rule and its
// end. A rule that cannot be read keeps its text and is about commands.
func readRule(raw json.RawMessage) written {
	var o ruleObject
	if err := json.Unmarshal(raw, &o.Rule); err != nil {
		if err := json.Unmarshal(raw, &o); err != nil {
			return written{Rule: rule.Rule{Tool: "Bash", Unread: shorten(string(raw))}, err: errors.New("it is neither a text nor an object with a rule")}
		}
	}
	r, err := rule.Parse(o.Rule)
	if err == nil && o.Expires != "" {
		var at time.Time
		at, err = time.Parse(time.RFC3339, o.Expires)
		r.Expires = at.UnixMilli()
	}
	if err != nil {
		return written{Rule: rule.Rule{Tool: "Bash", Unread: shorten(o.Rule)}, err: err}
	}
	return written{Rule: r}
}

const maxShown = 200

// shorten cuts the text of a rule that cannot be read.
func shorten(text string) string {
	text = strings.ToValidUTF8(text, "�")
	if runes := []rune(text); len(runes) > maxShown {
		text = string(runes[:maxShown]) + "…"
	}
	if text == "" {
		text = `""`
	}
	return text
}

// members splits an object, in its order. With an error it returns where it is.
func members(b []byte, base int) ([]member, int, error) {
	dec := json.NewDecoder(bytes.NewReader(b))
	at := func() int { return base + int(dec.InputOffset()) }
	if t, err := dec.Token(); err != nil || t != json.Delim('{') {
		return nil, at(), notJSON(err, "it is not an object")
	}
	var out []member
	seen := map[string]bool{}
	for dec.More() {
		t, err := dec.Token()
		if err != nil {
			return nil, at(), notJSON(err, "")
		}
		key, _ := t.(string) // the decoder allows no other key
		var raw json.RawMessage
		if err := dec.Decode(&raw); err != nil {
			return nil, at(), notJSON(err, "")
		}
		if seen[key] {
			return nil, at(), fmt.Errorf("it has the member %q twice", shorten(key))
		}
		seen[key] = true
		out = append(out, member{key, raw, at() - len(raw)})
	}
	if _, err := dec.Token(); err != nil {
		return nil, at(), notJSON(err, "")
	}
	if len(bytes.TrimSpace(b[dec.InputOffset():])) > 0 {
		return nil, at(), errors.New("something follows its end")
	}
	return out, 0, nil
}

// elements splits a list.
func elements(b []byte, base int) ([]member, int, error) {
	dec := json.NewDecoder(bytes.NewReader(b))
	at := func() int { return base + int(dec.InputOffset()) }
	if t, err := dec.Token(); err != nil || t != json.Delim('[') {
		return nil, at(), notJSON(err, "its rules are not a list")
	}
	var out []member
	for dec.More() {
		var raw json.RawMessage
		if err := dec.Decode(&raw); err != nil {
			return nil, at(), notJSON(err, "")
		}
		out = append(out, member{raw: raw, at: at() - len(raw)})
	}
	return out, 0, nil
}

func notJSON(err error, otherwise string) error {
	if err == nil {
		return errors.New(otherwise)
	}
	return fmt.Errorf("it is not JSON: %w", err)
}

// edited returns a settings file with a rule added to one of its lists, or taken
// out. Everything else stays as it is, in its order.
func edited(b []byte, decision agent.Decision, change func(items []member) ([]member, error)) ([]byte, error) {
	if len(bytes.TrimSpace(b)) == 0 {
		b = []byte("{}")
	}
	key := ""
	for _, list := range lists {
		if list.decision == decision {
			key = list.key
		}
	}
	top, _, err := members(b, 0)
	if err != nil {
		return nil, err
	}
	permissions := valueOf(top, "permissions", "{}")
	inner, _, err := members(permissions, 0)
	if err != nil {
		return nil, err
	}
	items, _, err := elements(valueOf(inner, key, "[]"), 0)
	if err != nil {
		return nil, err
	}
	if items, err = change(items); err != nil {
		return nil, err
	}
	inner = withValue(inner, key, joined('[', items, ']'))
	top = withValue(top, "permissions", joined('{', inner, '}'))
	var out bytes.Buffer
	if err := json.Indent(&out, joined('{', top, '}'), "", "  "); err != nil {
		return nil, fmt.Errorf("write the rules: %w", err)
	}
	out.WriteByte('\n')
	return out.Bytes(), nil
}

func valueOf(in []member, key, otherwise string) []byte {
	for _, m := range in {
		if m.key == key {
			return m.raw
		}
	}
	return []byte(otherwise)
}

func withValue(in []member, key string, raw []byte) []member {
	for i, m := range in {
		if m.key == key {
			in[i].raw = raw
			return in
		}
	}
	return append(in, member{key: key, raw: raw})
}

// joined writes an object or a list.
func joined(open byte, in []member, end byte) []byte {
	b := []byte{open}
	for i, m := range in {
		if i > 0 {
			b = append(b, ',')
		}
		if open == '{' {
			b = append(append(b, encoded(m.key)...), ':')
		}
		b = append(b, m.raw...)
	}
	return append(b, end)
}

// encoded returns the JSON form of a value that has one, with & < > as they are.
func encoded(v any) []byte {
	var out bytes.Buffer
	enc := json.NewEncoder(&out)
	enc.SetEscapeHTML(false)
	_ = enc.Encode(v) // texts always have one
	return bytes.TrimSpace(out.Bytes())
}

// element returns a rule as it is written in a file.
func element(r rule.Rule) []byte {
	if r.Expires == 0 {
		return encoded(r.String())
	}
	return encoded(ruleObject{r.String(), time.UnixMilli(r.Expires).UTC().Format(time.RFC3339)})
}

// FileRules returns the rules of a settings file's text. A rule that cannot be read
// asks about commands.
func FileRules(b []byte, scope agent.Scope) ([]rule.Rule, error) {
	c, err := parse(b, scope)
	rules := make([]rule.Rule, 0, len(c.rules))
	for _, w := range c.rules {
		rules = append(rules, w.Rule)
	}
	return rules, err
}
