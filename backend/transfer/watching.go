package transfer

import (
	"cmp"
	"context"
	"errors"
	"path/filepath"
	"slices"
	"strings"

	"atelier.dev/atelier/agent"
	"atelier.dev/atelier/backend"
	"atelier.dev/atelier/backend/transcript"
	"atelier.dev/atelier/backend/transcript/watch"
	"atelier.dev/atelier/internal/regular"
)

// WatchRequest is for transcripts.watch: a transcript in the store of a program, and the version
// of it that the page has; empty if it has nothing.
type WatchRequest struct {
	Program agent.Program `json:"program"`
	Name    string        `json:"name"`
	Version string        `json:"version,omitempty"`
	// Before asks for the pieces before one instead.
	Before int `json:"before,omitempty"`
}

// watch returns what a session of another program has that the page has not (LIVE-01).
func (m *Imports) watch(ctx context.Context, in WatchRequest) (out watch.Watched, err error) {
	s := storeOf(m.stores(), in.Program)
	if s.Dir == "" {
		return out, backend.Problem(backend.ProblemArguments, "transcripts.watch")
	}
	if in.Before > 0 {
		out, err = m.watcher.Earlier(ctx, s, in.Name, in.Before)
	} else {
		out, err = m.watcher.Watch(ctx, s, in.Name, in.Version)
	}
	if err != nil {
		return out, unreadable(in.Name, err)
	}
	return out, nil
}

// ForeignQuery is for transcripts.search: words, or the path of a file of the project.
type ForeignQuery struct {
	Query string `json:"query"`
}

// ForeignHits answers transcripts.search.
type ForeignHits struct {
	Hits []watch.ForeignHit `json:"hits,omitempty"`
	// Blamed says who of the others wrote lines of the file, if the query names one.
	Blamed []watch.Blamed `json:"blamed,omitempty"`
	File   string         `json:"file,omitempty"`
	// More says that not everything was searched, or is shown.
	More bool `json:"more,omitempty"`
}

const (
	maxForeignQuery = 1_000
	maxBlamedFile   = 4 << 20 // bytes
	maxBlamed       = 200
)

// search finds words in sessions of other programs, and their lines in a file.
func (m *Imports) search(ctx context.Context, in ForeignQuery) (out ForeignHits, err error) {
	if len(in.Query) > maxForeignQuery {
		return out, backend.Problem(backend.ProblemArguments, "transcripts.search")
	}
	all, more, err := m.listed(ctx)
	if err != nil {
		return out, err
	}
	if out.Hits, out.More, err = m.watcher.Search(ctx, all, in.Query); err != nil {
		return out, err
	}
	out.More = out.More || more
	path := strings.TrimSpace(in.Query)
	if !filepath.IsAbs(path) {
		path = filepath.Join(m.cfg.Folder, filepath.FromSlash(path))
	}
	path = filepath.Clean(path)
	rel, err := filepath.Rel(m.cfg.Folder, path)
	if err != nil || !filepath.IsLocal(rel) || rel == "." {
		return out, nil
	}
	content, err := regular.Read(path, maxBlamedFile)
	if err != nil {
		return out, nil // no file of the project
	}
	out.File = filepath.ToSlash(rel)
	blamed, left, err := m.watcher.Blame(ctx, all, path, string(content))
	out.Blamed = blamed[:min(len(blamed), maxBlamed)]
	out.More = out.More || left || len(blamed) > maxBlamed
	return out, err
}

func (m *Imports) stores() []transcript.Store {
	return transcript.Stores(m.cfg.User, m.cfg.Getenv)
}

// listed are the transcripts of all stores, the newest first.
func (m *Imports) listed(ctx context.Context) (all []watch.Listed, more bool, err error) {
	for _, s := range m.stores() {
		found, cut, err := s.List(ctx)
		if err := context.Cause(ctx); err != nil {
			return nil, false, err
		}
		if err != nil && !errors.Is(err, context.Canceled) {
			continue // a store that cannot be read has none for us
		}
		more = more || cut
		for _, f := range found {
			all = append(all, watch.Listed{Store: s, Found: f})
		}
	}
	slices.SortStableFunc(all, func(a, b watch.Listed) int { return cmp.Compare(b.At, a.At) })
	return all, more, nil
}
