package lsp

import (
	"fmt"
	"slices"
	"strings"
	"unicode"
	"unicode/utf16"
)

// Operation is what is asked.
type Operation string

// The operations.
const (
	Definition      Operation = "goToDefinition"
	References      Operation = "findReferences"
	Hover           Operation = "hover"
	DocumentSymbol  Operation = "documentSymbol"
	WorkspaceSymbol Operation = "workspaceSymbol"
	Implementation  Operation = "goToImplementation"
	PrepareCalls    Operation = "prepareCallHierarchy"
	IncomingCalls   Operation = "incomingCalls"
	OutgoingCalls   Operation = "outgoingCalls"
)

// Operations are all operations.
var Operations = []Operation{
	Definition, References, Hover, DocumentSymbol, WorkspaceSymbol, Implementation, PrepareCalls, IncomingCalls, OutgoingCalls,
}

// Input is a question. Lines and characters are counted from 0.
type Input struct {
	Operation Operation `json:"operation"`
	File      string    `json:"file_path,omitempty"`
	Line      int       `json:"line,omitempty"`
	Character int       `json:"character,omitempty"`
	// Query is the symbol: what to look for, or what to look at in the line.
	Query string `json:"query,omitempty"`
}

// Validate says in a phrase for the model what is wrong with a question.
func (in Input) Validate() error {
	switch {
	case !slices.Contains(Operations, in.Operation):
		return fmt.Errorf("there is no operation %q; use one of %v", in.Operation, Operations)
	case in.Operation == WorkspaceSymbol && in.Query == "":
		return fmt.Errorf("%s takes a query: the name of a symbol, or a part of it", in.Operation)
	case in.Operation != WorkspaceSymbol && in.File == "":
		return fmt.Errorf("%s takes a file_path", in.Operation)
	case in.Line < 0 || in.Character < 0:
		return fmt.Errorf("lines and characters do not go below the first")
	case len(in.Query) > 200:
		return fmt.Errorf("the query is longer than 200 bytes")
	}
	return nil
}

// atPosition reports whether an operation is about one place in a file.
func (o Operation) atPosition() bool { return o != DocumentSymbol && o != WorkspaceSymbol }

// place is where a question points to: a symbol and the character where it begins.
type place struct {
	line, character int
	symbol          string
}

// placeIn finds the symbol that a question means in the lines of its file. Models count
// characters badly: a query names the symbol, and without one the nearest word counts.
func (in Input) placeIn(lines []string) (place, error) {
	if in.Line >= len(lines) {
		return place{}, fmt.Errorf("the file has only %d lines", len(lines))
	}
	line := []rune(lines[in.Line])
	if in.Query != "" {
		if at := strings.Index(lines[in.Line], in.Query); at >= 0 {
			return place{in.Line, len([]rune(lines[in.Line][:at])), in.Query}, nil
		}
	}
	best := place{in.Line, min(in.Character, len(line)), ""}
	nearest := -1
	for start := 0; start < len(line); start++ {
		if !isWord(line[start]) {
			continue
		}
		end := start
		for end < len(line) && isWord(line[end]) {
			end++
		}
		distance := max(0, start-in.Character, in.Character-end)
		if !unicode.IsDigit(line[start]) && (nearest < 0 || distance < nearest) {
			nearest = distance
			best.symbol = string(line[start:end])
			if best.character = start; in.Character > start && in.Character < end {
				best.character = in.Character
			}
		}
		start = end
	}
	if best.symbol == "" {
		return best, fmt.Errorf("line %d has no symbol", in.Line+1)
	}
	return best, nil
}

func isWord(r rune) bool { return r == '_' || r == '$' || unicode.IsLetter(r) || unicode.IsDigit(r) }

// units returns the position of a character in the protocol's unit, which is that of
// UTF-16.
func units(line string, character int) int {
	n := 0
	for i, r := range []rune(line) {
		if i >= character {
			break
		}
		n += utf16.RuneLen(r)
	}
	return n
}
