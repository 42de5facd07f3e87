package agent_test

import (
	"context"
	"fmt"

	"atelier.dev/atelier/agent"
	"atelier.dev/atelier/agent/llm/llmtest"
)

// createAgent of the SDKs is New: one session with its own configuration, closed at its end.
func ExampleNew() {
	tools, err := agent.NewRegistry(clock)
	if err != nil {
		fmt.Println(err)
		return
	}
	session, err := agent.New(agent.Config{
		Model: llmtest.Script(llmtest.Round{Text: "Noon."}), Gate: agent.AllowAll,
		Settings: agent.Settings{Provider: llmtest.Provider, Model: "m"}, Profiles: agent.Plain("You tell the time.", tools),
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	result, err := session.Prompt(context.Background(), "What time is it?")
	fmt.Println(result.Text, err)
	fmt.Println(len(session.Close(context.Background())) > 0)
	// Output:
	// Noon. <nil>
	// true
}

// Three layers: a template is made once, a runtime has settings, and a session has a
// conversation of its own.
func ExampleNewTemplate() {
	template := agent.NewTemplate(func(id string) (agent.Config, error) {
		return agent.Config{
			Model: llmtest.Script(llmtest.Round{Text: "I am " + id + "."}), Gate: agent.AllowAll, Profiles: agent.Plain("Be brief.", nil),
		}, nil
	})
	runtime := template.Runtime(agent.Settings{Provider: llmtest.Provider, Model: "m"}, agent.Overrides{})
	for _, id := range []string{"one", "two"} {
		session, err := runtime.Session(id)
		if err != nil {
			fmt.Println(err)
			return
		}
		result, err := session.Prompt(context.Background(), "Who are you?")
		fmt.Println(result.Text, err)
	}
	// Output:
	// I am one. <nil>
	// I am two. <nil>
}
