package wire

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"atelier.dev/atelier/agent/llm"
)

// LLM-20: system messages at the beginning are instructions; later ones stay in
// their place.
func TestInstructions(t *testing.T) {
	t.Parallel()
	developer, user := llm.Text(llm.RoleDeveloper, "rules"), llm.Text(llm.RoleUser, "hi")
	for _, tt := range []struct {
		req          llm.Request
		instructions []string
		rest         []llm.Message
	}{
		{llm.Request{}, nil, nil},
		{llm.Request{System: "s", Messages: []llm.Message{user, developer}}, []string{"s"}, []llm.Message{user, developer}},
		{llm.Request{System: "s", Messages: []llm.Message{llm.Text(llm.RoleSystem, " "), developer, user}}, []string{"s", "rules"}, []llm.Message{user}},
		{llm.Request{Messages: []llm.Message{developer}}, []string{"rules"}, nil},
	} {
		instructions, rest := Instructions(tt.req)
		if diff := cmp.Diff(tt.instructions, instructions) + cmp.Diff(tt.rest, rest); diff != "" {
			t.Errorf("%+v: %s", tt.req, diff)
		}
	}
}
