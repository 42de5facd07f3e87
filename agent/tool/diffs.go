package tool

import (
	"context"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"

	"atelier.dev/atelier/agent/env"
)

// This file handles diffs that commands print: the lines of a file that a diff
// shows count as read (K-42). The file must confirm each of them: a line counts
// only if the file has it where the diff says. It does not matter which command
// printed the diff or which states it compared.

// hunk holds the lines that a unified diff shows of the new side of a file.
type hunk struct {
	name  string // as the diff spells it
	first int    // number of the first line, from 1
	lines []string
}

var hunkHeader = regexp.MustCompile(`^@@ -\d+(?:,(\d+))? \+(\d+)(?:,(\d+))? @@`)

// hunksOf finds the unified diffs in a text. A truncated hunk has the lines
// that are present.
func hunksOf(text string) (hunks []hunk) {
	name, before := "", ""
	lines := strings.Split(strings.TrimSuffix(text, "\n"), "\n")
	for i := 0; i < len(lines); i++ {
		line := lines[i]
		if strings.HasPrefix(before, "--- ") && strings.HasPrefix(line, "+++ ") {
			name = diffName(line[len("+++ "):])
		}
		before = line
		m := hunkHeader.FindStringSubmatch(line)
		if m == nil || name == "" {
			continue
		}
		h := hunk{name: name, first: number(m[2], 0)}
		for old, new := number(m[1], 1), number(m[3], 1); (old > 0 || new > 0) && i+1 < len(lines); i++ {
			mark, rest := " ", ""
			if next := lines[i+1]; next != "" {
				mark, rest = next[:1], next[1:]
			}
			switch mark {
			case " ":
				old, new, h.lines = old-1, new-1, append(h.lines, rest)
			case "+":
				new, h.lines = new-1, append(h.lines, rest)
			case "-":
				old--
			case `\`: // no line feed at the end of the file
			default:
				old, new, i = 0, 0, i-1
			}
		}
		hunks = append(hunks, h)
	}
	return hunks
}

func number(digits string, otherwise int) int {
	if n, err := strconv.Atoi(digits); err == nil {
		return n
	}
	return otherwise
}

// diffName reads the file name after "+++ ". Git quotes unusual names, and diff
// appends a time.
func diffName(text string) string {
	name, _, _ := strings.Cut(strings.TrimSuffix(text, "\r"), "\t")
	if strings.HasPrefix(name, `"`) {
		name, _ = strconv.Unquote(name)
	}
	return name
}

// sawDiffs records the lines of files that diffs in a command's output show;
// the command ran in dir.
func (m *Memory) sawDiffs(ctx context.Context, e env.Environment, dir, text string) {
	shown := map[string][]hunk{}
	var names []string
	for _, h := range hunksOf(text) {
		if _, ok := shown[h.name]; !ok && len(names) < maxShown {
			names = append(names, h.name)
			shown[h.name] = nil
		}
		if _, ok := shown[h.name]; ok {
			shown[h.name] = append(shown[h.name], h)
		}
	}
	for _, name := range names {
		for _, path := range placesOf(e, dir, name) {
			text, err := env.ReadText(ctx, e, path)
			if err != nil {
				continue
			}
			if lines, ok := confirmed(text.UTF8, shown[name]); ok {
				m.sawLines(path, text.UTF8, lines)
				break
			}
		}
	}
}

// placesOf returns the paths in the working directory that a name in a diff may
// mean. Git's names begin with a letter for the side and are relative to the
// root of the repository, which is dir or a folder above it.
func placesOf(e env.Environment, dir, name string) (paths []string) {
	add := func(path string) {
		if rel, err := filepath.Rel(e.WorkingDirectory(), path); err == nil && filepath.IsLocal(rel) {
			paths = append(paths, path)
		}
	}
	if filepath.IsAbs(name) {
		add(filepath.Clean(name))
		return paths
	}
	names := []string{name}
	if side, rest, ok := strings.Cut(name, "/"); ok && len(side) == 1 {
		names = []string{rest, name}
	}
	for {
		for _, name := range names {
			add(filepath.Join(dir, filepath.FromSlash(name)))
		}
		if dir == filepath.Dir(dir) {
			return paths
		}
		dir = filepath.Dir(dir)
	}
}

// confirmed returns the lines of a file that match the hunks; it reports false
// if no hunk matches.
func confirmed(content []byte, hunks []hunk) (seen []bool, ok bool) {
	lines := linesOf(content)
	seen = make([]bool, len(lines))
	for _, h := range hunks {
		if !h.standsIn(content, lines) {
			continue // an older or newer state of the file
		}
		for i := range h.lines {
			seen[h.first-1+i], ok = true, true
		}
	}
	return seen, ok
}

func (h hunk) standsIn(content []byte, lines []span) bool {
	if h.first < 1 || len(h.lines) > len(lines) || h.first-1 > len(lines)-len(h.lines) {
		return false
	}
	for i, text := range h.lines {
		s := lines[h.first-1+i]
		if string(content[s.start:s.end]) != strings.TrimSuffix(text, "\r") {
			return false
		}
	}
	return true
}
