package agent_test

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"atelier.dev/atelier/agent"
	"atelier.dev/atelier/agent/env"
	"atelier.dev/atelier/agent/llm"
	"atelier.dev/atelier/agent/llm/llmtest"
	"atelier.dev/atelier/agent/permission"
	"atelier.dev/atelier/agent/profile"
	"atelier.dev/atelier/agent/tool"
)

// boxed is an environment that runs commands its own way, as a sandbox would.
type boxed struct{ env.Environment }

func (b boxed) Exec(ctx context.Context, c env.Command) (env.CommandResult, error) {
	c.Line = "BOXED=yes; " + c.Line
	return b.Environment.Exec(ctx, c)
}

// instructed adds to what models are told, as skills would.
type instructed struct{ agent.Profiles }

func (i instructed) Brief(ctx context.Context, now agent.BriefingInput) agent.Briefing {
	b := i.Profiles.Brief(ctx, now)
	b.System += "\nSay please."
	return b
}

// LOOP-55: what the specification leaves to others fits in from outside, under every
// profile: tools of MCP servers by their own names, instructions, approvals by
// rules, a sandbox around the environment; and the guard of files that were not
// read is there.
func TestExtensions(t *testing.T) {
	t.Parallel()
	const pullRequest = "mcp__github__create_pr"
	for _, provider := range []string{"openai", "anthropic", "gemini", "compat"} {
		t.Run(provider, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			if err := os.WriteFile(filepath.Join(dir, "a.txt"), []byte("old"), 0o600); err != nil {
				t.Fatal(err)
			}
			local, err := env.NewLocal(dir)
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { _ = local.Cleanup(context.Background()) })
			created := agent.Function(agent.Spec{Name: pullRequest, Description: "Creates a pull request."},
				func(_ context.Context, in struct {
					Title string `json:"title"`
				}) (string, error) {
					return "created " + in.Title, nil
				})
			tools, err := agent.NewRegistry(append(tool.Builtin(boxed{local}, tool.Options{}), created)...)
			if err != nil {
				t.Fatal(err)
			}
			gate, err := permission.New(dir, permission.Rules{Allow: []string{pullRequest, "Bash", "Edit"}})
			if err != nil {
				t.Fatal(err)
			}
			model := llmtest.Script(llmtest.Round{Calls: []llmtest.Call{
				llmtest.Use(pullRequest, map[string]string{"title": "fix"}),
				llmtest.Use("shell", map[string]string{"command": "echo box: $BOXED"}),
				llmtest.Use("edit_file", map[string]string{"file_path": "a.txt", "old_string": "old", "new_string": "new"}),
			}}, llmtest.Round{Text: "Done."})
			session, err := agent.New(agent.Config{
				Model: model, Gate: gate, // whose rules answer for everything
				Profiles: instructed{profile.New(tools, profile.Surroundings{Folder: dir, Home: dir})},
			})
			if err != nil {
				t.Fatal(err)
			}
			session.Configure(agent.Settings{Provider: provider, Model: "m", Mode: agent.ModeDefault})
			var outputs []string
			for ev, err := range session.Run(t.Context(), "go") {
				if err != nil {
					t.Fatal(err)
				}
				if end, ok := ev.Data.(agent.ToolCallEnd); ok {
					outputs = append(outputs, end.Tool+": "+end.Output)
				}
			}
			for i, want := range []string{pullRequest + ": created fix", "Bash: box: yes", "Edit: a.txt exists and has not been read"} {
				if len(outputs) <= i || !strings.HasPrefix(outputs[i], want) {
					t.Errorf("want %q in %q", want, outputs)
				}
			}
			request := model.Requests()[0]
			shown := slices.ContainsFunc(request.Tools, func(s llm.ToolSpec) bool { return s.Name == pullRequest && json.Valid(s.Schema) })
			if !shown || !strings.HasSuffix(request.System, "\nSay please.") {
				t.Errorf("shown %t, told %q", shown, request.System[max(0, len(request.System)-40):])
			}
		})
	}
}
