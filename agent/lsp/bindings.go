package lsp

import (
	"cmp"

	"atelier.dev/atelier/agent"
)

// wide is a question as any model sends it.
type wide struct {
	Operation string `json:"operation"`
	FilePath  string `json:"filePath,omitempty"`
	File      string `json:"file_path,omitempty"`
	Path      string `json:"path,omitempty"`
	Line      int    `json:"line,omitempty"`
	Character int    `json:"character,omitempty"`
	Column    int    `json:"column,omitempty"`
	Query     string `json:"query,omitempty"`
	Symbol    string `json:"symbol,omitempty"`
}

// fromOne converts a question whose lines and characters are counted from 1, as editors
// and most models do.
func (w wide) fromOne() (Input, error) {
	in, err := w.fromZero()
	in.Line, in.Character = max(0, in.Line-1), max(0, in.Character-1)
	return in, err
}

// fromZero converts a question whose lines and characters are counted from 0.
func (w wide) fromZero() (Input, error) {
	return Input{
		Operation: Operation(w.Operation), File: cmp.Or(w.File, w.FilePath, w.Path), Line: w.Line,
		Character: cmp.Or(w.Character, w.Column), Query: cmp.Or(w.Query, w.Symbol),
	}, nil
}

type claudeShown struct {
	Operation string `json:"operation" jsonschema:"goToDefinition, findReferences, hover, documentSymbol, workspaceSymbol, goToImplementation, prepareCallHierarchy, incomingCalls or outgoingCalls"`
	FilePath  string `json:"filePath" jsonschema:"the file that the question is about"`
	Line      int    `json:"line,omitempty" jsonschema:"the line, as shown in editors, from 1"`
	Character int    `json:"character,omitempty" jsonschema:"the character in the line, from 1"`
	Query     string `json:"query,omitempty" jsonschema:"the symbol: what workspaceSymbol looks for, or what the line has"`
}

type shown struct {
	Operation string `json:"operation" jsonschema:"goToDefinition, findReferences, hover, documentSymbol, workspaceSymbol, goToImplementation, prepareCallHierarchy, incomingCalls or outgoingCalls"`
	File      string `json:"file_path" jsonschema:"the file that the question is about"`
	Line      int    `json:"line,omitempty" jsonschema:"the line, from 1"`
	Character int    `json:"character,omitempty" jsonschema:"the character in the line, from 1"`
	Query     string `json:"query,omitempty" jsonschema:"the symbol: what workspaceSymbol looks for, or what the line has"`
}

type specShown struct {
	Operation string `json:"operation" jsonschema:"goToDefinition, findReferences, hover, documentSymbol, workspaceSymbol, goToImplementation, prepareCallHierarchy, incomingCalls or outgoingCalls"`
	File      string `json:"file_path,omitempty" jsonschema:"the file that the question is about"`
	Line      int    `json:"line,omitempty" jsonschema:"the line, from 0"`
	Character int    `json:"character,omitempty" jsonschema:"the character in the line, from 0"`
	Query     string `json:"query,omitempty" jsonschema:"the symbol: what workspaceSymbol looks for, or what the line has"`
}

func bindings() map[string][]agent.Binding {
	others := []agent.Binding{agent.Understand[shown](Name, "lsp", wide.fromOne)}
	return map[string][]agent.Binding{
		"anthropic": {agent.Understand[claudeShown](Name, Name, wide.fromOne)},
		"openai":    others, "gemini": others,
		"spec": {agent.Understand[specShown](Name, Name, wide.fromZero)},
	}
}
