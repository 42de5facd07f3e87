package tool_test

import (
	"context"
	"fmt"
	"strings"

	"atelier.dev/atelier/agent"
	"atelier.dev/atelier/agent/llm/llmtest"
	"atelier.dev/atelier/agent/tool"
)

// LOOP-131: a host sets its own limits for the output that a model is shown.
// Tools that it does not name keep theirs.
func ExampleTruncateWith() {
	build := agent.Function(agent.Spec{Name: "Build", Description: "Builds the program.", ReadOnly: true},
		func(context.Context, struct{}) (string, error) { return strings.Repeat("compiling\n", 500), nil })
	tools, err := agent.NewRegistry(build)
	if err != nil {
		fmt.Println(err)
		return
	}
	model := llmtest.Script(llmtest.Round{Calls: []llmtest.Call{llmtest.Use("Build", struct{}{})}}, llmtest.Round{Text: "Built."})
	session, err := agent.New(agent.Config{
		Model: model, Gate: agent.AllowAll, Profiles: agent.Plain("You build.", tools),
		Reduce: tool.TruncateWith(map[string]tool.Limit{"Build": {Chars: 10_000, Lines: 2}}),
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	session.Configure(agent.Settings{Provider: llmtest.Provider, Model: "m"})
	if _, err := session.Prompt(context.Background(), "Build it."); err != nil {
		fmt.Println(err)
		return
	}
	messages := model.Requests()[1].Messages
	fmt.Print(messages[len(messages)-1].Parts[0].Result.Parts[0].Text)
	// Output:
	// compiling
	// [... 498 lines omitted ...]
	// compiling
}
