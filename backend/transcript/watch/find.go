package watch

import (
	"context"
	"encoding/json"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"atelier.dev/atelier/agent"
	"atelier.dev/atelier/backend/transcript"
	"atelier.dev/atelier/internal/text"
)

// The limits of a search.
const (
	maxHits  = 100
	perFile  = 5
	maxFiles = 1_000
	aroundIt = 80 // bytes before what was found; twice as many follow
	patience = 10 * time.Second
)

// ForeignHit is a place in a session of another program.
type ForeignHit struct {
	transcript.Found
	// Kind and Text are those of the piece, of which Text has what is around the words.
	Kind PieceKind `json:"kind"`
	Text string    `json:"text"`
	When int64     `json:"when"`
}

// Listed are the transcripts of the stores, the newest first.
type Listed struct {
	Store transcript.Store
	transcript.Found
}

// Search returns the places that have all words of a query, in the newest transcripts first. more
// says that not everything was searched, or shown.
func (w *Watcher) Search(ctx context.Context, in []Listed, query string) (hits []ForeignHit, more bool, err error) {
	words := strings.Fields(strings.ToLower(query))
	if len(words) == 0 {
		return nil, false, nil
	}
	limited, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	for i, one := range in {
		if i >= maxFiles || len(hits) >= maxHits || limited.Err() != nil {
			return hits, true, ctx.Err()
		}
		found := 0
		described := false
		_ = w.each(limited, one, words, func(p Piece) bool { // one that cannot be read has nothing for us
			whole := p.Text + "\n" + p.Input + "\n" + p.Output
			at, ok := place(whole, words)
			if !ok {
				return true
			}
			if !described {
				one.Found, described = one.Store.Describe(one.Found), true
			}
			hits = append(hits, ForeignHit{Found: one.Found, Kind: p.Kind, Text: around(whole, at), When: p.At})
			found++
			more = more || found >= perFile
			return found < perFile && len(hits) < maxHits
		})
	}
	return hits, more, ctx.Err()
}

// each passes on the pieces of a transcript, if its file may have the words.
func (w *Watcher) each(ctx context.Context, one Listed, words []string, use func(Piece) bool) error {
	file, err := one.Store.Open(one.Name)
	if err != nil {
		return err
	}
	defer file.Close()
	if may, err := file.May(ctx, words); err != nil || !may {
		return err
	}
	inputs := map[string]string{}
	for ev, err := range file.Events(ctx, nil, nil) {
		if err != nil {
			return err
		}
		if start, ok := ev.Data.(agent.ToolCallStart); ok {
			inputs[start.CallID] = start.Input
		}
		for _, p := range pieces(ev, inputs) {
			if !use(p) {
				return nil
			}
		}
	}
	return nil
}

// place is where the first of the words stands in a text that has them all.
func place(whole string, words []string) (at int, ok bool) {
	lower := strings.ToLower(whole)
	for _, word := range words {
		if !strings.Contains(lower, word) {
			return 0, false
		}
	}
	return min(strings.Index(lower, words[0]), len(whole)), true
}

func around(whole string, at int) string {
	part := text.Tail(whole[:at], aroundIt) + text.Head(whole[at:], 2*aroundIt)
	return strings.Join(strings.Fields(strings.ToValidUTF8(part, "")), " ")
}

// Blamed says which session of another program wrote lines of a file, which count from 1.
type Blamed struct {
	From int `json:"from"`
	To   int `json:"to"`
	transcript.Found
	When int64 `json:"when"`
}

// maxBlamed limits the size of a file, in bytes.
const maxBlamed = 4 << 20

// wrote is what a call wrote into a file.
type wrote struct {
	found transcript.Found
	at    int64
}

// Blame says which lines of a file sessions of others wrote: a line belongs to the newest call
// that wrote exactly it. Lines without a letter or a digit belong to the session of the line
// before. more says that not everything was read.
func (w *Watcher) Blame(ctx context.Context, in []Listed, path string, content string) (all []Blamed, more bool, err error) {
	if len(content) > maxBlamed {
		return nil, true, nil
	}
	limited, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	lines := map[string]wrote{}
	for i, one := range in {
		if i >= maxFiles || limited.Err() != nil {
			more = true
			break
		}
		_ = w.writes(limited, one, path, lines) // one that cannot be read has nothing for us
	}
	var last *Blamed
	n := 0
	for line := range strings.Lines(content) {
		n++
		by, ok := lines[key(line)]
		switch {
		case last != nil && last.To == n-1 && (key(line) == "" || ok && by.found == last.Found && by.at == last.When):
			last.To = n
		case ok && key(line) != "":
			all = append(all, Blamed{From: n, To: n, Found: by.found, When: by.at})
			last = &all[len(all)-1]
		}
	}
	return all, more, ctx.Err()
}

// key is a line as it is compared; empty for one that says nothing.
func key(line string) string {
	line = strings.TrimRight(line, "\r\n")
	if !strings.ContainsFunc(line, func(r rune) bool { return r > ' ' && !strings.ContainsRune("{}()[];,", r) }) {
		return ""
	}
	return line
}

// writes adds the lines that a transcript wrote into a file.
func (w *Watcher) writes(ctx context.Context, one Listed, path string, lines map[string]wrote) error {
	file, err := one.Store.Open(one.Name)
	if err != nil {
		return err
	}
	defer file.Close()
	if may, err := file.May(ctx, []string{strings.ToLower(filepath.Base(path))}); err != nil || !may {
		return err
	}
	one.Found = one.Store.Describe(one.Found)
	inputs := map[string]agent.ToolCallStart{}
	for ev, err := range file.Events(ctx, nil, nil) {
		if err != nil {
			return err
		}
		switch d := ev.Data.(type) {
		case agent.ToolCallStart:
			inputs[d.CallID] = d
		case agent.ToolCallEnd:
			call := inputs[d.CallID]
			delete(inputs, d.CallID)
			if d.IsError {
				continue
			}
			for _, line := range written(call, one.Folder, path) {
				if by, ok := lines[line]; !ok || by.at <= ev.At {
					lines[line] = wrote{one.Found, ev.At}
				}
			}
		}
	}
	return nil
}

// written returns the lines that a call wrote into a file.
func written(call agent.ToolCallStart, folder, path string) (all []string) {
	var in struct {
		Path    string `json:"file_path"`
		Content string `json:"content"`
		New     string `json:"new_string"`
		Patch   string `json:"input"`
		Edits   []struct {
			New string `json:"new_string"`
		} `json:"edits"`
	}
	if !slices.Contains([]string{"Write", "Edit", "MultiEdit", "ApplyPatch"}, call.Tool) || json.Unmarshal([]byte(call.Input), &in) != nil {
		return nil
	}
	is := func(name string) bool {
		if !filepath.IsAbs(name) {
			name = filepath.Join(folder, name)
		}
		return filepath.Clean(name) == path
	}
	add := func(s string) {
		for line := range strings.Lines(s) {
			if line = key(line); line != "" {
				all = append(all, line)
			}
		}
	}
	if call.Tool == "ApplyPatch" {
		mine := false
		for line := range strings.Lines(in.Patch) {
			for _, mark := range []string{"*** Update File: ", "*** Add File: ", "*** Move to: "} {
				if name, ok := strings.CutPrefix(line, mark); ok {
					mine = is(strings.TrimSpace(name))
				}
			}
			if added, ok := strings.CutPrefix(line, "+"); ok && mine {
				add(added)
			}
		}
		return all
	}
	if !is(in.Path) {
		return nil
	}
	add(in.Content)
	add(in.New)
	for _, e := range in.Edits {
		add(e.New)
	}
	return all
}
