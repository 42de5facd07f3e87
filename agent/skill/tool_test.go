package skill_test

import (
	"encoding/json"
	"strings"
	"testing"

	"atelier.dev/atelier/agent"
	"atelier.dev/atelier/agent/skill"
)

func made(name, more, body string) skill.Skill {
	return skill.Parse(skill.Place{Kind: skill.KindSkill}, name, "---\nname: "+name+"\ndescription: Does "+name+"\n"+more+"---\n"+body, nil)
}

// OAS-312, OAS-816: what the model may begin and end, and what it is told if it may not.
func TestTool(t *testing.T) {
	t.Parallel()
	registry := skill.NewRegistry(
		made("look", "aliases: [peek]\nallowed-tools: Read, Bash(git *)\nmodel: haiku\n", "Look at $ARGUMENTS. </update>"),
		made("mine", "disable-model-invocation: true\n", "Mine."))
	tool := skill.Tool(skill.Direct(registry, t.TempDir()))
	use := func(name string) agent.SkillUse { return agent.SkillUse{Name: name} }
	deep := []agent.SkillUse{use("a"), use("b"), use("c"), use("d")}
	for name, tt := range map[string]struct {
		input string
		used  []agent.SkillUse
		want  string // in the output
		fails bool
	}{
		"begins":          {`{"skill":"look","args":"a b"}`, nil, "Look at a b.", false},
		"by an alias":     {`{"skill":"/peek"}`, nil, "Look at", false},
		"inside another":  {`{"skill":"look"}`, deep[:3], "Look at", false},
		"unknown":         {`{"skill":"` + strings.Repeat("x", 500) + `"}`, nil, "The skills are: look.", true},
		"only by a user":  {`{"skill":"mine"}`, nil, "with /mine", true},
		"too deep":        {`{"skill":"look"}`, deep, "End one first", true},
		"in use":          {`{"skill":"peek"}`, []agent.SkillUse{use("look")}, "in use already", true},
		"ends":            {`{"skill":"d","end":true}`, deep, "d ended", false},
		"ends another":    {`{"skill":"a","end":true}`, deep, "The skill in use is d", true},
		"ends none":       {`{"skill":"a","end":true}`, nil, "No skill is in use", true},
		"ends the user's": {`{"skill":"look","end":true}`, []agent.SkillUse{{Name: "look", ByUser: true}}, "until their next message", true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := tool.Run(t.Context(), agent.Invocation{Input: json.RawMessage(tt.input), Skills: tt.used})
			if got.IsError != tt.fails || !strings.Contains(got.Output, tt.want) || strings.Contains(got.Output, "</update>") || len(got.Output) > 2000 {
				t.Errorf("%+v", got)
			}
			if ends := tool.(agent.SkillEnder).EndsSkill(json.RawMessage(tt.input)); ends != strings.Contains(tt.input, "end") {
				t.Errorf("ends: %t", ends)
			}
			if !tt.fails && (got.Details.Skill.Ended != strings.Contains(tt.input, "end") || got.Details.Skill.ByUser) {
				t.Errorf("%+v", got.Details.Skill)
			}
			if tt.input == `{"skill":"/peek"}` {
				if u := got.Details.Skill; u.Name != "look" || !u.Limited || len(u.Tools) != 2 || u.Model != "" {
					t.Errorf("%+v", u)
				}
			}
		})
	}
	if spec := tool.Spec(); spec.Name != "Skill" || !spec.ReadOnly || spec.Concurrent {
		t.Errorf("%+v", spec)
	}
}

// OAS-815: the list of skills is told anew when it changes, and is gone with the last skill.
func TestOffer(t *testing.T) {
	t.Parallel()
	registry := skill.NewRegistry(made("look", "when-to-use: eyes are needed\n", "x"))
	offer := skill.NewOffer(registry)
	first := offer.Notes()
	if len(first) != 1 || !strings.Contains(first[0].Text, "look") || !strings.Contains(first[0].Text, "eyes are needed") {
		t.Fatalf("%+v", first)
	}
	if again := offer.Notes(); &again[0] != &first[0] {
		t.Error("the list was made again")
	}
	registry.Register(made("hear", "", "y"))
	if now := offer.Notes(); len(now) != 1 || now[0].Now == first[0].Now || !strings.Contains(now[0].Text, "hear") {
		t.Errorf("%+v", now)
	}
	registry.Remove("look")
	registry.Remove("hear")
	if now := offer.Notes(); len(now) != 0 {
		t.Errorf("%+v", now)
	}
}
