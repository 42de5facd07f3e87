package compaction_test

import (
	"context"
	"fmt"
	"strings"

	"atelier.dev/atelier/agent"
	"atelier.dev/atelier/agent/compaction"
	"atelier.dev/atelier/agent/llm/llmtest"
)

// A session that compacts its conversation. It does so on request here, so that
// the example is short. The model is a script; a program uses
// provider.Client(os.Getenv).
func Example() {
	model := llmtest.Script(
		llmtest.Round{Text: strings.Repeat("It is noon, and the clock is right. ", 100)},
		llmtest.Round{Text: "## Known\nIt is noon."})
	tools, err := agent.NewRegistry()
	if err != nil {
		fmt.Println(err)
		return
	}
	session, err := agent.New(agent.Config{
		Model: model, Gate: agent.AllowAll, Profiles: agent.Plain("You tell the time.", tools),
		Compactor: &compaction.Service{Model: model},
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	session.Configure(agent.Settings{Provider: llmtest.Provider, Model: "m", Mode: agent.ModeDefault})
	ctx := context.Background()
	if _, err := session.Prompt(ctx, "What time is it?"); err != nil {
		fmt.Println(err)
		return
	}
	for ev, err := range session.Compact(ctx, "what the clock said") {
		if err != nil {
			fmt.Println(err)
			return
		}
		if end, ok := ev.Data.(agent.CompactionEnd); ok {
			fmt.Println(end.Outcome, end.After < end.Before)
			fmt.Println(end.Summary)
		}
	}
	// Output:
	// done true
	// ## Known
	// It is noon.
}
