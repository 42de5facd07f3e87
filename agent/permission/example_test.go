package permission_test

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"

	"atelier.dev/atelier/agent"
	"atelier.dev/atelier/agent/llm/llmtest"
	"atelier.dev/atelier/agent/permission"
)

// A policy allows reads in its folder and asks a person about everything else.
// Here the approver is a function; in a program it would be a dialog.
func ExampleNew() {
	dir, err := os.MkdirTemp("", "example")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer os.RemoveAll(dir) //nolint:errcheck // a temporary folder
	policy, err := permission.New(dir, permission.Rules{Deny: []string{"Send"}})
	if err != nil {
		fmt.Println(err)
		return
	}
	ask := func(_ context.Context, r agent.ApprovalRequest) (agent.Answer, error) {
		fmt.Println("asked:", r.Reason)
		return agent.Answer{Decision: agent.Allow, Scope: agent.ScopeSession}, nil
	}
	tools, err := agent.NewRegistry(draft{dir})
	if err != nil {
		fmt.Println(err)
		return
	}
	write := llmtest.Use("Draft", map[string]string{"name": "letter.txt"})
	session, err := agent.New(agent.Config{
		Model: llmtest.Script(llmtest.Round{Calls: []llmtest.Call{write, write}}, llmtest.Round{Text: "Drafted."}),
		Gate:  policy, Approver: agent.ApproverFunc(ask), Profiles: agent.Plain("You write letters.", tools),
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	session.Configure(agent.Settings{Provider: llmtest.Provider, Model: "m"})
	result, err := session.Prompt(context.Background(), "Draft a letter, twice.")
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(result.Text)
	// Output:
	// asked: This changes letter.txt.
	// Drafted.
}

// draft is a tool that names the files that its calls touch.
type draft struct{ dir string }

func (d draft) Spec() agent.Spec {
	return agent.Spec{Name: "Draft", Description: "Drafts a letter.", Schema: agent.SchemaOf[letter]()}
}

func (d draft) Access(_ context.Context, input json.RawMessage) agent.Access {
	var l letter
	if json.Unmarshal(input, &l) != nil {
		return agent.Access{}
	}
	return agent.Access{Writes: []string{filepath.Join(d.dir, l.Name)}}
}

func (d draft) Run(context.Context, agent.Invocation) agent.Result {
	return agent.Result{Output: "Drafted."}
}

type letter struct {
	Name string `json:"name" jsonschema:"the name of its file"`
}
