package lsp

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/charmbracelet/x/powernap/pkg/lsp/protocol"

	"atelier.dev/atelier/internal/text"
)

// The limits of results.
const (
	maxLocations = 50
	maxSymbols   = 30  // of a workspace
	maxOutline   = 200 // symbols of a file
	maxHover     = 8_000
	maxLine      = 200 // characters of a line that is shown
	maxDepth     = 8   // of symbols in symbols
)

// errCannot is returned for an operation that a server does not have.
var errCannot = errors.New("the language server does not have this operation")

// question is a question about a file as it is now.
type question struct {
	Input
	path  string // absolute; empty if the question is about no file
	lines []string
	place place
	at    protocol.Position
}

// target is where a question points to, in the protocol's form.
func (q question) target() map[string]any {
	return map[string]any{"textDocument": q.document(), "position": q.at}
}

func (q question) document() map[string]any {
	return map[string]any{"uri": protocol.URIFromPath(q.path)}
}

// ask answers a question with a server.
func (s *server) ask(ctx context.Context, q question, show printer) (string, error) {
	switch q.Operation {
	case Definition:
		return s.locations(ctx, q, show, "textDocument/definition", q.target())
	case Implementation:
		if s.can.ImplementationProvider == nil {
			return "", errCannot
		}
		return s.locations(ctx, q, show, "textDocument/implementation", q.target())
	case References:
		target := q.target()
		target["context"] = map[string]any{"includeDeclaration": true}
		return s.locations(ctx, q, show, "textDocument/references", target)
	case Hover:
		return s.hover(ctx, q)
	case DocumentSymbol:
		return s.outline(ctx, q)
	case WorkspaceSymbol:
		return s.symbols(ctx, q, show)
	}
	return s.calls(ctx, q, show)
}

// locations makes a request whose result are places.
func (s *server) locations(ctx context.Context, q question, show printer, method string, params any) (string, error) {
	var raw json.RawMessage
	if err := s.call(ctx, method, params, &raw); err != nil {
		return "", err
	}
	found, err := readLocations(raw)
	if err != nil {
		return "", err
	}
	if len(found) == 0 {
		return fmt.Sprintf("Nothing was found for %s.", q.place.symbol), nil
	}
	slices.SortStableFunc(found, func(a, b protocol.Location) int { return bytes.Compare([]byte(a.URI), []byte(b.URI)) })
	return show.locations(found), nil
}

// readLocations reads a place, a list of places, or a list of links.
func readLocations(raw json.RawMessage) ([]protocol.Location, error) {
	if raw = bytes.TrimSpace(raw); len(raw) == 0 || string(raw) == "null" {
		return nil, nil
	}
	if raw[0] != '[' {
		raw = slices.Concat([]byte("["), raw, []byte("]"))
	}
	var list []struct {
		protocol.Location
		protocol.LocationLink
	}
	if err := json.Unmarshal(raw, &list); err != nil {
		return nil, fmt.Errorf("read the language server's answer: %w", err)
	}
	var out []protocol.Location
	for _, one := range list {
		if one.TargetURI != "" {
			one.Location = protocol.Location{URI: one.TargetURI, Range: one.TargetSelectionRange}
		}
		out = append(out, one.Location)
	}
	return out, nil
}

func (s *server) hover(ctx context.Context, q question) (string, error) {
	var result struct {
		Contents json.RawMessage `json:"contents"`
	}
	if err := s.call(ctx, "textDocument/hover", q.target(), &result); err != nil {
		return "", err
	}
	if known := strings.TrimSpace(hoverText(result.Contents)); known != "" {
		return text.Shorten(known, maxHover), nil
	}
	return fmt.Sprintf("Nothing is known about %s.", q.place.symbol), nil
}

// hoverText reads a text, an object with a text, or a list of both.
func hoverText(raw json.RawMessage) string {
	var text string
	if json.Unmarshal(raw, &text) == nil {
		return text
	}
	var object struct {
		Value string `json:"value"`
	}
	if json.Unmarshal(raw, &object) == nil {
		return object.Value
	}
	var list []json.RawMessage
	if json.Unmarshal(raw, &list) != nil {
		return ""
	}
	var parts []string
	for _, one := range list[:min(len(list), maxLocations)] {
		if len(one) > 0 && one[0] != '[' {
			parts = append(parts, hoverText(one))
		}
	}
	return strings.Join(parts, "\n\n")
}

// symbol is a symbol of a file or of a workspace.
type symbol struct {
	Name      string              `json:"name"`
	Detail    string              `json:"detail"`
	Kind      protocol.SymbolKind `json:"kind"`
	Container string              `json:"containerName"`
	Selection protocol.Range      `json:"selectionRange"`
	Location  *protocol.Location  `json:"location"`
	Children  []symbol            `json:"children"`
}

func (s *server) outline(ctx context.Context, q question) (string, error) {
	var list []symbol
	if err := s.call(ctx, "textDocument/documentSymbol", map[string]any{"textDocument": q.document()}, &list); err != nil {
		return "", err
	}
	var lines []string
	addOutline(&lines, list, 0)
	if len(lines) == 0 {
		return "The file has no symbols.", nil
	}
	return cut(lines, maxOutline, "symbols"), nil
}

func addOutline(lines *[]string, list []symbol, depth int) {
	if depth > maxDepth {
		return
	}
	for _, one := range list {
		if len(*lines) > maxOutline {
			return
		}
		at := one.Selection.Start
		if one.Location != nil {
			at = one.Location.Range.Start
		}
		line := fmt.Sprintf("%s%s %s (line %d)", strings.Repeat("  ", depth), kindName(one.Kind), text.Shorten(one.Name, maxLine), at.Line+1)
		if one.Detail != "" {
			line += " " + text.Shorten(strings.Join(strings.Fields(one.Detail), " "), maxLine)
		}
		*lines = append(*lines, line)
		addOutline(lines, one.Children, depth+1)
	}
}

func (s *server) symbols(ctx context.Context, q question, show printer) (string, error) {
	var list []symbol
	if err := s.call(ctx, "workspace/symbol", map[string]any{"query": q.Query}, &list); err != nil {
		return "", err
	}
	var lines []string
	for _, one := range list {
		if one.Location == nil {
			continue
		}
		line := show.place(*one.Location) + " " + kindName(one.Kind) + " " + text.Shorten(one.Name, maxLine)
		if one.Container != "" {
			line += " in " + text.Shorten(one.Container, maxLine)
		}
		lines = append(lines, line)
	}
	if len(lines) == 0 {
		return fmt.Sprintf("No symbol matches %s.", q.Query), nil
	}
	return cut(lines, maxSymbols, "symbols"), nil
}

// calls answers a question about who calls whom.
func (s *server) calls(ctx context.Context, q question, show printer) (string, error) {
	if s.can.CallHierarchyProvider == nil {
		return "", errCannot
	}
	var items []protocol.CallHierarchyItem
	if err := s.call(ctx, "textDocument/prepareCallHierarchy", q.target(), &items); err != nil {
		return "", err
	}
	if len(items) == 0 {
		return fmt.Sprintf("%s is nothing that is called.", q.place.symbol), nil
	}
	if q.Operation == PrepareCalls {
		var lines []string
		for _, item := range items {
			lines = append(lines, show.item(item))
		}
		return cut(lines, maxLocations, "items"), nil
	}
	item := items[0]
	var list []struct {
		From   *protocol.CallHierarchyItem `json:"from"`
		To     *protocol.CallHierarchyItem `json:"to"`
		Ranges []protocol.Range            `json:"fromRanges"`
	}
	method, head, none := "callHierarchy/incomingCalls", "Callers of ", "Nothing calls "
	if q.Operation == OutgoingCalls {
		method, head, none = "callHierarchy/outgoingCalls", "Called by ", "Nothing is called by "
	}
	if err := s.call(ctx, method, map[string]any{"item": item}, &list); err != nil {
		return "", err
	}
	var lines []string
	for _, one := range list {
		other := one.From
		if other == nil {
			other = one.To
		}
		if other == nil {
			continue
		}
		var at []string
		for _, r := range one.Ranges[:min(len(one.Ranges), maxSymbols)] {
			at = append(at, fmt.Sprint(r.Start.Line+1))
		}
		lines = append(lines, show.item(*other)+", called in line "+strings.Join(at, ", "))
	}
	if len(lines) == 0 {
		return none + item.Name + ".", nil
	}
	return head + item.Name + ":\n" + cut(lines, maxLocations, "functions"), nil
}

// printer writes places for models.
type printer struct {
	project string
	// text returns the lines of a file in the project; nil if they are not shown.
	text func(path string) []string
}

// place returns a place as path:line:character, counted from 1.
func (p printer) place(at protocol.Location) string {
	path, err := at.URI.Path()
	if err != nil {
		path = string(at.URI)
	}
	return fmt.Sprintf("%s:%d:%d", p.short(path), at.Range.Start.Line+1, at.Range.Start.Character+1)
}

// short returns a path relative to the project, if it is in it.
func (p printer) short(path string) string {
	if within(p.project, path) {
		if rel, err := filepath.Rel(p.project, path); err == nil {
			return filepath.ToSlash(rel)
		}
	}
	return text.Shorten(path, 500)
}

func (p printer) item(item protocol.CallHierarchyItem) string {
	at := protocol.Location{URI: item.URI, Range: item.SelectionRange}
	return p.place(at) + " " + kindName(item.Kind) + " " + text.Shorten(item.Name, maxLine)
}

// locations writes places with the lines that are there. Lines of files outside of the
// project are not shown: where they are is only what the server says.
func (p printer) locations(list []protocol.Location) string {
	var lines []string
	for _, at := range list[:min(len(list), maxLocations+1)] {
		line := p.place(at)
		if path, err := at.URI.Path(); err == nil && within(p.project, path) {
			if all := p.text(path); int(at.Range.Start.Line) < len(all) {
				line += ": " + text.Shorten(strings.TrimSpace(all[at.Range.Start.Line]), maxLine)
			}
		}
		lines = append(lines, line)
	}
	return count(len(list), lines)
}

// count says how many places there are, if not all are shown.
func count(all int, lines []string) string {
	if all > maxLocations {
		lines = append(lines[:maxLocations], fmt.Sprintf("[These are the first %d of %d places.]", maxLocations, all))
	}
	return strings.Join(lines, "\n")
}

func cut(lines []string, most int, unit string) string {
	if len(lines) > most {
		lines = append(lines[:most:most], fmt.Sprintf("[These are the first %d %s; there are more.]", most, unit))
	}
	return strings.Join(lines, "\n")
}

var kinds = []string{
	"", "file", "module", "namespace", "package", "class", "method", "property", "field", "constructor", "enum", "interface", "function", "variable",
	"constant", "string", "number", "boolean", "array", "object", "key", "null", "enum member", "struct", "event", "operator", "type parameter",
}

func kindName(kind protocol.SymbolKind) string {
	if int(kind) > 0 && int(kind) < len(kinds) {
		return kinds[kind]
	}
	return "symbol"
}
