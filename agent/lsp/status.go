package lsp

import (
	"cmp"
	"context"
	"slices"
	"time"
)

// LanguageState is what a server does.
type LanguageState string

// The states.
const (
	LanguageReady    LanguageState = "ready"    // installed, and starts when it is needed
	LanguageStarting LanguageState = "starting" // shakes hands
	LanguageRunning  LanguageState = "running"
	LanguageFailed   LanguageState = "failed" // did not start, or ended by itself; a question starts it again
	LanguageOff      LanguageState = "off"    // switched off
)

// Status is what is known of one server.
type Status struct {
	Language string
	Root     string // empty for one that was not needed yet
	Program  string
	State    LanguageState
	PID      int   // 0 if it does not run
	Err      error // why it failed
	Memory   int64 // bytes, where that is known
	Used     time.Time
}

// off reports whether the servers of a language are switched off.
func (s *Servers) off(language string) bool { return s.cfg.Off != nil && s.cfg.Off(language) }

// Status returns what is known of the servers that were needed, and of those that are
// installed for the other languages, ordered by language and root. It waits for no server.
func (s *Servers) Status(ctx context.Context) (all []Status) {
	programs := map[string]string{}
	for _, l := range s.languages(ctx) {
		if command, ok := l.command(); ok && programs[l.Name] == "" {
			programs[l.Name] = command.Program
		}
	}
	s.mu.Lock()
	slots := make([]*slot, 0, len(s.slots))
	for _, at := range s.slots {
		slots = append(slots, at)
	}
	s.mu.Unlock()
	needed := map[string]bool{}
	for _, at := range slots {
		one := at.status()
		one.Program = cmp.Or(one.Program, programs[one.Language])
		needed[one.Language] = true
		all = append(all, one)
	}
	for language, program := range programs {
		if !needed[language] {
			all = append(all, Status{Language: language, Program: program, State: LanguageReady})
		}
	}
	for i := range all {
		if s.off(all[i].Language) {
			all[i].State, all[i].Err = LanguageOff, nil
		}
	}
	slices.SortFunc(all, func(a, b Status) int {
		return cmp.Or(cmp.Compare(a.Language, b.Language), cmp.Compare(a.Root, b.Root))
	})
	return all
}

// status returns what is known of the server of a slot.
func (at *slot) status() Status {
	one := Status{Language: at.key.language, Root: at.key.root, State: LanguageReady}
	if !at.mu.TryLock() { // it starts
		one.State = LanguageStarting
		return one
	}
	defer at.mu.Unlock()
	one.Err, one.Used = at.last, at.used
	if at.server != nil {
		one.Program, one.Err = at.server.command.Program, at.server.failure()
		if one.Err == nil {
			one.State, one.PID, one.Memory = LanguageRunning, at.server.process.PID(), at.server.process.Memory()
		}
	}
	if one.Err != nil {
		one.State = LanguageFailed
	}
	return one
}

// StopLanguage ends the servers of a language, as when they were switched off, and returns when
// they have ended or ctx has.
func (s *Servers) StopLanguage(ctx context.Context, language string) {
	s.stopAll(ctx, func(k key) bool { return k.language == language })
}

// Restart ends the server of a language for a root that was needed before, forgets why it failed,
// and starts it again. It returns why it did not start.
func (s *Servers) Restart(ctx context.Context, language, root string) error {
	k := key{root, language}
	s.mu.Lock()
	at := s.slots[k]
	s.mu.Unlock()
	i := slices.IndexFunc(s.languages(ctx), func(l Language) bool { return l.Name == language })
	if at == nil || i < 0 {
		return ErrNone
	}
	s.stopAll(ctx, func(other key) bool { return other == k })
	at.mu.Lock()
	at.failures, at.last = nil, nil
	at.mu.Unlock()
	_, release, err := s.acquire(ctx, s.languages(ctx)[i], root)
	if err == nil {
		release()
	}
	return err
}
