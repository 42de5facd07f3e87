package generate

import (
	"context"
	"encoding/json"
	"fmt"
	"sync"

	"github.com/google/jsonschema-go/jsonschema"

	"atelier.dev/atelier/agent/llm"
)

// Tool is a function that the model may call.
type Tool struct {
	llm.ToolSpec
	// Run is called with arguments that fit the schema, from several goroutines
	// at once. Its error is told to the model. A call of a tool without Run
	// ends the rounds, and the caller finds it in the answer.
	Run func(ctx context.Context, arguments json.RawMessage) (string, error)
}

type toolset map[string]bound

type bound struct {
	run    func(context.Context, json.RawMessage) (string, error)
	schema *jsonschema.Resolved
}

func newToolset(tools []Tool) (toolset, error) {
	set := toolset{}
	for _, t := range tools {
		var schema jsonschema.Schema
		if err := json.Unmarshal(t.Schema, &schema); err != nil {
			return nil, fmt.Errorf("read schema of tool %s: %w", t.Name, err)
		}
		resolved, err := schema.Resolve(nil)
		if err != nil {
			return nil, fmt.Errorf("resolve schema of tool %s: %w", t.Name, err)
		}
		set[t.Name] = bound{t.Run, resolved}
	}
	return set, nil
}

// active reports whether all calls can be run here. That includes calls of an
// unknown tool, which are answered with an error (LLM-41).
func (s toolset) active(calls []llm.ToolCall) bool {
	for _, c := range calls {
		if t, ok := s[c.Name]; ok && t.run == nil {
			return false
		}
	}
	return true
}

// run runs calls in parallel and answers each of them, in order (LLM-40).
func (s toolset) run(ctx context.Context, calls []llm.ToolCall) []llm.ToolResult {
	results := make([]llm.ToolResult, len(calls))
	var wg sync.WaitGroup
	for i, c := range calls {
		wg.Go(func() {
			text, err := s.call(ctx, c)
			if err != nil {
				text = err.Error()
			}
			results[i] = llm.ToolResult{
				CallID: c.ID, WireID: c.WireID, Name: c.Name, IsError: err != nil,
				Parts: []llm.Part{{Kind: llm.PartText, Text: text}},
			}
		})
	}
	wg.Wait()
	return results
}

func (s toolset) call(ctx context.Context, c llm.ToolCall) (text string, err error) {
	t, ok := s[c.Name]
	if !ok {
		return "", fmt.Errorf("there is no tool %q", c.Name)
	}
	input := c.Input()
	if err := valid(t.schema, input); err != nil {
		return "", fmt.Errorf("the arguments of %s are not what its schema asks for: %w", c.Name, err)
	}
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("%s failed: %v", c.Name, r)
		}
	}()
	return t.run(ctx, input)
}

// valid checks a JSON value against a schema.
func valid(schema *jsonschema.Resolved, value []byte) error {
	var v any
	if err := json.Unmarshal(value, &v); err != nil {
		return err
	}
	return schema.Validate(v)
}

// message is the message to the model with the results.
func message(results []llm.ToolResult) llm.Message {
	m := llm.Message{Role: llm.RoleTool}
	for i := range results {
		m.Parts = append(m.Parts, llm.Part{Kind: llm.PartToolResult, Result: &results[i]})
	}
	return m
}
