package agent

import (
	"cmp"
	"context"
	"slices"
)

// HookStep is the tool of a [GateCall] that stands for a hook that runs.
const HookStep = "Hook"

// Recorder records what calls do to files, so that it can be undone. It is safe
// for concurrent use, because calls may run at once.
type Recorder interface {
	// Begin is called before a step runs, with the id of the call or command. It
	// returns nil if the step cannot change files. Otherwise end is called once the
	// step has ended, even if it failed or was interrupted, and returns nil if no
	// file changed. Neither may fail the step: [FilesChanged] says what could not be
	// recorded. A hook has no id: nothing is known of it after the process ended.
	Begin(ctx context.Context, id string, call GateCall) (end func(context.Context) *FilesChanged)
	// Recover returns what a step changed that ran when the process ended; nil if
	// nothing is known of it.
	Recover(ctx context.Context, id string) *FilesChanged
}

// begin is [Recorder.Begin] if there is a recorder. A recorder that panics records
// nothing.
func (c *Config) begin(ctx context.Context, id string, call GateCall) (end func() *FilesChanged) {
	var stop func(context.Context) *FilesChanged
	if c.Recorder != nil {
		protect("the journal", func() { stop = c.Recorder.Begin(ctx, id, call) })
	}
	return func() (changed *FilesChanged) {
		if stop != nil {
			protect("the journal", func() { changed = stop(context.WithoutCancel(ctx)) })
		}
		return changed
	}
}

// recovered is [Recorder.Recover] if there is a recorder.
func (c *Config) recovered(ctx context.Context, id string) (changed *FilesChanged) {
	if c.Recorder != nil {
		protect("the journal", func() { changed = c.Recorder.Recover(ctx, id) })
	}
	return changed
}

// rewritten tells the tools what a step did to files, and returns what the model is told
// of those that it knows.
func (c *Config) rewritten(ctx context.Context, by string, changed *FilesChanged) (told string) {
	if c.Rewritten != nil && changed != nil && len(changed.Files) > 0 {
		protect("the memory of files", func() { told = c.Rewritten(context.WithoutCancel(ctx), by, changed.Files) })
	}
	return told
}

// hooked records what the hooks of a point do to files, each from its start to its end.
type hooked struct {
	session *Session
	ctx     context.Context
	call    HookCall
	end     func() *FilesChanged // of the hook that runs; nil if none does
	// changed is what hooks after a call did, which is a part of the call's step.
	changed *FilesChanged
	told    []string // to the model
}

// see takes note of what hooks report, and returns it with what they changed.
func (h *hooked) see(p Payload) Payload {
	switch d := p.(type) {
	case HookStart:
		h.end = h.session.beginHook(h.call.Tool().Access.Writes)
	case HookEnd:
		changed := h.over()
		if changed == nil {
			return p
		}
		h.told = append(h.told, h.session.cfg.rewritten(h.ctx, d.Name, changed))
		if point := h.call.Point(); point == HookPostToolUse || point == HookPostToolUseFailure {
			changed.Hooked = true
			h.changed = h.changed.then(changed)
			return p
		}
		d.ID, d.Files = h.session.cfg.NewID(), changed
		return d
	}
	return p
}

// over ends the record of the hook that runs.
func (h *hooked) over() *FilesChanged {
	if h.end == nil {
		return nil
	}
	end := h.end
	h.end = nil
	return end()
}

// then joins what a step changed with what the next one did; either may be nil.
func (c *FilesChanged) then(next *FilesChanged) *FilesChanged {
	if c == nil || next == nil {
		return cmp.Or(c, next)
	}
	both := FilesChanged{Files: slices.Clone(c.Files), More: c.More + next.More, Lists: slices.Concat(c.Lists, next.Lists), Unwatched: c.Unwatched || next.Unwatched, Hooked: c.Hooked || next.Hooked}
	at := make(map[string]int, len(both.Files))
	for i, f := range both.Files {
		at[f.Path] = i
	}
	for _, f := range next.Files {
		if i, ok := at[f.Path]; ok {
			both.Files[i].After = f.After
		} else {
			both.Files = append(both.Files, f)
		}
	}
	both.Files = slices.DeleteFunc(both.Files, func(f FileRecord) bool { return f.Before == f.After })
	slices.SortFunc(both.Files, func(a, b FileRecord) int { return cmp.Compare(a.Path, b.Path) })
	if len(both.Files) == 0 && both.More == 0 && !both.Unwatched {
		return nil
	}
	return &both
}

// Recorded returns the step whose end an event is, by its id, and what it changed. It
// returns nil if the event ends none, or if that changed nothing. What was restored is
// not a step.
func Recorded(p Payload) (id string, changed *FilesChanged) {
	switch d := p.(type) {
	case ToolCallEnd:
		return d.CallID, d.Files
	case LocalCommandEnd:
		return d.ID, d.Files
	case HookEnd:
		return d.ID, d.Files
	}
	return "", nil
}

// FilesChanged lists the files that a step changed: a call of a tool with the hooks after
// it, a command of the user, or a hook at another point.
type FilesChanged struct {
	Files []FileRecord `json:"files,omitempty"`
	// More counts changed files that are not listed, because there are too many. Lists
	// are objects of the journal with their records; without them, they cannot be undone.
	More  int           `json:"more,omitempty"`
	Lists []FileVersion `json:"lists,omitempty"`
	// Unwatched says that other changes may have been missed, because the folder
	// could not be watched while the step ran.
	Unwatched bool `json:"unwatched,omitempty"`
	// Hooked says that hooks changed some of the files after the call.
	Hooked bool `json:"hooked,omitempty"`
}

// FileRecord is one file before and after a step. Path is relative to the
// session's folder, with slashes; see changes.Quote for names that are not UTF-8. A
// file outside the folder has an absolute path. A renamed file has two records.
type FileRecord struct {
	Path   string      `json:"path"`
	Before FileVersion `json:"before,omitzero"`
	After  FileVersion `json:"after,omitzero"`
}

// FileVersion is what stood under a name. The zero value means that nothing did.
type FileVersion struct {
	// Hash is the SHA-256 of the contents in hexadecimal; of a link, of its target.
	Hash string   `json:"hash,omitempty"`
	Size int64    `json:"size,omitempty"`
	Kind FileKind `json:"kind,omitempty"`
	// Private says that nobody but its owner may read the file, so that it is not
	// brought back for everybody to read. Mode says what each may do, as far as the system
	// tells: the permission bits of a file; 0 means that they are not known.
	Private bool   `json:"private,omitempty"`
	Mode    uint32 `json:"mode,omitempty"`
	// Unkept says why the contents are not in the journal, so that this version
	// cannot be brought back; empty means that they are.
	Unkept Unkept `json:"unkept,omitempty"`
}

// Exists reports whether anything stood under the name.
func (v FileVersion) Exists() bool { return v.Kind != "" }

// FileKind says what stands under a name.
type FileKind string

// The kinds. Empty means that nothing stands there.
const (
	PlainFile      FileKind = "file"
	ExecutableFile FileKind = "executable"
	SymbolicLink   FileKind = "link"
)

// Unkept says why a version is not in the journal.
type Unkept string

// The reasons.
const (
	UnkeptLarge   Unkept = "large"   // the file is too large
	UnkeptFull    Unkept = "full"    // the journal has no room
	UnkeptUnseen  Unkept = "unseen"  // it was changed before it had been read
	UnkeptFailed  Unkept = "failed"  // it could not be read or written
	UnkeptDropped Unkept = "dropped" // it was kept, and removed to make room
)

// FilesRestored says that steps were undone or redone: their changes were taken
// out of the files again, or brought back. Each undo is itself undoable.
type FilesRestored struct {
	ID string `json:"id"`
	// Undone are the steps whose changes were taken out, the newest first. It is
	// empty if Redone is set.
	Undone []StepRef `json:"undone,omitempty"`
	// Redone is the id of the FilesRestored that was itself undone.
	Redone string `json:"redone,omitempty"`
	// Taken is the session whose changes were taken over; no step was undone then.
	Taken string `json:"taken,omitempty"`
	// Reverted says that the user took a change out by itself, where changes are shown;
	// no step was undone then. Like what was taken over it is undone as a step.
	Reverted bool `json:"reverted,omitempty"`
	// Paths limits the restoration to these files; empty means all.
	Paths []string `json:"paths,omitempty"`
	// Partly are files of which the user chose some hunks only.
	Partly []string `json:"partly,omitempty"`
	FilesChanged
	// Conflicts are files, or parts of files, that were left as they are.
	Conflicts []RestoreConflict `json:"conflicts,omitempty"`
}

// StepRef names a step: a call, or a command of the user, by its id.
type StepRef struct {
	Session string `json:"session"`
	Call    string `json:"call"`
}

// RestoreConflict is a file that could not be restored, or not all of it.
type RestoreConflict struct {
	Path   string         `json:"path"`
	Reason ConflictReason `json:"reason"`
	// Hunks counts the places that were left as they are, if the rest of the file
	// was restored.
	Hunks int `json:"hunks,omitempty"`
}

// ConflictReason says why a file was left as it is.
type ConflictReason string

// The reasons.
const (
	ConflictChanged  ConflictReason = "changed"  // somebody changed the same lines since
	ConflictBinary   ConflictReason = "binary"   // it changed since, and is not text
	ConflictVanished ConflictReason = "vanished" // it does not exist any more
	ConflictOccupied ConflictReason = "occupied" // something else stands in its place
	ConflictUnkept   ConflictReason = "unkept"   // the journal does not have the contents
	ConflictRefused  ConflictReason = "refused"  // the system refused it
	ConflictLinked   ConflictReason = "linked"   // it has other names, which would be parted from it
	ConflictFull     ConflictReason = "full"     // the disk is full
)

// Rewound takes the newest part of the conversation back: models are not told of
// the events after To any more. The log keeps them. A session has to be opened again
// from its log after this event, and after a [RewindUndone].
type Rewound struct {
	// ID names it for [RewindUndone].
	ID string `json:"id"`
	// To is the place of the last event that remains; 0 leaves nothing.
	To int64 `json:"to"`
	// Prompt is the input that was taken back, for the composer.
	Prompt string `json:"prompt,omitempty"`
	// Turns counts the turns that were taken back.
	Turns int `json:"turns"`
}

// RewindUndone brings back what [Rewound] took. It is possible until the next
// input.
type RewindUndone struct {
	ID string `json:"id"` // of the Rewound
}

// Forked says that the log up to here is a copy from another session. Earlier
// costs and changes count there, not here.
type Forked struct {
	Origin ForkOrigin `json:"origin"`
	// Worktree is the folder in a git worktree where the fork works, relative to the
	// project and with slashes; empty if it works in the project itself.
	Worktree string `json:"worktree,omitempty"`
	// Moved says that the origin worked in another folder, or for another session:
	// models are briefed again.
	Moved bool `json:"moved,omitempty"`
	// Branch is the git branch where a fork works that has moved; empty if there is none.
	Branch string `json:"branch,omitempty"`
}

// ForkOrigin is the place where a session was forked from another one.
type ForkOrigin struct {
	Session string `json:"session"`
	// Seq is the place of the last event that was copied; Through is how many
	// messages that were.
	Seq     int64 `json:"seq"`
	Through int   `json:"through,omitempty"`
}

// SessionMarks are what a person says about a session for its list. Each event has all of
// them.
type SessionMarks struct {
	Tags     []string `json:"tags,omitempty"`
	Label    string   `json:"label,omitempty"` // of a branch
	Pinned   bool     `json:"pinned,omitempty"`
	Archived bool     `json:"archived,omitempty"`
	// Deleted is when the person deleted the session, in milliseconds since 1970; 0
	// means not. It can be restored until the person removes it for good.
	Deleted int64 `json:"deleted,omitempty"`
}

// Imported says that the log up to here was read from a file that another program
// wrote, or another Atelier. Earlier costs and changes count there, not here.
type Imported struct {
	Program Program `json:"program"`
	// Path is the file that was read, and ID the session's name in it; empty if it
	// has none.
	Path string `json:"path"`
	ID   string `json:"id,omitempty"`
	// Size is how much of the file was read, in bytes. A file that has grown since
	// says more than the log.
	Size int64 `json:"size"`
	// Folder is where the session ran, which may be another folder than that of its
	// log.
	Folder string `json:"folder,omitempty"`
	// Through is the place of the last event that was read.
	Through int64 `json:"through"`
	// Skipped counts what was not understood: lines, or else messages. Pictures
	// counts pictures that were left out.
	Skipped  int `json:"skipped,omitempty"`
	Pictures int `json:"pictures,omitempty"`
}

// Program names a program whose transcripts can be read.
type Program string

// The programs.
const (
	ProgramAtelier      Program = "atelier"
	ProgramClaudeCode   Program = "claude_code"
	ProgramCodex        Program = "codex"
	ProgramOpenAgentSDK Program = "open_agent_sdk"
	ProgramComate       Program = "comate"
	ProgramGemini       Program = "gemini_cli"
	ProgramOpencode     Program = "opencode"
)

// Moved says that the project's folder is at another place, and that the user brought
// the session along.
type Moved struct {
	From   string `json:"from"`
	Folder string `json:"folder"`
}
