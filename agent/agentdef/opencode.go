package agentdef

import (
	"encoding/json"
	"slices"
	"strings"

	"atelier.dev/atelier/agent"
	"atelier.dev/atelier/agent/internal/frontmatter"
	"atelier.dev/atelier/agent/internal/toollist"
)

// ParseOpenCode reads an agent file of opencode, whose name is the file's. Enabled reports
// whether the file means an agent that others start. Of what is allowed only for some
// commands, less is allowed than the file says.
func ParseOpenCode(place Place, name, text string) (d Definition, enabled bool) {
	d = Definition{Name: name, Place: place}
	front := d.open(text)
	if !front.Present || front.TooLong {
		return d, true
	}
	if !isName(d.Name) {
		d.fail(FindingName, 1, d.Name)
	}
	d.describe(front)
	if f, ok := front.Field("prompt"); ok && d.Prompt == "" {
		d.Prompt = strings.TrimSpace(f.Text)
	}
	d.rounds(front, "maxSteps")
	if d.Rounds == 0 {
		d.rounds(front, "steps")
	}
	for _, c := range []struct {
		key  string
		read func(json.RawMessage) bool
	}{{"tools", d.switchTools}, {"permission", d.permit}} {
		key, read := c.key, c.read
		f, ok := front.Field(key)
		if !ok || f.Kind == frontmatter.Empty {
			if lost(front, key, hidden(key)) {
				d.fail(FindingNoTools, front.ProblemLine, key)
			}
			continue
		}
		if raw, isMap := front.JSON(key); !isMap || !read(raw) {
			d.fail(FindingNoTools, f.Line, key)
		}
	}
	mode, _ := front.Field("mode")
	return d, !d.yes(front, "disable") && mode.Text != "primary"
}

// switchTools reads which tools are on.
func (d *Definition) switchTools(raw json.RawMessage) bool {
	var on map[string]any
	if json.Unmarshal(raw, &on) != nil {
		return false
	}
	for name, value := range on {
		text, _ := value.(string)
		isOn := value == true || frontmatter.Yes(text)
		switch {
		case name == "*" && !isOn:
			d.Limits.Limited = true
		case name == "*":
		case isOn:
			d.Limits.Tools = append(d.Limits.Tools, d.tools(name)...)
		default:
			d.Limits.Denied = append(d.Limits.Denied, d.tools(name)...)
		}
	}
	if !d.Limits.Limited {
		d.Limits.Tools = nil
	}
	d.Limits.Tools, d.Limits.Denied = sorted(d.Limits.Tools), sorted(d.Limits.Denied)
	return true
}

// sorted sorts names, each once.
func sorted(names []string) []string {
	slices.Sort(names)
	return slices.Compact(names)
}

// tools returns the names under which tools of opencode are known here.
func (d *Definition) tools(name string) []string {
	switch name {
	case "edit", "write", "patch":
		return []string{"ApplyPatch", "Edit", "MultiEdit", "RenameSymbol", "Write"}
	case "list":
		return []string{"ListDir"}
	}
	list := toollist.Read(frontmatter.Field{Kind: frontmatter.List, Items: []string{name}}, nil, true, strings.NewReplacer())
	return list.Tools
}

// permit reads permissions: what is denied is denied, and what is asked about is asked about.
func (d *Definition) permit(raw json.RawMessage) bool {
	var all map[string]any
	if json.Unmarshal(raw, &all) != nil {
		return false
	}
	for name, value := range all {
		var strictest string
		switch v := value.(type) {
		case string:
			strictest = v
		case map[string]any: // by patterns, of which the strictest counts for all
			for _, decision := range v {
				text, _ := decision.(string)
				if text == "deny" || text == "ask" && strictest != "deny" || text == "allow" && strictest == "" {
					strictest = text
				}
			}
		}
		switch strictest {
		case "deny":
			d.Limits.Denied = append(d.Limits.Denied, d.tools(name)...)
		case "ask":
			d.Mode = agent.ModeDefault
		case "allow":
		default:
			return false
		}
	}
	d.Limits.Denied = sorted(d.Limits.Denied)
	return true
}
