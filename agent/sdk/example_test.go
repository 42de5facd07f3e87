package sdk_test

import (
	"context"
	"fmt"

	"atelier.dev/atelier/agent"
	"atelier.dev/atelier/agent/llm/llmtest"
	"atelier.dev/atelier/agent/sdk"
)

// The program asks one question and prints the messages as they arrive. The
// model is a script here; a program uses provider.Client(os.Getenv).
func ExampleMessages() {
	clock := agent.Function(agent.Spec{Name: "Clock", Description: "Tells the time.", ReadOnly: true},
		func(context.Context, struct{}) (string, error) { return "It is noon.", nil })
	tools, err := agent.NewRegistry(clock)
	if err != nil {
		fmt.Println(err)
		return
	}
	session, err := agent.New(agent.Config{
		Model: llmtest.Script(llmtest.Round{Calls: []llmtest.Call{llmtest.Use("Clock", struct{}{})}}, llmtest.Round{Text: "It is noon now."}),
		Gate:  agent.AllowAll, Profiles: agent.Plain("You tell the time.", tools),
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	session.Configure(agent.Settings{Provider: llmtest.Provider, Model: "m", Mode: agent.ModeDefault})
	events := session.Run(context.Background(), "What time is it?")
	for msg, err := range sdk.Messages(events) {
		if err != nil {
			fmt.Println(err)
			return
		}
		switch m := msg.Data.(type) {
		case sdk.PartialMessage:
			fmt.Print(m.Text)
		case sdk.ToolUse:
			fmt.Printf("[%s]\n", m.Tool)
		case sdk.ToolResult:
			fmt.Printf("[%d characters]\n", len(m.Content))
		case sdk.Result:
			fmt.Printf("\n%s after %d round\n", m.Status, m.Rounds)
		}
	}
	// Output:
	// [Clock]
	// [11 characters]
	// It is noon now.
	// success after 1 round
}
