package cli

import (
	"errors"

	"atelier.dev/atelier/backend"
	"atelier.dev/atelier/backend/sessionlist"
	"atelier.dev/atelier/backend/workbench"
	"atelier.dev/atelier/cmd/cli/output"
)

// marking returns a command that changes the marks of one session.
func marking(change func(*sessionlist.MarkRequest)) func(c *command, use string, args []string) int {
	return func(c *command, use string, args []string) int {
		f := c.sessionFlags(use)
		if code, ok := c.parse(f.FlagSet, args); !ok {
			return code
		}
		if f.NArg() != 1 {
			return c.misused(f.FlagSet, "name one session")
		}
		in := sessionlist.MarkRequest{}
		change(&in)
		return c.mark(f, in)
	}
}

func pinning(pinned bool) func(*sessionlist.MarkRequest) {
	return func(in *sessionlist.MarkRequest) { in.Pinned = &pinned }
}

func archiving(archived bool) func(*sessionlist.MarkRequest) {
	return func(in *sessionlist.MarkRequest) { in.Archived = &archived }
}

func deleting(deleted bool) func(*sessionlist.MarkRequest) {
	return func(in *sessionlist.MarkRequest) { in.Deleted = &deleted }
}

// tagSession gives a session tags in place of those that it has.
func (c *command) tagSession(use string, args []string) int {
	f := c.sessionFlags(use)
	if code, ok := c.parse(f.FlagSet, args); !ok {
		return code
	}
	if f.NArg() < 1 {
		return c.misused(f.FlagSet, "name one session")
	}
	tags := f.Args()[1:]
	return c.mark(f, sessionlist.MarkRequest{Tags: &tags})
}

func (c *command) mark(f *sessionFlags, in sessionlist.MarkRequest) int {
	return c.withSession(f, f.Arg(0), func(a *app, session backend.SessionInfo) error {
		in.Session = session.ID
		marked, err := ask[backend.SessionInfo](c.ctx, a, "sessions.mark", in)
		if err != nil {
			return err
		}
		return c.printSession(f, marked)
	})
}

// removeSession removes a deleted session for good.
func (c *command) removeSession(use string, args []string) int {
	f := c.sessionFlags(use)
	if code, ok := c.parse(f.FlagSet, args); !ok {
		return code
	}
	if f.NArg() != 1 {
		return c.misused(f.FlagSet, "name one session")
	}
	return c.withSession(f, f.Arg(0), func(a *app, session backend.SessionInfo) error {
		if session.Marks.Deleted == 0 {
			return backend.Problem(backend.ProblemSessionKept)
		}
		reply, err := ask[sessionlist.RemoveReply](c.ctx, a, "sessions.remove", workbench.SessionRef{Session: session.ID})
		if err != nil {
			return err
		}
		if f.asJSON {
			return output.WriteJSON(c.out, reply)
		}
		for _, tree := range reply.Worktrees {
			c.printFate(tree)
		}
		return nil
	})
}

// listFlags are the flags of atelier sessions list.
type listFlags struct {
	*sessionFlags
	filter                 backend.SessionFilter
	archived, deleted, all bool
	state, since, until    string
	limit                  int
}

func (c *command) listFlags(use string) *listFlags {
	f := &listFlags{sessionFlags: c.sessionFlags(use)}
	f.StringVar(&f.filter.Text, "text", "", "only with this in the title, the label or the first prompt")
	f.StringVar(&f.filter.Tag, "tag", "", "only with this tag")
	f.BoolVar(&f.filter.Pinned, "pinned", false, "only pinned ones")
	f.BoolVar(&f.archived, "archived", false, "archived sessions instead")
	f.BoolVar(&f.deleted, "deleted", false, "deleted sessions instead, which can be restored")
	f.BoolVar(&f.all, "all", false, "archived and deleted ones, too")
	f.StringVar(&f.state, "state", "", "only those that are waiting, working or resting; what was interrupted rests")
	f.StringVar(&f.filter.Model, "model", "", "only of this model: ID or PROVIDER/ID")
	f.StringVar(&f.since, "since", "", "only changed on this day or later: YYYY-MM-DD")
	f.StringVar(&f.until, "until", "", "only changed before this day: YYYY-MM-DD")
	f.IntVar(&f.limit, "limit", 50, "how many sessions at most, without their agents (0: all)")
	f.allProjects()
	return f
}

// read checks the flags, and completes the filter.
func (f *listFlags) read() (err error) {
	views := map[backend.SessionView]bool{backend.ViewArchived: f.archived, backend.ViewDeleted: f.deleted, backend.ViewAll: f.all}
	for view, isChosen := range views {
		if isChosen && f.filter.View != "" {
			return errors.New("--archived, --deleted and --all exclude each other")
		} else if isChosen {
			f.filter.View = view
		}
	}
	if f.state != "" {
		var ok bool
		if f.filter.State, ok = listedStates[f.state]; !ok {
			return errors.New("--state is waiting, working or resting")
		}
	}
	if f.limit < 0 {
		return errors.New("--limit is not negative")
	}
	if f.filter.Since, err = sessionlist.DayOf(f.since); err != nil {
		return err
	}
	f.filter.Until, err = sessionlist.DayOf(f.until)
	return err
}
