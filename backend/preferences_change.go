package backend

import (
	"bytes"
	"encoding/json"
	"fmt"
)

// independent are the preferences whose members are separate choices. Every
// other preference is one choice.
var independent = map[string]bool{"layout": true, "notices": true, "fonts": true, "levels": true, "sandbox": true}

type members = map[string]json.RawMessage

// Changed returns p with the changes that lead from before to after. A choice
// that is the same in both stays as it is in p.
func (p Preferences) Changed(before, after Preferences) (changed Preferences, err error) {
	var parts [3]members
	for i, each := range []Preferences{p, before, after} {
		if parts[i], err = membersOf(each); err != nil {
			return p, err
		}
	}
	now, was, is := parts[0], parts[1], parts[2]
	for name := range differing(was, is) {
		if !independent[name] || is[name] == nil {
			setMember(now, name, is[name])
			continue
		}
		var inner [3]members
		for i, whole := range parts {
			if err := json.Unmarshal(orEmpty(whole[name]), &inner[i]); err != nil {
				return p, fmt.Errorf("change the preference %s: %w", name, err)
			}
		}
		for choice := range differing(inner[1], inner[2]) {
			setMember(inner[0], choice, inner[2][choice])
		}
		if len(inner[2]) == 0 { // all of it was reset
			inner[0] = inner[2]
		}
		if now[name], err = json.Marshal(inner[0]); err != nil {
			return p, fmt.Errorf("change the preference %s: %w", name, err)
		}
	}
	b, err := json.Marshal(now)
	if err == nil {
		err = json.Unmarshal(b, &changed)
	}
	if err != nil {
		return p, fmt.Errorf("change preferences: %w", err)
	}
	return changed, nil
}

func membersOf(p Preferences) (m members, err error) {
	b, err := json.Marshal(p)
	if err == nil {
		err = json.Unmarshal(b, &m)
	}
	if err != nil {
		return nil, fmt.Errorf("change preferences: %w", err)
	}
	return m, nil
}

// differing returns the names of the members that are not the same.
func differing(a, b members) map[string]bool {
	names := map[string]bool{}
	for _, all := range []members{a, b} {
		for name := range all {
			if !bytes.Equal(a[name], b[name]) {
				names[name] = true
			}
		}
	}
	return names
}

// setMember sets a member, or deletes it if it has no value.
func setMember(m members, name string, value json.RawMessage) {
	if value == nil {
		delete(m, name)
	} else {
		m[name] = value
	}
}

func orEmpty(value json.RawMessage) json.RawMessage {
	if value == nil {
		return json.RawMessage("{}")
	}
	return value
}
