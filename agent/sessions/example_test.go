package sessions_test

import (
	"context"
	"fmt"

	"atelier.dev/atelier/agent"
	"atelier.dev/atelier/agent/llm/llmtest"
	"atelier.dev/atelier/agent/sessions"
)

// OAS-601, OAS-605, OAS-606, OAS-607: a session is kept while it runs, then listed, renamed,
// tagged, forked and loaded.
func ExampleStore() {
	ctx := context.Background()
	store := &sessions.Store{Log: &sessions.Memory{}}
	session, err := agent.New(agent.Config{
		ID: "one", Model: llmtest.Script(llmtest.Round{Text: "The Tagus."}), Gate: agent.AllowAll,
		Settings: agent.Settings{Provider: llmtest.Provider, Model: "m"}, Profiles: agent.Plain("Be brief.", nil),
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	var stored int64
	for event, err := range store.Keep(ctx, "one", &stored, session.Run(ctx, "Name a river.")) {
		if end, ok := event.Data.(agent.TextEnd); ok {
			fmt.Println(end.Message.Text(), err)
		}
	}
	fmt.Println(store.Rename(ctx, "one", "Rivers"), store.Tag(ctx, "one", "geography"))
	fork, _, err := store.Fork(ctx, "one", agent.ForkPlace{})
	list, _ := store.List(ctx)
	fmt.Println(fork != "", err, len(list))
	info, err := store.Info(ctx, "one")
	fmt.Println(info.Title, info.Tags, err)
	events, err := store.Load(ctx, "one")
	fmt.Println(len(events) > int(stored), err)
	// Output:
	// The Tagus. <nil>
	// <nil> <nil>
	// true <nil> 2
	// Rivers [geography] <nil>
	// true <nil>
}
