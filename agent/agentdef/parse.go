package agentdef

import (
	"bytes"
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"unicode"

	"atelier.dev/atelier/agent"
	"atelier.dev/atelier/agent/internal/frontmatter"
	"atelier.dev/atelier/agent/internal/toollist"
	"atelier.dev/atelier/agent/llm"
	"atelier.dev/atelier/internal/text"
)

// Limits of one definition.
const (
	MaxFile   = 256 << 10 // bytes
	maxName   = 64        // characters
	maxText   = 4 << 10   // bytes of a description
	maxSkills = 20
	maxRounds = 1000
)

// Parse reads the text of a Markdown file. Name is used if the file gives none; it is empty
// if it has to. Parse never fails: what is wrong is among the findings.
func Parse(place Place, name, text string) Definition {
	d := Definition{Name: name, Place: place}
	front := d.open(text)
	if !front.Present || front.TooLong {
		return d
	}
	d.name(front)
	d.describe(front)
	d.limit(front)
	d.mode(front, "permissionMode")
	d.rounds(front, "maxTurns")
	d.start(front)
	d.attach(front)
	return d
}

// open reads the frontmatter.
func (d *Definition) open(text string) frontmatter.Front {
	if len(text) > MaxFile {
		d.fail(FindingUnread, 0, "it is too large")
		return frontmatter.Front{}
	}
	front := frontmatter.Read(text)
	d.Prompt = strings.TrimSpace(front.Body)
	switch {
	case front.TooLong:
		d.fail(FindingFront, 1)
	case !front.Present:
		d.fail(FindingNoFront, 1)
	case front.Problem != "":
		d.find(FindingYAML, front.ProblemLine, front.Problem)
	}
	return front
}

func (d *Definition) name(front frontmatter.Front) {
	line := 1
	if f, ok := front.Field("name"); ok && f.Text != "" {
		d.Name, line = strings.TrimSpace(f.Text), f.Line
	}
	if !isName(d.Name) {
		d.fail(FindingName, line, d.Name)
		d.Name = ""
	}
}

// isName reports whether a text can name an agent.
func isName(name string) bool {
	return name != "" && len([]rune(name)) <= maxName && name[0] != '-' && !strings.ContainsFunc(name, func(c rune) bool {
		return c == ':' || c == '<' || c == '>' || c == unicode.ReplacementChar || !unicode.IsPrint(c)
	})
}

func (d *Definition) describe(front frontmatter.Front) {
	f, _ := front.Field("description")
	if d.Description = text.Clip(strings.TrimSpace(f.Text), maxText); d.Description == "" {
		d.fail(FindingDescription, 1)
	}
	if f, ok := front.Field("model"); ok && !strings.EqualFold(f.Text, "inherit") {
		d.Model = text.Clip(strings.TrimSpace(f.Text), maxArg)
	}
	if f, ok := front.Field("effort"); ok && f.Text != "" {
		switch effort := llm.Effort(strings.ToLower(strings.TrimSpace(f.Text))); effort {
		case llm.EffortNone, llm.EffortMinimal, llm.EffortLow, llm.EffortMedium, llm.EffortHigh, llm.EffortXHigh, llm.EffortMax:
			d.Effort = effort
		default:
			d.find(FindingValue, f.Line, f.Key, f.Text)
		}
	}
}

// hidden returns a function that matches a key where YAML that is not valid hides it.
func hidden(key string) func() *regexp.Regexp {
	return sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`(?im)^[\s{,"'?-]*` + key + `["'\s]*:|[{,]\s*["']?` + key + `["'\s]*:`)
	})
}

var hiddenTools, hiddenDenied, hiddenMode, hiddenHooks = hidden(`tools`), hidden(`disallowed[-_]?tools`), hidden(`permission[-_]?mode`), hidden(`hooks`)

// lost reports whether a key that limits stands in frontmatter whose reading did not find it.
func lost(front frontmatter.Front, key string, pattern func() *regexp.Regexp) bool {
	_, ok := front.Field(key)
	return !ok && front.Problem != "" && front.Mentions(pattern())
}

// limit reads the tools that the agent may call.
func (d *Definition) limit(front frontmatter.Front) {
	places := strings.NewReplacer()
	if f, ok := front.Field("tools"); ok {
		list := toollist.Read(f, nil, false, places)
		d.report(list, f)
		d.Limits.Limited, d.Limits.Tools = !list.All, list.Tools
		if !list.Allows() {
			d.fail(FindingNoTools, f.Line, text.Clip(f.Text, maxArg))
		}
	} else if lost(front, "tools", hiddenTools) {
		d.Limits.Limited = true
		d.fail(FindingNoTools, front.ProblemLine, "tools")
	}
	if f, ok := front.Field("disallowedTools"); ok {
		list := toollist.Read(f, nil, true, places)
		d.report(list, f)
		d.Limits.Denied = list.Tools
		if list.All || list.More > 0 {
			d.fail(FindingNoTools, f.Line, f.Key)
		}
	} else if lost(front, "disallowedTools", hiddenDenied) {
		d.fail(FindingNoTools, front.ProblemLine, "disallowedTools")
	}
}

func (d *Definition) report(list toollist.List, f frontmatter.Field) {
	for _, name := range list.Unknown {
		d.find(FindingTool, f.Line, name)
	}
	if list.More > 0 {
		d.find(FindingTools, f.Line, strconv.Itoa(list.More))
	}
}

// mode reads a permission mode. One that cannot be read is the tightest.
func (d *Definition) mode(front frontmatter.Front, key string) {
	f, ok := front.Field(key)
	switch mode := agent.Mode(strings.TrimSpace(f.Text)); {
	case lost(front, key, hiddenMode):
		d.Mode = agent.ModePlan
		d.find(FindingMode, front.ProblemLine, key)
	case !ok || f.Kind == frontmatter.Empty:
	case mode == "manual":
		d.Mode = agent.ModeDefault
	case slices.Contains(modes, mode):
		d.Mode = mode
	default:
		d.Mode = agent.ModePlan
		d.find(FindingMode, f.Line, string(mode))
	}
}

func (d *Definition) rounds(front frontmatter.Front, key string) {
	f, ok := front.Field(key)
	if !ok || f.Kind == frontmatter.Empty {
		return
	}
	n, err := strconv.Atoi(strings.TrimSpace(f.Text))
	if err != nil || n < 1 || n > maxRounds {
		d.find(FindingValue, f.Line, f.Key, f.Text)
		return
	}
	d.Rounds = n
}

// colors are those that an agent may have.
var colors = strings.Fields("red blue green yellow purple orange pink cyan")

// start reads how the agent begins.
func (d *Definition) start(front frontmatter.Front) {
	d.Start.Background = d.yes(front, "background")
	for _, c := range []struct {
		key    string
		to     *string
		values []string
	}{
		{"color", &d.Start.Color, colors},
		{"memory", &d.Start.Memory, []string{"user", "project", "local"}},
		{"initialPrompt", &d.Start.InitialPrompt, nil},
	} {
		f, ok := front.Field(c.key)
		value := strings.TrimSpace(f.Text)
		switch {
		case !ok || value == "":
		case c.values != nil && !slices.Contains(c.values, value):
			d.find(FindingValue, f.Line, f.Key, value)
		default:
			*c.to = text.Clip(value, maxText)
		}
	}
	if f, ok := front.Field("isolation"); ok && f.Text != "" {
		if d.Start.Worktree = strings.TrimSpace(f.Text) == "worktree"; !d.Start.Worktree {
			d.fail(FindingValue, f.Line, f.Key, f.Text) // it would work on the user's own files
		}
	}
	if f, ok := front.Field("memory"); ok && d.Start.Memory != "" {
		d.find(FindingNoEffect, f.Line, f.Key)
	}
}

// yes reads a boolean, which is false if it cannot be read.
func (d *Definition) yes(front frontmatter.Front, key string) bool {
	f, ok := front.Field(key)
	if ok && f.Kind != frontmatter.Empty && !frontmatter.Yes(f.Text) && !frontmatter.No(f.Text) {
		d.find(FindingValue, f.Line, f.Key, f.Text)
	}
	return ok && frontmatter.Yes(f.Text)
}

// attach reads what comes with the agent: skills, servers and hooks.
func (d *Definition) attach(front frontmatter.Front) {
	if f, ok := front.Field("skills"); ok {
		for _, name := range words(f) {
			if len(d.Skills) < maxSkills && !slices.Contains(d.Skills, name) {
				d.Skills = append(d.Skills, name)
			}
		}
	}
	if f, ok := front.Field("mcpServers"); ok {
		d.servers(f)
	}
	f, ok := front.Field("hooks")
	switch raw, isMap := front.JSON("hooks"); {
	case lost(front, "hooks", hiddenHooks), ok && f.Kind != frontmatter.Empty && (!isMap || f.Kind != frontmatter.Map):
		d.fail(FindingHooks, max(1, f.Line))
	case isMap:
		d.Hooks = raw
	}
}

// servers lets an agent whose tools are limited call those of servers that are named. A server
// that the file defines itself is not connected.
func (d *Definition) servers(f frontmatter.Field) {
	if f.Kind == frontmatter.Map {
		d.find(FindingNoEffect, f.Line, f.Key)
		return
	}
	for _, name := range words(f) {
		tools := toollist.Read(frontmatter.Field{Kind: frontmatter.List, Items: []string{"mcp__" + name}}, nil, false, strings.NewReplacer())
		switch {
		case len(tools.Unknown) > 0:
			d.find(FindingValue, f.Line, f.Key, name)
		case d.Limits.Limited && tools.Allows():
			d.Limits.Tools = append(d.Limits.Tools, tools.Tools...)
		}
	}
}

// words returns a list that is written with commas or spaces, or as a list.
func words(f frontmatter.Field) (out []string) {
	items := f.Items
	if f.Kind == frontmatter.Text {
		items = []string{toollist.Unbracket(f.Text)}
	}
	for _, item := range items {
		for _, w := range strings.FieldsFunc(item, func(c rune) bool { return c == ',' || unicode.IsSpace(c) }) {
			out = append(out, frontmatter.Unquote(w))
		}
	}
	return out
}

// maxGiven limits the agents in one JSON.
const maxGiven = 100

// ParseJSON reads agents from JSON, by their names: each has the keys of a file's frontmatter, and
// its text as "prompt". The error says why none of it can be read.
func ParseJSON(text string) ([]Definition, error) {
	var given map[string]map[string]json.RawMessage
	if err := json.Unmarshal([]byte(text), &given); err != nil {
		return nil, fmt.Errorf("read the agents: %w", err)
	}
	if len(given) > maxGiven {
		return nil, fmt.Errorf("there are %d agents, more than %d", len(given), maxGiven)
	}
	var names []string
	for name := range given {
		names = append(names, name)
	}
	slices.Sort(names)
	var out []Definition
	for _, name := range names {
		keys := given[name]
		var prompt string
		if raw, ok := keys["prompt"]; ok {
			if err := json.Unmarshal(raw, &prompt); err != nil {
				return nil, fmt.Errorf("read the prompt of the agent %q: %w", name, err)
			}
		}
		delete(keys, "prompt")
		delete(keys, "name")
		var front bytes.Buffer // JSON is YAML
		e := json.NewEncoder(&front)
		e.SetEscapeHTML(false)
		if err := e.Encode(keys); err != nil {
			return nil, fmt.Errorf("read the agent %q: %w", name, err)
		}
		out = append(out, Parse(Place{Scope: agent.ScopeSession}, name, "---\n"+front.String()+"---\n"+prompt))
	}
	return out, nil
}
