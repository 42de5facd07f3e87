package authors

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"atelier.dev/atelier/agent"
	"atelier.dev/atelier/agent/blame"
	"atelier.dev/atelier/backend"
	"atelier.dev/atelier/internal/text"
)

// Limits of a reply.
const (
	maxRuns   = 5000
	maxTexts  = 5000 // lines with their texts
	maxPrompt = 500  // bytes
	pageSize  = 100  // steps that are listed at a time
)

// Log is the part of a [backend.Store] that is read.
type Log interface {
	backend.FileHistory
	Events(context.Context, backend.EventRange) ([]agent.Event, error)
	Session(ctx context.Context, id string) (backend.SessionInfo, error)
}

// Reader reads who wrote the files of a folder.
type Reader struct {
	Log    Log
	Folder string
	// Worktree is where the file is below Folder, with slashes; empty if it is in none.
	Worktree string
	Contents blame.Contents
}

// Query selects lines of a file, from 1. To 0 means to the end.
type Query struct {
	Path     string // as in [agent.FileRecord]
	Present  []byte // what the file contains now
	From, To int
	Texts    bool // what the lines are is part of the reply
}

// BlameReply says who wrote the lines of a file.
type BlameReply struct {
	Path  string `json:"path"`
	Total int    `json:"total"` // lines of the file
	// Runs are in order and cover the lines that were asked for, up to a limit.
	Runs []BlameRun `json:"runs,omitempty"`
	// Texts are these lines without their ends, if they were asked for.
	Texts []string `json:"texts,omitempty"`
	// Steps are those that runs refer to.
	Steps []BlameStep `json:"steps,omitempty"`
	// Skipped counts the oldest steps, which were not followed because there are
	// too many. Their lines count as earlier.
	Skipped int `json:"skipped,omitempty"`
	// Next is the first line that is left out; 0 if none is.
	Next int `json:"next,omitempty"`
}

// BlameRun is a run of lines of one author.
type BlameRun struct {
	From int        `json:"from"` // its first line, from 1
	To   int        `json:"to"`
	By   LineAuthor `json:"by"`
	// Step is the place of the step in the reply; 0 for other authors.
	Step int `json:"step,omitempty"`
	// Unsure says that versions in between were not kept, so that the lines may also
	// be from an earlier step or from outside.
	Unsure bool `json:"unsure,omitempty"`
}

// LineAuthor is a kind of author.
type LineAuthor string

// The authors.
const (
	ByStep    LineAuthor = "step"    // a step of a session
	ByEarlier LineAuthor = "earlier" // the lines are older than what is recorded
	ByOutside LineAuthor = "outside" // another program or a person, while no session recorded it
	ByUnknown LineAuthor = "unknown" // the versions that would tell were not kept
)

// BlameStep is a step of a session, with what it was part of.
type BlameStep struct {
	Session string `json:"session"`
	Title   string `json:"title"`
	// Parent is the session that started this one; empty if the user did.
	Parent string `json:"parent,omitempty"`
	Seq    int64  `json:"seq"` // of the event
	Turn   int    `json:"turn,omitempty"`
	At     int64  `json:"at"`
	// Kind is that of the event: the end of a call, of the user's command, or that
	// files were restored.
	Kind agent.Kind `json:"kind"`
	// Call is the id of the call, of the command or of the restoration.
	Call string `json:"call"`
	Tool string `json:"tool,omitempty"`
	// Authority is what allowed the call; nil if it was not recorded.
	Authority *agent.Authority `json:"authority,omitempty"`
	// Made is what the step was part of. Its prompt is cut; that of a command of the
	// user is its command line.
	Made backend.TurnFacts `json:"made"`
}

// File returns who wrote a file.
func (r Reader) File(ctx context.Context, q Query) (BlameReply, error) {
	found, err := r.history(ctx, q.Path)
	if err != nil {
		return BlameReply{}, err
	}
	steps := make([]blame.Step, len(found))
	for i, f := range found {
		steps[i] = f.step
	}
	answer, err := blame.Of(ctx, steps, q.Present, r.Contents)
	if err != nil {
		return BlameReply{}, fmt.Errorf("compare the versions of %s: %w", q.Path, err)
	}
	reply := BlameReply{Path: q.Path, Total: len(answer.Lines), Skipped: answer.Skipped}
	if err := r.fill(ctx, &reply, q, answer.Lines, found); err != nil {
		return BlameReply{}, err
	}
	if q.Texts && len(reply.Runs) > 0 {
		lines := slices.Collect(strings.Lines(string(q.Present)))
		for _, line := range lines[reply.Runs[0].From-1 : reply.Runs[len(reply.Runs)-1].To] {
			reply.Texts = append(reply.Texts, strings.TrimSuffix(strings.TrimSuffix(line, "\n"), "\r"))
		}
	}
	return reply, nil
}

// fill adds the runs that were asked for, and their steps.
func (r Reader) fill(ctx context.Context, reply *BlameReply, q Query, lines []blame.Line, found []found) error {
	places := map[blame.Author]int{} // of steps in the reply
	first, last := max(q.From, 1), len(lines)
	if q.To > 0 {
		last = min(last, q.To)
	}
	for n := first; n <= last; n++ {
		line := lines[n-1]
		again := n > first && line == lines[n-2]
		if !again && len(reply.Runs) == maxRuns || q.Texts && n == first+maxTexts {
			reply.Next = n
			return nil
		}
		if again {
			reply.Runs[len(reply.Runs)-1].To = n
			continue
		}
		run := BlameRun{From: n, To: n, By: kindOf(line.Author), Unsure: line.Unsure}
		if run.By == ByStep {
			place, ok := places[line.Author]
			if !ok {
				step, err := r.describe(ctx, found[line.Author])
				if err != nil {
					return err
				}
				place = len(reply.Steps)
				places[line.Author] = place
				reply.Steps = append(reply.Steps, step)
			}
			run.Step = place
		}
		reply.Runs = append(reply.Runs, run)
	}
	return nil
}

func kindOf(a blame.Author) LineAuthor {
	switch a {
	case blame.Earlier:
		return ByEarlier
	case blame.Outside:
		return ByOutside
	case blame.Unknown:
		return ByUnknown
	}
	return ByStep
}

// found is a step with the event that recorded it, which has no data if it is
// damaged.
type found struct {
	row   backend.FileStep
	event agent.Event
	step  blame.Step
}

// history returns the steps that changed a file, the oldest first, also those from
// before it was renamed.
func (r Reader) history(ctx context.Context, path string) (all []found, err error) {
	var before backend.CallPlace
	for len(all) <= blame.MaxSteps { // one more says that there are more
		page, err := r.Log.FileSteps(ctx, backend.FileRange{Folder: r.Folder, Worktree: r.Worktree, Path: path, Before: before, Limit: pageSize})
		if err != nil {
			return nil, err
		}
		renamed := false
		for _, row := range page {
			before = backend.CallPlace{At: row.At, Session: row.Session, Seq: row.Seq}
			f, from, err := r.read(ctx, row, path)
			if err != nil {
				return nil, err
			}
			all = append(all, f)
			if renamed = from != ""; renamed {
				path = from
				break
			}
		}
		if len(page) < pageSize && !renamed {
			break
		}
	}
	slices.Reverse(all)
	return all, nil
}

// read reads a step from the log, and the file's old path if the step renamed it. The
// change of a damaged event is unknown.
func (r Reader) read(ctx context.Context, row backend.FileStep, path string) (f found, from string, err error) {
	events, err := r.Log.Events(ctx, backend.EventRange{Session: row.Session, After: row.Seq - 1, Before: row.Seq + 1, Limit: 1})
	if err != nil {
		return f, "", err
	}
	lost := agent.FileVersion{Hash: fmt.Sprintf("lost %s %d", row.Session, row.Seq), Kind: agent.PlainFile, Unkept: agent.UnkeptFailed}
	f = found{row: row, step: blame.Step{ID: row.Call, Before: lost, After: lost}}
	if len(events) == 0 {
		return f, "", nil
	}
	files, known := filesOf(events[0].Data)
	if !known {
		return f, "", nil
	}
	f.event = events[0]
	if d, ok := f.event.Data.(agent.FilesRestored); ok {
		f.step.Redone = d.Redone
		for _, step := range d.Undone {
			f.step.Undone = append(f.step.Undone, step.Call)
		}
	}
	at := slices.IndexFunc(files, func(r agent.FileRecord) bool { return r.Path == path })
	if at < 0 {
		return f, "", nil
	}
	f.step.Before, f.step.After = files[at].Before, files[at].After
	if from, ok := blame.Source(path, files); ok {
		old := slices.IndexFunc(files, func(r agent.FileRecord) bool { return r.Path == from })
		f.step.Before = files[old].Before
		return f, from, nil
	}
	return f, "", nil
}

// filesOf returns the files that an event says were changed.
func filesOf(data agent.Payload) (files []agent.FileRecord, ok bool) {
	_, changed := agent.Recorded(data)
	if d, ok := data.(agent.FilesRestored); ok {
		changed = &d.FilesChanged
	}
	if changed == nil {
		return nil, false
	}
	return changed.Files, true
}

// describe says what a step was part of.
func (r Reader) describe(ctx context.Context, f found) (BlameStep, error) {
	info, err := r.Log.Session(ctx, f.row.Session)
	if err != nil {
		return BlameStep{}, err
	}
	step := BlameStep{
		Session: info.ID, Title: info.Title, Seq: f.row.Seq, Turn: f.event.Turn, At: f.row.At, Kind: f.row.Kind, Call: f.row.Call,
	}
	if info.Helper != nil {
		step.Parent = info.Helper.Parent
	}
	switch d := f.event.Data.(type) {
	case agent.LocalCommandEnd:
		step.Made.Prompt = text.Head(d.Command, maxPrompt)
	case agent.HookEnd:
		step.Tool = d.Name
		if step.Made, err = r.Log.TurnOf(ctx, f.event); err != nil {
			return BlameStep{}, err
		}
		step.Made.Prompt = text.Head(step.Made.Prompt, maxPrompt)
	case agent.ToolCallEnd:
		step.Tool, step.Authority = d.Tool, d.Authority
		if step.Made, err = r.Log.TurnOf(ctx, f.event); err != nil {
			return BlameStep{}, err
		}
		step.Made.Prompt = text.Head(step.Made.Prompt, maxPrompt)
	}
	return step, nil
}
