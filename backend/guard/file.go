package guard

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"atelier.dev/atelier/agent"
	"atelier.dev/atelier/agent/permission/boundary"
	"atelier.dev/atelier/agent/permission/rule"
	"atelier.dev/atelier/backend"
	"atelier.dev/atelier/backend/settings"
	"atelier.dev/atelier/internal/text"
)

// content is what a settings file says.
type content struct {
	rules   []written
	sandbox json.RawMessage   // nil if there is none
	bounds  boundary.Settings // the lists in it
	unbound bool              // they cannot be read
}

// written is a rule as it stands in a file or among those of a session.
type written struct {
	rule.Rule
	line int
	err  error // why it cannot be read
}

// lists are the members of "permissions" that have rules.
var lists = []struct {
	key      string
	decision agent.Decision
}{{"deny", agent.Deny}, {"ask", agent.Ask}, {"allow", agent.Allow}}

// contentOf reads the rules of a file. If the permissions are not an object of
// lists, the whole file is unreadable. A single rule that cannot be read is kept
// as such.
func contentOf(t *settings.Text, scope agent.Scope) (content, error) {
	var c content
	if t.Err != nil {
		return c, t.Err
	}
	if m, ok := t.Member("sandbox"); ok {
		c.sandbox = m.Raw
		c.unbound = json.Unmarshal(m.Raw, &c.bounds) != nil
	}
	permissions, ok := t.Member("permissions")
	if !ok {
		return c, nil
	}
	fail := func(at int, err error) (content, error) { return content{}, t.Fault(at, err) }
	inner, at, err := settings.Members(permissions.Raw, permissions.At)
	if err != nil {
		return fail(at, err)
	}
	for _, list := range lists {
		for _, l := range inner {
			if l.Name != list.key {
				continue
			}
			items, at, err := settings.Elements(l.Raw, l.At)
			if err != nil {
				return fail(at, err)
			}
			for _, item := range items {
				w := readRule(item.Raw)
				w.Decision, w.Scope, w.line = list.decision, scope, t.Line(item.At)
				c.rules = append(c.rules, w)
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
func shorten(s string) string {
	if s == "" {
		return `""`
	}
	return text.Shorten(strings.ToValidUTF8(s, "\uFFFD"), maxShown)
}

// change returns an edit of one of a file's lists of rules: those to take out go,
// and a rule is added unless it is nil.
func change(decision agent.Decision, out func(w written) bool, add *rule.Rule, missing error) func([]byte) ([]byte, error) {
	return func(b []byte) ([]byte, error) {
		key := ""
		for _, list := range lists {
			if list.decision == decision {
				key = list.key
			}
		}
		if _, err := contentOf(settings.Parse(b), ""); err != nil {
			return nil, err // nothing is added to what cannot be read
		}
		items, err := listed(b, key)
		if err != nil {
			return nil, err
		}
		left := len(items)
		for i, item := range slices.Backward(items) {
			if !out(readRule(item.Raw)) {
				continue
			}
			if b, err = settings.Set(b, nil, "permissions", key, i); err != nil {
				return nil, err
			}
			left--
		}
		switch {
		case add == nil && left == len(items):
			return nil, missing
		case add == nil:
			return b, nil
		case left >= rule.MaxRules:
			return nil, backend.Problem(backend.ProblemRulesFull)
		}
		return settings.Set(b, element(*add), "permissions", key, left)
	}
}

// listed returns the elements of a list of rules, none if there is no such list.
func listed(b []byte, key string) ([]settings.Member, error) {
	t := settings.Parse(b)
	permissions, ok := t.Member("permissions")
	if t.Err != nil || !ok {
		return nil, t.Err
	}
	inner, at, err := settings.Members(permissions.Raw, permissions.At)
	if err != nil {
		return nil, t.Fault(at, err)
	}
	for _, l := range inner {
		if l.Name == key {
			items, at, err := settings.Elements(l.Raw, l.At)
			if err != nil {
				return nil, t.Fault(at, err)
			}
			return items, nil
		}
	}
	return nil, nil
}

// element returns a rule as it is written in a file.
func element(r rule.Rule) []byte {
	if r.Expires == 0 {
		return settings.Encode(r.String())
	}
	return settings.Encode(ruleObject{r.String(), time.UnixMilli(r.Expires).UTC().Format(time.RFC3339)})
}

// FileRules returns the rules of a settings file's text. A rule that cannot be read
// asks about commands.
func FileRules(b []byte, scope agent.Scope) ([]rule.Rule, error) {
	c, err := contentOf(settings.Parse(b), scope)
	rules := make([]rule.Rule, 0, len(c.rules))
	for _, w := range c.rules {
		rules = append(rules, w.Rule)
	}
	return rules, err
}
