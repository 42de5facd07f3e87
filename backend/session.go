package backend

import (
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"unicode"

	"atelier.dev/atelier/agent"
	"atelier.dev/atelier/agent/llm"
	"atelier.dev/atelier/internal/text"
)

// SessionInfo is a session as its list shows it.
type SessionInfo struct {
	ID        string         `json:"id"`
	Title     string         `json:"title"` // empty until the first prompt
	Folder    string         `json:"folder"`
	State     agent.State    `json:"state"`
	Settings  agent.Settings `json:"settings"`
	CreatedAt int64          `json:"created_at"`
	UpdatedAt int64          `json:"updated_at"`
	// Seq is the place of the last event in the log.
	Seq int64 `json:"seq"`
	// LastEnd is how the last turn ended; empty before the first end.
	LastEnd agent.EndReason `json:"last_end,omitempty"`
	// Usage sums the session's requests; Context is the size of the last one.
	Usage   llm.Usage `json:"usage"`
	Context int64     `json:"context"`
	// Cost sums the cost of the requests.
	Cost llm.Spending `json:"cost,omitzero"`
	// Lines counts the lines that the session's tools changed.
	Lines Lines `json:"lines,omitzero"`
	// Branch is the git branch that the model was told last; empty before the
	// first request and outside a repository.
	Branch string `json:"branch,omitempty"`
	// Messages counts the user's inputs and the model's answers, also those that
	// were taken back; Prompt is the beginning of the first input.
	Messages int    `json:"messages"`
	Prompt   string `json:"prompt,omitempty"`
	// Marks are what the user says about the session.
	Marks agent.SessionMarks `json:"marks,omitzero"`
	// Origin is set on a fork. Worktree is the folder where a session works that has a
	// git worktree, relative to the project.
	Origin   *agent.ForkOrigin `json:"origin,omitempty"`
	Worktree string            `json:"worktree,omitempty"`
	// Places are the worktrees to which calls moved the session, by the places of those
	// calls in the log, and at 0 the one where it began; empty if none did.
	Places map[int64]string `json:"-"`
	// Rewound are the parts of the log that were taken back, in order.
	Rewound []Span `json:"rewound,omitempty"`
	// Uncompacted are the places of ends of compactions that were taken back.
	Uncompacted []int64 `json:"uncompacted,omitempty"`
	// Skills are in use, the outermost first, without their arguments.
	Skills []agent.SkillUse `json:"skills,omitempty"`
	// Kept says where in the log tools keep something, the newest last; what
	// was taken back is among them.
	Kept []KeptAt `json:"kept,omitempty"`
	// Imported is set on a session that was read from a file.
	Imported *agent.Imported `json:"imported,omitempty"`
	// Helper is set on a session that another one started.
	Helper *agent.Helper `json:"helper,omitempty"`
	// Damaged says that the stored row was damaged, so that the store computed
	// this from the log.
	Damaged bool `json:"damaged,omitempty"`
	// Interrupted says that no process runs the session any more, whose state says that
	// it works. Set by the store, not stored.
	Interrupted bool `json:"interrupted,omitempty"`
}

// Lines counts added and removed lines. A line that was changed twice counts
// twice, because this is a sum over edits, not a comparison of files.
type Lines struct {
	Added   int `json:"added"`
	Removed int `json:"removed"`
}

// KeptAt is the place of a call that keeps something in the session ([agent.KeptState]).
type KeptAt struct {
	Tool string `json:"tool"`
	Seq  int64  `json:"seq"`
	// Line is what the list of sessions says of it; empty if nothing.
	Line string `json:"line,omitempty"`
}

// maxKept limits what [SessionInfo.Kept] has of a tool, and maxKeptLine a line in it, in
// bytes. After a rewind what held before is found among them.
const maxKept, maxKeptLine = 16, 200

// Span is a part of a log that was taken back: the events after one place and before
// the [agent.Rewound] with the ID, whose place is To.
type Span struct {
	ID   string `json:"id"`
	From int64  `json:"from"`
	To   int64  `json:"to"`
	// LastEnd is how the last turn of it ended.
	LastEnd agent.EndReason `json:"last_end,omitempty"`
	// Skills were in use at its end.
	Skills []agent.SkillUse `json:"skills,omitempty"`
}

// TookBack reports whether the event at a place was taken back.
func (s *SessionInfo) TookBack(seq int64) bool {
	return slices.Contains(s.Uncompacted, seq) || slices.ContainsFunc(s.Rewound, func(p Span) bool { return p.From < seq && seq < p.To })
}

// Apply folds one durable event into the session's row. The store does so in
// the transaction that appends the event.
func (s *SessionInfo) Apply(ev agent.Event) {
	s.Seq, s.UpdatedAt = ev.Seq, s.movedAt(ev)
	switch d := ev.Data.(type) {
	case agent.SessionStart, agent.LocalCommandEnd:
		s.State = agent.StateIdle
	case agent.SettingsChange:
		s.Settings = d.Settings
	case agent.Title:
		s.Title = d.Text
	case agent.UserInput:
		s.State = agent.StateProcessing
		s.Skills = nil
		s.use(d.Skill)
		s.Messages++
		if s.Prompt == "" {
			s.Prompt = text.Head(d.Wrote(), maxPrompt)
		}
	case agent.SessionMarks:
		s.Marks = d
	case agent.Forked:
		s.fork(d, ev.At)
	case agent.Imported:
		s.Imported, s.Worktree, s.Places = &d, "", nil
		s.forgetWork()
	case agent.Moved:
		s.move(d)
	case agent.Rewound:
		s.takeBack(Span{ID: d.ID, From: d.To, To: ev.Seq, LastEnd: s.LastEnd, Skills: s.Skills})
	case agent.RewindUndone:
		s.bringBack(d.ID)
	case agent.CompactionUndone:
		s.Uncompacted, s.Context = append(slices.Clip(s.Uncompacted), d.Compaction), d.Tokens
	case agent.ApprovalRequest:
		s.State = agent.StateAwaitingInput
	case agent.ApprovalAnswer, agent.TurnContinued, agent.LocalCommandStart:
		s.State = agent.StateProcessing
	case agent.TextEnd:
		s.Messages++
		s.Usage = s.Usage.Add(d.Usage)
		s.Cost.Add(d.Cost)
		if d.Usage.Known {
			s.Context = d.Usage.Total()
		}
	case agent.SideRequest:
		s.Usage = s.Usage.Add(d.Usage)
		s.Cost.Add(d.Cost)
	case agent.ToolCallEnd:
		if d.Details != nil {
			s.applyDetails(d)
		}
	case agent.Briefing:
		s.Branch = d.Told[agent.ToldBranch]
	case agent.BriefingUpdate:
		if branch, told := d.Told[agent.ToldBranch]; told {
			s.Branch = branch
		}
	case agent.Retrying:
		if d.Usage.Known {
			s.Usage = s.Usage.Add(d.Usage)
		}
		if d.Counts() {
			s.Cost.Add(d.Cost)
		}
	case agent.CompactionStart:
		if d.Trigger == agent.CompactManual {
			s.State = agent.StateProcessing
		}
	case agent.CompactionEnd:
		if d.Trigger == agent.CompactManual {
			s.State = agent.StateIdle
		}
		if d.Outcome == agent.OutcomeDone {
			s.Context = d.After
		}
	case agent.ProcessingEnd:
		s.State, s.LastEnd = agent.StateIdle, d.Reason
	case agent.SessionEnd:
		s.State = agent.StateClosed
	}
}

// maxPlaces limits the moves of one session that are remembered.
const maxPlaces = 200

// moveTo notes that a call moved the session; nil stands for none. The oldest move is
// forgotten if there are too many.
func (s *SessionInfo) moveTo(worktree *string) {
	if worktree == nil {
		return
	}
	if s.Places = maps.Clone(s.Places); s.Places == nil {
		s.Places = map[int64]string{0: s.Worktree}
	}
	if s.Places[s.Seq] = *worktree; len(s.Places) > maxPlaces {
		delete(s.Places, slices.Sorted(maps.Keys(s.Places))[1])
	}
	s.settle()
}

// settle puts the session where the newest move led that was not taken back.
func (s *SessionInfo) settle() {
	for _, seq := range slices.Sorted(maps.Keys(s.Places)) {
		if !s.TookBack(seq) {
			s.Worktree = s.Places[seq]
		}
	}
}

// WorktreeAt returns where the session worked when the event at a place of its log came.
func (s *SessionInfo) WorktreeAt(seq int64) string {
	newest, at := int64(-1), s.Worktree
	for p, worktree := range s.Places {
		if p < seq && p > newest {
			newest, at = p, worktree
		}
	}
	return at
}

// movedAt returns the session's time in lists after an event. It stays if the event
// only says something about the session (OAS-601).
func (s *SessionInfo) movedAt(ev agent.Event) int64 {
	isNote := false
	switch d := ev.Data.(type) {
	case agent.SessionMarks:
		isNote = true
	case agent.Title:
		isNote = d.ByUser
	}
	if isNote && s.UpdatedAt > 0 {
		return s.UpdatedAt
	}
	return ev.At
}

// CopiedThrough is the place in the log up to which nothing happened in this session:
// it was copied from another one, or read from a file. It is 0 if all of it did.
func (s SessionInfo) CopiedThrough() (seq int64) {
	if s.Origin != nil {
		seq = s.Origin.Seq
	}
	if s.Imported != nil {
		seq = max(seq, s.Imported.Through)
	}
	return seq
}

// fork makes the session one that was forked.
func (s *SessionInfo) fork(d agent.Forked, at int64) {
	s.Origin, s.Worktree, s.Helper, s.CreatedAt = &d.Origin, d.Worktree, nil, at
	s.Places = nil
	s.forgetWork()
	if d.Moved {
		s.Branch = d.Branch
	}
}

// forgetWork sets to zero what was spent and changed, because it counts in another
// session.
func (s *SessionInfo) forgetWork() {
	s.Usage, s.Cost, s.Lines = llm.Usage{Known: true}, llm.Spending{}, Lines{}
}

// move takes the session, and the folder in which it works as an agent, to the
// project's new place.
func (s *SessionInfo) move(d agent.Moved) {
	s.Folder = d.Folder
	if s.Helper == nil {
		return
	}
	if rel, err := filepath.Rel(d.From, s.Helper.Folder); err == nil && filepath.IsLocal(rel) {
		helper := *s.Helper
		helper.Folder = filepath.Join(d.Folder, rel)
		s.Helper = &helper
	}
}

// Notice tells the user outside the page that a session needs them or is done.
type Notice struct {
	Session string `json:"session"`
	// Kind is why. A notice replaces the earlier one of its session and kind.
	Kind  string `json:"kind"`
	Title string `json:"title"`
	Body  string `json:"body"`
}

// maxPrompt limits the beginning of a first prompt, in bytes.
const maxPrompt = 300

// maxTitle is the length of a derived title, in characters.
const maxTitle = 60

// FirstTitle returns the name that an event gives to a session: from its first
// prompt or, before that, from the first command that the user ran. It is empty
// if the session keeps its name.
func FirstTitle(has agent.Title, ev agent.Event) string {
	switch d := ev.Data.(type) {
	case agent.UserInput:
		title := TitleFrom(d.Wrote())
		numbered := strings.HasPrefix(has.Text, title+" (") // a fork that begins with the same prompt
		if has.Text == "" || !has.ByUser && ev.Turn == 1 && !numbered {
			return title
		}
	case agent.LocalCommandStart:
		if has.Text == "" {
			return TitleFrom("! " + d.Command)
		}
	}
	return ""
}

// LosesTitle reports whether a session that is named by its first prompt loses that
// name, because a hook refused the prompt.
func LosesTitle(t *agent.Transcript, ev agent.Event) bool {
	end, ok := ev.Data.(agent.ProcessingEnd)
	return ok && end.Reason == agent.EndRefused && t.Title.Text != "" && !t.Title.ByUser && !t.Title.ByHook && len(t.Exchanges()) == 0
}

// TitleFrom makes a title from a first prompt: its first line, without control
// characters, cut at a word.
func TitleFrom(prompt string) string {
	line, _, _ := strings.Cut(strings.TrimSpace(prompt), "\n")
	line = strings.Join(strings.FieldsFunc(line, func(r rune) bool {
		return unicode.IsSpace(r) || unicode.IsControl(r)
	}), " ")
	runes := []rune(line)
	if len(runes) <= maxTitle {
		return line
	}
	cut := string(runes[:maxTitle])
	if i := strings.LastIndexByte(cut, ' '); i > maxTitle/2 {
		cut = cut[:i]
	}
	return cut + "…"
}

// applyDetails folds in what a call changed, and the skill that it began or ended.
func (s *SessionInfo) applyDetails(d agent.ToolCallEnd) {
	if d.Outcome != agent.OutcomeDenied {
		for _, change := range d.Details.Changes {
			s.Lines.Added += change.Added
			s.Lines.Removed += change.Removed
		}
	}
	if !d.IsError {
		s.use(d.Details.Skill)
		s.moveTo(d.Details.Worktree)
	}
	if k := d.Details.Kept; k != nil {
		at := KeptAt{Tool: d.Tool, Seq: s.Seq, Line: text.Head(k.Line, maxKeptLine)}
		s.Kept = append(slices.Clone(s.Kept), at)
		ofTool := func(k KeptAt) bool { return k.Tool == at.Tool }
		if first := slices.IndexFunc(s.Kept, ofTool); len(s.Kept)-first > maxKept {
			s.Kept = slices.Delete(s.Kept, first, first+1)
		}
	}
}

// use records that a skill began or ended; nil stands for neither.
func (s *SessionInfo) use(u *agent.SkillUse) {
	if u != nil {
		begun := *u
		begun.Args = ""
		s.Skills = begun.After(s.Skills)
	}
}

// takeBack remembers that a part of the log was taken back. Only the log knows how
// the previous turn ended and how large the context was.
func (s *SessionInfo) takeBack(p Span) {
	s.Rewound = append(slices.Clip(s.Rewound), p)
	s.LastEnd, s.Context, s.Skills = "", 0, nil
	s.settle()
}

// bringBack forgets that a part of the log was taken back.
func (s *SessionInfo) bringBack(id string) {
	for i, p := range s.Rewound {
		if p.ID == id {
			s.LastEnd, s.Skills = p.LastEnd, p.Skills
			s.Rewound = slices.Delete(slices.Clone(s.Rewound), i, i+1)
			s.settle()
			return
		}
	}
}
