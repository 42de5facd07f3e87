package skill

import (
	"context"
	_ "embed" // for the description
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"atelier.dev/atelier/agent"
)

// Host is what the Skill tool needs of a session. It is safe for concurrent use.
type Host interface {
	Library
	// Begin returns the prompt of a skill that a model begins, and what holds while it
	// is in use. It checks that the skill still is what it was. The error is told to
	// the model.
	Begin(ctx context.Context, s Skill, args string) (string, agent.SkillUse, error)
}

// Direct returns a host for programs: each skill of the library can be begun as it is.
// folder is where the session works, absolute.
func Direct(l Library, folder string) Host { return direct{l, folder} }

type direct struct {
	Library
	folder string
}

// Begin implements [Host].
func (d direct) Begin(_ context.Context, s Skill, args string) (string, agent.SkillUse, error) {
	return s.Expand(Expansion{Args: args, Folder: d.folder}), s.Use(args, false), nil
}

//go:embed skill.md
var toolDescription string

type toolInput struct {
	Skill string `json:"skill" jsonschema:"its name or an alias of it"`
	Args  string `json:"args,omitempty" jsonschema:"what it is to work on"`
	End   bool   `json:"end,omitempty" jsonschema:"true ends the skill instead"`
}

// skillTool is the tool with which a model begins and ends skills (OAS-312, OAS-815).
type skillTool struct {
	agent.Tool
	host Host
}

// Tool returns the Skill tool of a session. It changes nothing itself: what a skill asks
// for is done by calls that are decided about as always.
func Tool(h Host) agent.Tool {
	t := &skillTool{host: h}
	t.Tool = agent.Function(agent.Spec{Name: "Skill", Description: strings.TrimSpace(toolDescription), ReadOnly: true},
		func(context.Context, toolInput) (agent.Result, error) { return agent.Result{}, nil })
	return t
}

// Access implements [agent.Accessor].
func (*skillTool) Access(context.Context, json.RawMessage) agent.Access {
	return agent.Access{Own: true}
}

// EndsSkill implements [agent.SkillEnder].
func (*skillTool) EndsSkill(input json.RawMessage) bool {
	var in toolInput
	return json.Unmarshal(input, &in) == nil && in.End
}

// Run implements [agent.Tool].
func (t *skillTool) Run(ctx context.Context, call agent.Invocation) agent.Result {
	var in toolInput
	if err := json.Unmarshal(call.Input, &in); err != nil {
		return agent.Fail("The arguments cannot be read: " + err.Error())
	}
	name := strings.TrimPrefix(strings.TrimSpace(in.Skill), "/")
	if in.End {
		return t.end(name, call.Skills)
	}
	return t.begin(ctx, name, in.Args, call.Skills)
}

func (t *skillTool) begin(ctx context.Context, name, args string, used []agent.SkillUse) agent.Result {
	s, ok := Find(t.host, name)
	switch {
	case !ok:
		return agent.Fail(fmt.Sprintf("There is no skill %s. %s", quoted(name), t.there()))
	case !s.Usage.ByModel:
		return agent.Fail(fmt.Sprintf("Only the user begins the skill %s, with /%s.", s.Name, s.Name))
	case slices.ContainsFunc(used, func(u agent.SkillUse) bool { return u.Name == s.Name }):
		return agent.Fail(fmt.Sprintf("The skill %s is in use already.", s.Name))
	case len(used) >= agent.MaxSkillDepth:
		return agent.Fail(fmt.Sprintf("%d skills are in use inside each other, which is the most. End one first.", len(used)))
	}
	prompt, use, err := t.host.Begin(ctx, s, args)
	if err != nil {
		return agent.Fail(fmt.Sprintf("The skill %s cannot be used: %v", s.Name, err))
	}
	return agent.Result{Output: prompt, Wanted: len(prompt), Details: &agent.Details{Skill: &use}}
}

func (*skillTool) end(name string, used []agent.SkillUse) agent.Result {
	if len(used) == 0 {
		return agent.Fail("No skill is in use.")
	}
	switch top := used[len(used)-1]; {
	case top.Name != name:
		return agent.Fail(fmt.Sprintf("The skill in use is %s, not %s.", top.Name, quoted(name)))
	case top.ByUser:
		return agent.Fail(fmt.Sprintf("The user began the skill %s. It holds until their next message.", top.Name))
	}
	return agent.Result{
		Output:  fmt.Sprintf("The skill %s ended.", name),
		Details: &agent.Details{Skill: &agent.SkillUse{Name: name, Ended: true}},
	}
}

// there says which skills there are.
func (t *skillTool) there() string {
	const most = 50
	var names []string
	for _, s := range t.host.Skills() {
		if s.Usage.ByModel {
			names = append(names, s.Name)
		}
	}
	if len(names) == 0 {
		return "There are none."
	}
	more := ""
	if len(names) > most {
		names, more = names[:most], fmt.Sprintf(" and %d more", len(names)-most)
	}
	return "The skills are: " + strings.Join(names, ", ") + more + "."
}

// quoted writes a name that a model made up into a sentence.
func quoted(name string) string {
	const longest = 100
	if runes := []rune(name); len(runes) > longest {
		name = string(runes[:longest]) + "…"
	}
	return fmt.Sprintf("%q", name)
}
