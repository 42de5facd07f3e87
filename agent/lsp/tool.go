package lsp

import (
	"context"
	_ "embed" // for the description
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"time"

	"atelier.dev/atelier/agent"
	"atelier.dev/atelier/agent/env"
	"atelier.dev/atelier/internal/text"
	"github.com/charmbracelet/x/powernap/pkg/lsp/protocol"
)

//go:embed lsp.md
var description string

// Name is the tool's canonical name.
const Name = "LSP"

const (
	maxText    = 4 << 20 // bytes of a file that a server is told
	maxWatched = 2_000   // files of a language whose changes a server is told
)

// tool answers a session's questions.
type tool struct {
	agent.Tool
	client
}

// client asks the servers about the files of an environment.
type client struct {
	servers *Servers
	env     env.Environment
}

// Tool returns the tool for a session that works in an environment.
func Tool(servers *Servers, e env.Environment) agent.Tool {
	t := &tool{client: client{servers, e}}
	t.Tool = agent.Function(agent.Spec{
		Name: Name, Description: strings.TrimSpace(description), ReadOnly: true, Idempotent: true, Concurrent: true, Bindings: bindings(),
	}, t.run)
	return t
}

// Validate implements [agent.Validator].
func (t *tool) Validate(input json.RawMessage) error { return t.Tool.(agent.Validator).Validate(input) }

// Access implements [agent.Accessor]: what the rules say about reading holds here, too.
func (t *tool) Access(_ context.Context, input json.RawMessage) agent.Access {
	var in Input
	if json.Unmarshal(input, &in) != nil {
		return agent.Access{}
	}
	reads := []string{t.env.WorkingDirectory()}
	if in.File != "" {
		reads = append(reads, t.absolute(in.File))
	}
	return agent.Access{Reads: reads}
}

func (c client) absolute(path string) string {
	if path = env.Spelled(c.env, path); filepath.IsAbs(path) {
		return filepath.Clean(path)
	}
	return filepath.Join(c.env.WorkingDirectory(), path)
}

// run answers one question.
func (t *tool) run(ctx context.Context, in Input) (agent.Result, error) {
	q, language, err := t.question(ctx, in)
	if err != nil {
		return agent.Result{}, err
	}
	program, text, err := t.ask(ctx, language, q)
	if err != nil {
		if ctx.Err() != nil {
			return agent.Result{}, ctx.Err()
		}
		why := err
		if text, err = (searcher{t.env, language}).ask(ctx, q); err != nil {
			return agent.Result{}, err
		}
		return agent.Result{Output: searched(language, why) + "\n" + text}, nil
	}
	return agent.Result{Output: "[Answered by " + program + ".]\n" + text}, nil
}

// searched says that a result is from a search, and why.
func searched(l Language, why error) string {
	reason := why.Error()
	if errors.Is(why, ErrNone) {
		reason = "no language server for " + l.Name + " was found"
	}
	return "[Found by a search with patterns, because " + text.Shorten(reason, 300) + ". These are lines that match, not what a compiler knows.]"
}

// question reads what a question is about.
func (c client) question(ctx context.Context, in Input) (q question, language Language, err error) {
	q.Input = in
	if in.File == "" {
		language, ok := c.main(ctx)
		if !ok {
			return q, language, errors.New("it is not clear which language is meant; give the file_path of one of its files")
		}
		return q, language, nil
	}
	q.path = c.absolute(in.File)
	language, ok := LanguageOf(q.path, c.servers.languages(ctx))
	if !ok {
		return q, language, fmt.Errorf("files like %s are of no language that this tool knows; use Grep or Read", filepath.Base(q.path))
	}
	if q.lines, err = c.read(ctx, q.path); err != nil || !in.Operation.atPosition() {
		return q, language, err
	}
	if q.place, err = in.placeIn(q.lines); err == nil {
		character := units(q.lines[q.place.line], q.place.character)
		q.at = protocol.Position{Line: uint32(q.place.line), Character: uint32(character)}
	}
	return q, language, err
}

// main returns the language of the project: the first that has a marker in its folder.
func (c client) main(ctx context.Context) (Language, bool) {
	for _, l := range c.servers.languages(ctx) {
		for _, marker := range l.Markers {
			if found, _ := filepath.Glob(filepath.Join(c.env.WorkingDirectory(), marker)); len(found) > 0 {
				return l, true
			}
		}
	}
	return Language{}, false
}

// read returns the lines of a file.
func (c client) read(ctx context.Context, path string) ([]string, error) {
	data, err := c.env.ReadFile(ctx, path)
	if err != nil {
		return nil, err
	}
	if len(data) > maxText {
		return nil, fmt.Errorf("%s is larger than the %d MB that are read", filepath.Base(path), maxText>>20)
	}
	text := strings.ToValidUTF8(strings.TrimPrefix(string(data), "\ufeff"), "\ufffd")
	return strings.Split(strings.ReplaceAll(text, "\r\n", "\n"), "\n"), nil
}

// ask answers a question with a server, and names it.
func (c client) ask(ctx context.Context, l Language, q question) (program, text string, err error) {
	project := c.env.WorkingDirectory()
	root := project
	if q.path != "" {
		root = rootOf(project, q.path, l)
	}
	s, release, err := c.servers.acquire(ctx, l, root)
	if err != nil {
		return "", "", err
	}
	defer release()
	if err := c.watch(ctx, s, l); err != nil {
		return "", "", s.reason(err)
	}
	if q.path != "" {
		id := l.IDs[strings.ToLower(filepath.Ext(q.path))]
		if _, err := s.open(ctx, q.path, id, strings.Join(q.lines, "\n")); err != nil {
			return "", "", s.reason(err)
		}
	}
	files := map[string][]string{}
	show := printer{project, func(path string) []string {
		lines, known := files[path]
		if _, ok := LanguageOf(path, c.servers.languages(ctx)); !known && ok {
			lines, _ = c.read(ctx, path)
			files[path] = lines
		}
		return lines
	}}
	text, err = s.ask(ctx, q, show)
	return s.command.Program, text, err
}

// watch tells a server which files of its language were changed since the last question.
func (c client) watch(ctx context.Context, s *server, l Language) error {
	hits, err := c.env.Glob(ctx, env.GlobQuery{Pattern: "**/" + l.glob(), Path: s.key.root, Limit: maxWatched})
	if err != nil {
		return nil //nolint:nilerr // the server sees the files itself, if later
	}
	now := map[string]time.Time{}
	for _, path := range hits.Lines {
		path = c.absolute(path)
		if info, err := c.env.Stat(ctx, path); err == nil {
			now[path] = info.ModTime
		}
	}
	return s.refresh(ctx, now, !hits.More && !hits.TimedOut)
}
