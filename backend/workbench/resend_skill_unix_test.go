//go:build unix

package workbench_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"atelier.dev/atelier/agent"
	"atelier.dev/atelier/agent/llm/llmtest"
	"atelier.dev/atelier/backend"
	"atelier.dev/atelier/backend/conversation"
	"atelier.dev/atelier/backend/undoing"
)

// A prompt that began a skill is edited as it was typed, and begins the skill again.
func TestResendSkill(t *testing.T) {
	t.Parallel()
	p, _ := skilled(t, map[string]string{
		".agent/skills/look/SKILL.md": skillFile("look", "allowed-tools: Read\n", "Look at $ARGUMENTS."),
	}, llmtest.Round{Text: "Seen."}, llmtest.Round{Text: "Seen again."})
	id := p.session("openai")
	p.command(id, "/look walnuts")
	await(p, anyOf[agent.ProcessingEnd])
	again := conversation.ResendRequest{Session: id, Turn: 1, Text: "/look almonds", Command: &backend.CommandCall{Name: "look", Arguments: "almonds"}}
	must[backend.Empty](p, "undo.resend", again)
	await(p, anyOf[agent.ProcessingEnd])
	if diff := cmp.Diff([]string{"Look at walnuts.", "rewound", "Look at almonds."}, p.prompts(id)); diff != "" {
		t.Error(diff)
	}
	info := must[conversation.Snapshot](p, "conversation.open", conversation.OpenRequest{Session: id}).Session
	if len(info.Skills) != 1 || info.Skills[0].Name != "look" || !info.Skills[0].Limited || info.Prompt != "/look walnuts" {
		t.Errorf("%+v is in use, after %q", info.Skills, info.Prompt)
	}
	reply := must[undoing.RewindReply](p, "undo.rewind", undoing.RewindRequest{Session: id})
	if reply.Prompt != "/look almonds" {
		t.Errorf("the rewind gives back %q", reply.Prompt)
	}
}
