package agent_test

import (
	"context"
	"fmt"
	"slices"

	"atelier.dev/atelier/agent"
	"atelier.dev/atelier/agent/llm/llmtest"
)

// clock is a tool of a program's own.
var clock = agent.Function(agent.Spec{Name: "Clock", Description: "Tells the time.", ReadOnly: true},
	func(context.Context, struct{}) (string, error) { return "It is noon.", nil })

// prepare is what a program sets up once; each session has a gate and tools of
// its own. The model is a script here; a program uses provider.Client(os.Getenv),
// and a gate that asks, such as permission.New.
func prepare(rounds ...llmtest.Round) *agent.Runtime {
	model := llmtest.Script(rounds...)
	template := agent.NewTemplate(func(string) (agent.Config, error) {
		tools, err := agent.NewRegistry(clock)
		return agent.Config{Model: model, Gate: agent.AllowAll, Profiles: agent.Plain("You tell the time.", tools)}, err
	})
	return template.Runtime(agent.Settings{Provider: llmtest.Provider, Model: "m", Mode: agent.ModeDefault}, agent.Overrides{})
}

// begin begins a session.
func begin(rounds ...llmtest.Round) *agent.Session {
	s, err := prepare(rounds...).Session("s1")
	if err != nil {
		panic(err)
	}
	return s
}

// One question and its answer.
func ExampleRuntime_Query() {
	r := prepare(llmtest.Round{Calls: []llmtest.Call{llmtest.Use("Clock", struct{}{})}}, llmtest.Round{Text: "Noon."})
	result, err := r.Query(context.Background(), "What time is it?")
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(result.Text, result.Status, result.Rounds)
	// Output: Noon. success 1
}

// LOOP-01: every event as it happens, in a session that goes on.
func ExampleSession_Run() {
	s := begin(llmtest.Round{Calls: []llmtest.Call{llmtest.Use("Clock", struct{}{})}}, llmtest.Round{Text: "Noon."})
	for ev, err := range s.Run(context.Background(), "What time is it?") {
		if err != nil {
			fmt.Println(err)
			return
		}
		switch d := ev.Data.(type) {
		case agent.ToolCallEnd:
			fmt.Println(d.Tool, "said:", d.Output)
		case agent.TextEnd:
			if text := d.Message.Text(); text != "" {
				fmt.Println("the model said:", text)
			}
		}
	}
	// Output:
	// Clock said: It is noon.
	// the model said: Noon.
}

// Only what an input comes to, in a session that goes on.
func ExampleSession_Prompt() {
	s := begin(llmtest.Round{Text: "Noon."}, llmtest.Round{Text: "As I said: noon."})
	for _, question := range []string{"What time is it?", "Are you sure?"} {
		result, err := s.Prompt(context.Background(), question)
		if err != nil {
			fmt.Println(err)
			return
		}
		fmt.Println(result.Text)
	}
	// Output:
	// Noon.
	// As I said: noon.
}

// One question, with what happens on the way.
func ExampleRuntime_QueryStream() {
	r := prepare(llmtest.Round{Text: "Noon."})
	for ev, err := range r.QueryStream(context.Background(), "What time is it?") {
		if err != nil {
			fmt.Println(err)
			return
		}
		if d, ok := ev.Data.(agent.TextDelta); ok {
			fmt.Print(d.Text)
		}
	}
	// Output: Noon.
}

// A turn that is stopped, a session that goes on, and its end.
func ExampleSession_Interrupt() {
	s := begin(llmtest.Round{Text: "It is", Hang: true}, llmtest.Round{Text: "Noon."})
	for ev := range s.Run(context.Background(), "What time is it?") {
		switch d := ev.Data.(type) {
		case agent.TextDelta:
			s.Interrupt()
		case agent.ProcessingEnd:
			fmt.Println("ended:", d.Reason)
		}
	}
	result, err := s.Prompt(context.Background(), "Go on.")
	fmt.Println(result.Text, err)
	for _, ev := range s.Close(context.Background()) {
		fmt.Println(ev.Kind())
	}
	// Output:
	// ended: interrupted
	// Noon. <nil>
	// session_end
}

// A session that was kept: its events are all that there is to it.
func ExampleRuntime_Session() {
	r := prepare(llmtest.Round{Text: "Noon."}, llmtest.Round{Text: "You asked for the time."})
	session, err := r.Session("s1")
	if err != nil {
		fmt.Println(err)
		return
	}
	var kept []agent.Event
	for ev := range session.Run(context.Background(), "What time is it?") {
		if ev.Durable() {
			kept = append(kept, ev)
		}
	}
	again, err := r.Session("s1", kept...)
	if err != nil {
		fmt.Println(err)
		return
	}
	result, err := again.Prompt(context.Background(), "What did I ask?")
	fmt.Println(result.Text, err)
	fmt.Println("turns:", again.Transcript().Turn)
	// Output:
	// You asked for the time. <nil>
	// turns: 2
}

// Inputs as they come, one turn each.
func ExampleSession_StreamInput() {
	s := begin(llmtest.Round{Text: "Noon."}, llmtest.Round{Text: "Still noon."})
	questions := slices.Values([]string{"What time is it?", "And now?"})
	for ev, err := range s.StreamInput(context.Background(), questions) {
		if err != nil {
			fmt.Println(err)
			return
		}
		switch d := ev.Data.(type) {
		case agent.UserInput:
			fmt.Println("asked:", d.Text)
		case agent.TextEnd:
			fmt.Println("said:", d.Message.Text())
		}
	}
	// Output:
	// asked: What time is it?
	// said: Noon.
	// asked: And now?
	// said: Still noon.
}

// A word for a turn that runs, and what is to follow it.
func ExampleSession_Steer() {
	s := begin(llmtest.Round{Calls: []llmtest.Call{llmtest.Use("Clock", struct{}{})}}, llmtest.Round{Text: "12:00."}, llmtest.Round{Text: "You are welcome."})
	for ev := range s.Run(context.Background(), "What time is it?") {
		switch d := ev.Data.(type) {
		case agent.ToolCallStart:
			s.Steer("in figures, please")
			s.FollowUp("Thanks!")
		case agent.SteeringInjected:
			fmt.Println("steered:", d.Text)
		case agent.TextEnd:
			if text := d.Message.Text(); text != "" {
				fmt.Println("said:", text)
			}
		case agent.UserInput:
			fmt.Println("asked:", d.Text)
		}
	}
	// Output:
	// asked: What time is it?
	// steered: in figures, please
	// said: 12:00.
	// asked: Thanks!
	// said: You are welcome.
}
