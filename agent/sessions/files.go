package sessions

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"

	"atelier.dev/atelier/agent"
)

// Files keeps each session in a file of its own in a folder, an event a line. One program
// uses a folder at a time. What a crash left of a line is removed when the session is added
// to.
type Files struct {
	dir string
	mu  sync.Mutex
}

// NewFiles returns the sessions in a folder, which it makes if there is none.
func NewFiles(dir string) (*Files, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, fmt.Errorf("make the folder of sessions: %w", err)
	}
	return &Files{dir: dir}, nil
}

const ending = ".jsonl"

var safeID = regexp.MustCompile(`^[A-Za-z0-9_-]{1,100}$`)

func (f *Files) path(session string) (string, error) {
	if !safeID.MatchString(session) {
		return "", fmt.Errorf("%q cannot name a session: use letters, digits, - and _", session)
	}
	return filepath.Join(f.dir, session+ending), nil
}

// read returns the events of a file, and where the last whole line ends.
func read(file io.Reader) (events []agent.Event, end int64, err error) {
	all, err := io.ReadAll(file)
	if err != nil {
		return nil, 0, err
	}
	for {
		line, rest, whole := bytes.Cut(all, []byte("\n"))
		if !whole {
			return events, end, nil
		}
		var ev agent.Event
		if err := json.Unmarshal(line, &ev); err != nil {
			return nil, 0, fmt.Errorf("line %d: %w", len(events)+1, err)
		}
		events, end, all = append(events, ev), end+int64(len(line))+1, rest
	}
}

// Append implements [Log].
func (f *Files) Append(_ context.Context, session string, count int64, events []agent.Event) (err error) {
	path, err := f.path(session)
	if err != nil {
		return err
	}
	var lines bytes.Buffer
	for _, ev := range events {
		if err := json.NewEncoder(&lines).Encode(ev); err != nil {
			return fmt.Errorf("encode an event: %w", err)
		}
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	file, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return fmt.Errorf("open a session: %w", err)
	}
	defer func() { err = errors.Join(err, file.Close()) }()
	there, end, err := read(file)
	if err != nil {
		return fmt.Errorf("read a session: %w", err)
	}
	if int64(len(there)) != count {
		return ErrConflict
	}
	if err = file.Truncate(end); err == nil {
		if _, err = file.WriteAt(lines.Bytes(), end); err == nil {
			err = file.Sync()
		}
	}
	if err != nil {
		return fmt.Errorf("write a session: %w", errors.Join(err, file.Truncate(end)))
	}
	return nil
}

// Events implements [Log].
func (f *Files) Events(_ context.Context, session string) ([]agent.Event, error) {
	path, err := f.path(session)
	if err != nil {
		return nil, err
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	file, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, ErrNotFound
	}
	if err != nil {
		return nil, fmt.Errorf("open a session: %w", err)
	}
	defer file.Close()
	events, _, err := read(file)
	if err == nil && len(events) == 0 {
		return nil, ErrNotFound
	}
	return events, err
}

// Sessions implements [Log].
func (f *Files) Sessions(context.Context) (ids []string, err error) {
	entries, err := os.ReadDir(f.dir)
	for _, e := range entries {
		if id, ok := strings.CutSuffix(e.Name(), ending); ok && safeID.MatchString(id) {
			ids = append(ids, id)
		}
	}
	return ids, err
}

// Delete implements [Log].
func (f *Files) Delete(_ context.Context, session string) error {
	path, err := f.path(session)
	if err != nil {
		return err
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("delete a session: %w", err)
	}
	return nil
}
