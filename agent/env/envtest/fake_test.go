package envtest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"path"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"
	"testing/fstest"
	"time"

	"github.com/bmatcuk/doublestar/v4"

	"atelier.dev/atelier/agent/env"
)

// The suite also holds for environments that share nothing with this machine.
func TestFakeConforms(t *testing.T) { // LOOP-125
	Run(t, func(*testing.T) env.Environment {
		f := &fake{files: fstest.MapFS{}}
		f.life, f.end = context.WithCancel(context.Background())
		return f
	})
}

// fake is an environment in memory, with a shell that knows a few commands.
type fake struct {
	mu    sync.Mutex
	files fstest.MapFS
	life  context.Context
	end   context.CancelFunc
}

const home = "/fake/home"

func (f *fake) Initialize(context.Context) error { return nil }
func (f *fake) Cleanup(context.Context) error    { f.end(); return nil }
func (f *fake) WorkingDirectory() string         { return home }
func (f *fake) Platform() string                 { return "fake" }
func (f *fake) OSVersion() string                { return "fake 1.0" }

// view returns the current files and path's name among them.
func (f *fake) view(name string) (fstest.MapFS, string, error) {
	if name == "" {
		return nil, "", errors.New("no path was given")
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	rel := path.Clean(strings.TrimPrefix(name, home+"/"))
	return maps.Clone(f.files), rel, nil
}

func explain(name string, err error) error {
	switch {
	case err == nil:
		return nil
	case errors.Is(err, fs.ErrNotExist):
		return &env.Error{Path: name, Problem: "does not exist", Err: err}
	}
	return &env.Error{Path: name, Problem: "cannot be used", Err: err}
}

func (f *fake) ReadFile(_ context.Context, name string) ([]byte, error) {
	files, rel, err := f.view(name)
	if err != nil {
		return nil, err
	}
	data, err := files.ReadFile(rel)
	return data, explain(name, err)
}

func (f *fake) ReadLines(ctx context.Context, name string, offset, limit int) (env.Page, error) {
	data, err := f.ReadFile(ctx, name)
	if err == nil {
		err = env.CheckText(name, data)
	}
	if err != nil {
		return env.Page{}, err
	}
	lines := strings.Split(strings.TrimSuffix(strings.TrimPrefix(string(data), "\uFEFF"), "\n"), "\n")
	page := env.Page{First: offset, Total: len(lines), Hash: env.Hash(data)}
	for i, line := range lines {
		switch {
		case i+1 < offset:
		case len(page.Lines) < limit:
			page.Lines = append(page.Lines, strings.TrimSuffix(line, "\r"))
		default:
			page.More = true
		}
	}
	return page, nil
}

func (f *fake) WriteFile(ctx context.Context, name string, data []byte) error {
	if info, err := f.Stat(ctx, name); err == nil && info.Mode.IsDir() {
		return &env.Error{Path: name, Problem: "is a directory"}
	}
	_, rel, err := f.view(name)
	if err != nil {
		return err
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.files[rel] = &fstest.MapFile{Data: bytes.Clone(data), ModTime: time.Now()}
	return nil
}

func (f *fake) Stat(_ context.Context, name string) (env.Info, error) {
	files, rel, err := f.view(name)
	if err != nil {
		return env.Info{}, err
	}
	info, err := files.Stat(rel)
	if err != nil {
		return env.Info{}, explain(name, err)
	}
	return env.Info{Size: info.Size(), Mode: info.Mode(), ModTime: info.ModTime()}, nil
}

func (f *fake) ListDirectory(_ context.Context, name string, depth int) (entries []env.Entry, err error) {
	files, rel, err := f.view(name)
	if err != nil {
		return nil, err
	}
	err = fs.WalkDir(files, rel, func(at string, d fs.DirEntry, err error) error {
		if err != nil || at == rel {
			return err
		}
		entry := env.Entry{Path: strings.TrimPrefix(at, rel+"/"), Dir: d.IsDir()}
		if info, err := d.Info(); err == nil && !entry.Dir {
			entry.Size = info.Size()
		}
		entries = append(entries, entry)
		if entry.Dir && strings.Count(entry.Path, "/")+1 >= depth {
			return fs.SkipDir
		}
		return nil
	})
	return entries, explain(name, err)
}

func (f *fake) Grep(_ context.Context, q env.GrepQuery) (hits env.Hits, err error) {
	pattern := q.Pattern
	if q.IgnoreCase {
		pattern = "(?i)" + pattern
	}
	re, err := regexp.Compile(pattern)
	if err != nil {
		return hits, err
	}
	files, rel, err := f.view(path.Join(".", q.Path))
	if err == nil {
		_, err = files.Stat(rel)
	}
	if err != nil {
		return hits, explain(q.Path, err)
	}
	err = fs.WalkDir(files, rel, func(at string, d fs.DirEntry, err error) error {
		if named, _ := path.Match(q.Glob, path.Base(at)); err != nil || d.IsDir() || q.Glob != "" && !named {
			return err
		}
		found := 0
		for i, line := range strings.Split(string(files[at].Data), "\n") {
			if re.MatchString(line) {
				found++
				if q.Mode == env.GrepContent {
					hits.Lines = append(hits.Lines, fmt.Sprintf("%s:%d:%s", at, i+1, line))
					hits.PathEnds = append(hits.PathEnds, len(at))
				}
			}
		}
		switch {
		case found == 0:
		case q.Mode == env.GrepCount:
			hits.Lines = append(hits.Lines, fmt.Sprintf("%s:%d", at, found))
		case q.Mode != env.GrepContent:
			hits.Lines = append(hits.Lines, at)
		}
		return nil
	})
	return limited(hits, q.Limit), err
}

func (f *fake) Glob(_ context.Context, q env.GlobQuery) (hits env.Hits, err error) {
	files, _, err := f.view(".")
	if err != nil {
		return hits, err
	}
	hits.Lines, err = doublestar.Glob(files, path.Join(q.Path, q.Pattern), doublestar.WithFilesOnly())
	return limited(hits, q.Limit), err
}

func limited(hits env.Hits, limit int) env.Hits {
	if limit > 0 && len(hits.Lines) > limit {
		hits.Lines, hits.More = hits.Lines[:limit], true
	}
	return hits
}

func (f *fake) Exec(ctx context.Context, c env.Command) (env.CommandResult, error) {
	if ctx.Err() != nil {
		return env.CommandResult{}, ctx.Err()
	}
	var stdout, stderr strings.Builder
	emit := func(text string, isError bool) {
		if isError && !c.Merge && !c.TTY {
			stderr.WriteString(text)
			return
		}
		stdout.WriteString(text)
		if c.Output != nil {
			c.Output(text)
		}
	}
	c.Input = false
	if c.TTY {
		emit = terminalOutput(emit)
	}
	p, err := f.run(ctx, c, emit)
	if err != nil {
		return env.CommandResult{}, err
	}
	<-p.done
	r := p.result
	r.Stdout, r.Stderr = stdout.String(), stderr.String()
	return r, nil
}

func (f *fake) Start(_ context.Context, c env.Command) (env.Process, error) {
	var p *process
	ready := make(chan struct{})
	emit := func(text string, _ bool) {
		<-ready
		p.mu.Lock()
		defer p.mu.Unlock()
		p.printed += text
	}
	if c.TTY {
		emit = terminalOutput(emit)
		c.Input = true
	}
	p, err := f.run(f.life, c, emit)
	if c.TTY && p != nil {
		p.echo = func(text string) { emit(strings.TrimSuffix(text, "\x04"), false) }
	}
	close(ready)
	if err != nil {
		return nil, err // not p: a nil pointer in an interface is not a nil Process
	}
	return p, nil
}

// terminalOutput writes lines as a terminal does.
func terminalOutput(emit func(string, bool)) func(string, bool) {
	return func(text string, isError bool) { emit(strings.ReplaceAll(text, "\n", "\r\n"), isError) }
}

// process is a command of a fake, run by a goroutine.
type process struct {
	ctx         context.Context
	stop        context.CancelFunc
	typed       chan string
	takesInput  bool
	echo        func(text string) // of a terminal; may be nil
	interrupted chan struct{}
	done        chan struct{}
	result      env.CommandResult

	mu      sync.Mutex
	printed string
}

func (f *fake) run(ctx context.Context, c env.Command, emit func(text string, isError bool)) (*process, error) {
	if f.life.Err() != nil {
		return nil, errors.New("the environment is closed")
	}
	dir := path.Join(home, c.Dir)
	if info, err := f.Stat(ctx, path.Join(".", c.Dir)); c.Dir != "" && (err != nil || !info.Mode.IsDir()) {
		return nil, errors.New("there is no such directory")
	}
	p := &process{typed: make(chan string), takesInput: c.Input, interrupted: make(chan struct{}, 1), done: make(chan struct{})}
	p.ctx, p.stop = context.WithCancel(ctx)
	limited, cancel := p.ctx, context.CancelFunc(func() {})
	if c.Timeout > 0 {
		limited, cancel = context.WithTimeout(p.ctx, c.Timeout)
	}
	go func() { // ends with its script or its context
		defer close(p.done)
		defer cancel()
		shell := &shell{fake: f, process: p, ctx: limited, dir: dir, environ: c.Env, emit: emit}
		p.result.ExitCode = shell.script(c.Line)
		p.result.Interrupted = p.ctx.Err() != nil
		p.result.TimedOut = limited.Err() != nil && !p.result.Interrupted
	}()
	return p, nil
}

func (p *process) Read() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	text := p.printed
	p.printed = ""
	return text
}

func (p *process) Write(text string) error {
	if text == "\x03" {
		p.interrupted <- struct{}{}
		return nil
	}
	if !p.takesInput {
		return errors.New("it takes no input")
	}
	if p.echo != nil {
		p.echo(text)
	}
	select {
	case p.typed <- text:
		return nil
	case <-p.done:
		return errors.New("it has ended")
	}
}

func (p *process) Wait(ctx context.Context) (env.CommandResult, error) {
	select {
	case <-p.done:
		return p.result, nil
	default:
	}
	select {
	case <-p.done:
		return p.result, nil
	case <-ctx.Done():
		return env.CommandResult{}, ctx.Err()
	}
}

func (p *process) Stop() { p.stop(); <-p.done }

// shell runs the lines that the suite uses.
type shell struct {
	fake    *fake
	process *process
	ctx     context.Context
	dir     string
	environ []string
	emit    func(text string, isError bool)
}

func (s *shell) script(line string) (exit int) {
	for command := range strings.SplitSeq(line, "; ") {
		words := strings.Fields(command)
		switch words[0] {
		case "echo":
			s.echo(words[1:])
		case "pwd":
			s.emit(s.dir+"\n", false)
		case "cat":
			s.cat(words[1:])
		case "exit":
			fmt.Sscan(words[1], &exit)
			return exit
		case "sleep":
			select {
			case <-s.ctx.Done():
				return 143
			case <-s.process.interrupted:
				return 130
			}
		}
	}
	return 0
}

func (s *shell) echo(words []string) {
	last := len(words) - 1
	isError := words[last] == ">&2"
	if isError {
		words = words[:last]
	}
	text := strings.Join(words, " ")
	for _, entry := range s.environ {
		name, value, _ := strings.Cut(entry, "=")
		text = strings.ReplaceAll(text, "$"+name, value)
	}
	s.emit(text+"\n", isError)
}

func (s *shell) cat(files []string) {
	for _, name := range files {
		data, _ := s.fake.ReadFile(s.ctx, filepath.Join(s.dir, name))
		s.emit(string(data), false)
	}
	for len(files) == 0 && s.process.takesInput {
		select {
		case text := <-s.process.typed:
			text, last := strings.CutSuffix(text, "\x04")
			s.emit(text, false)
			if last {
				return
			}
		case <-s.ctx.Done():
			return
		}
	}
}
